"""Secrets that are made up while the tests run, so that none that looks real is ever kept."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable

from deltamem_tui.trajectory.model import Step, Trajectory

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
Maker = Callable[[random.Random], str]


def chars(chance: random.Random, count: int, letters: str = ALNUM) -> str:
    return "".join(chance.choice(letters) for _ in range(count))


def with_prefix(prefix: str, count: int, letters: str = ALNUM) -> Maker:
    return lambda chance: prefix + chars(chance, count, letters)


def jwt(chance: random.Random) -> str:
    url = ALNUM + "-_"
    return f"eyJ{chars(chance, 33, url)}.eyJ{chars(chance, 60, url)}.{chars(chance, 43, url)}"


def private_key(chance: random.Random) -> str:
    kind = chance.choice(["RSA ", "EC ", "OPENSSH ", ""])
    body = "\n".join(chars(chance, 64, ALNUM + "+/") for _ in range(6))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----"


def password(chance: random.Random) -> str:
    """What a password manager makes up, with a digit and a sign as most sites ask for."""
    body = chars(chance, chance.randint(6, 18), ALNUM + "!@#$%^&*-_+=?.~")
    return (
        chance.choice(ALNUM) + body + chance.choice(string.digits) + chance.choice("!@#%^*-_+=?~")
    )


def url_password(chance: random.Random) -> str:
    """A password as it may stand in an address, where some signs have to be escaped."""
    return chars(chance, chance.randint(8, 20), ALNUM + "!$%&*+-._~=")


def uuid(chance: random.Random) -> str:
    return "-".join(chars(chance, count, HEX) for count in (8, 4, 4, 4, 12))


DASHED = ALNUM + "-_"
# Tokens that are known by themselves, wherever they stand.
TOKENS: dict[str, Maker] = {
    "openai": with_prefix("sk-" + "proj-", 48, DASHED),
    "openai old": with_prefix("sk-", 48),
    "anthropic": with_prefix("sk-" + "ant-api03-", 90, DASHED),
    "openrouter": with_prefix("sk-" + "or-v1-", 64, HEX),
    "google": with_prefix("AI" + "za", 35, DASHED),
    "google oauth": with_prefix("GOC" + "SPX-", 28, DASHED),
    "github": with_prefix("gh" + "p_", 36),
    "github fine": with_prefix("github" + "_pat_", 82, ALNUM + "_"),
    "gitlab": with_prefix("gl" + "pat-", 20, DASHED),
    "aws": with_prefix("AK" + "IA", 16, string.ascii_uppercase + string.digits),
    "hugging face": with_prefix("h" + "f_", 34),
    "groq": with_prefix("gs" + "k_", 52),
    "xai": with_prefix("xa" + "i-", 80),
    "perplexity": with_prefix("pp" + "lx-", 48),
    "nvidia": with_prefix("nv" + "api-", 64, DASHED),
    "replicate": with_prefix("r" + "8_", 37),
    "langsmith": lambda chance: f"ls{'v2_pt_'}{chars(chance, 32, HEX)}_{chars(chance, 10, HEX)}",
    "langfuse": lambda chance: f"sk-{'lf-'}{uuid(chance)}",
    "slack": lambda chance: (
        f"xox{'b-'}{chars(chance, 12, string.digits)}-{chars(chance, 12, string.digits)}-"
        f"{chars(chance, 24)}"
    ),
    "slack webhook": lambda chance: (
        f"https://hooks.slack.com/services/T{chars(chance, 8)}/B{chars(chance, 8)}/"
        f"{chars(chance, 24)}"
    ),
    "stripe": with_prefix("sk_" + "live_", 24),
    "sendgrid": lambda chance: f"S{'G.'}{chars(chance, 22, DASHED)}.{chars(chance, 43, DASHED)}",
    "twilio": with_prefix("S" + "K", 32, HEX),
    "npm": with_prefix("np" + "m_", 36),
    "pypi": with_prefix("py" + "pi-AgEIcHlwaS5vcmc", 120, DASHED),
    "docker": with_prefix("dckr" + "_pat_", 27, DASHED),
    "databricks": with_prefix("da" + "pi", 32, HEX),
    "vault": with_prefix("hv" + "s.", 24, DASHED),
    "notion": with_prefix("nt" + "n_", 46),
    "shopify": with_prefix("shp" + "at_", 32, HEX),
    "digitalocean": with_prefix("do" + "p_v1_", 64, HEX),
    "telegram": lambda chance: (
        f"{chars(chance, 10, string.digits)}:A{'A'}{chars(chance, 33, DASHED)}"
    ),
    "square": with_prefix("sq0" + "csp-", 43, DASHED),
    "mailchimp": lambda chance: f"{chars(chance, 32, HEX)}-us{chance.randint(1, 21)}",
    "jwt": jwt,
    "private key": private_key,
}
CONTEXTS = [
    "{}",
    "export OPENAI_API_KEY={}",
    'client = Client(api_key="{}")',
    "The key is {} and it works.",
    "```\n{}\n```",
    '{{"token": "{}", "other": 1}}',
    "curl -H 'Authorization: Bearer {}' https://api.example.com/v1",
    "见 {}。",
    "a=1&key={}&b=2",
]
# Values that only their name or place makes secrets, as (text with the value in it, value).
NAMED: dict[str, tuple[str, Maker]] = {
    "env": ("DB_PASSWORD={}", password),
    "yaml": ("password: {}\nuser: ada", password),
    "json": ('{{"user": "ada", "password": "{}"}}', password),
    "python": ("conn = connect(user='ada', password='{}')", password),
    "pwd": ("Server=db;Uid=ada;Pwd={};", password),
    "flag": ("mysql --user ada --password={} db", password),
    "flag apart": ("tool login --password {} --user ada", password),
    "sshpass": ("sshpass -p '{}' ssh ada@host", password),
    "curl": ("curl -s -u ada:{} https://example.com/x", password),
    "url": ("postgres://ada:{}@db.example.com:5432/app", url_password),
    "redis": ("redis://:{}@cache:6379/0", url_password),
    "git": ("git clone https://oauth2:{}@example.com/ada/calc.git", with_prefix("", 24)),
    "aws secret": ("aws_secret_access_key = {}", with_prefix("", 40, ALNUM + "+/")),
    "azure": (
        "DefaultEndpointsProtocol=https;AccountName=ada;AccountKey={};",
        lambda chance: chars(chance, 86, ALNUM + "+/") + "==",
    ),
    "client secret": ('client_secret: "{}"', with_prefix("", 40)),
    "access token": ("access_token={}", with_prefix("", 32, DASHED)),
    "secret key": ("SECRET_KEY = '{}'", with_prefix("", 50)),
    "header": ("x-api-key: {}", with_prefix("", 32, HEX)),
    "bearer": ("Authorization: Bearer {}", with_prefix("", 40)),
    "basic": ("Authorization: Basic {}", lambda chance: chars(chance, 26) + "9w=="),
    "uuid": ("api_key: {}", uuid),
    "npmrc": ("//registry.example.com/:_authToken={}", uuid),
}


MARK = re.compile(r"\[redacted: [a-z0-9 -]+\]")


def leaks(secret: str, text: str) -> bool:
    """Whether a part of a secret that would help to guess it is still there.

    The marks do not count: one says `github token` where a secret began with `github_pat_`.
    """
    text = MARK.sub("", text)
    return any(secret[at : at + 6] in text for at in range(len(secret) - 5))


def planted(text: str) -> Trajectory:
    return Trajectory("Deploy the site.", steps=(Step("cat .env", text),))


# Where a password stands that may be a word.
COMMANDS = [
    "mysql -u root -p{} shop",
    "mysql -u root -p{}",
    "sshpass -p {} ssh ada@host",
    "psql -U ada --password {} shop",
    "redis-cli -a {} ping",
    "redis-cli -a{} ping",
    "docker login -u ada -p {}",
    "ldapsearch -x -w{} -b dc=org",
    "zip -P {} a.zip a.txt",
    "zip -P{} a.zip a.txt",
    "htpasswd -b users ada {}",
    "echo {} | sudo -S ls",
    "curl -u ada:{} https://example.com/x",
    "sudo -S ls <<< {}",
    "password: {} ok",
    "İ password: {} ok",  # a letter that grows when it is lowered
    "CREATE USER ada IDENTIFIED BY '{}';",
]
