"""Secrets are made up here while the tests run, so that none that looks real is ever kept."""

from __future__ import annotations

import json
import random
import re
import string
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers import read_logs, to_record
from deltamem_tui.trajectory.secrets.glance import may_hold_secrets
from deltamem_tui.trajectory.secrets.redaction import NOTHING, kinds_of_secrets, redact
from tests.places import GENERATED, PUBLISHED

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


def test_planted_secrets_are_found() -> None:
    chance = random.Random(20260101)
    missed: Counter[str] = Counter()
    count = 0
    for name, make in TOKENS.items():
        for context in CONTEXTS * 4:
            secret = make(chance)
            count += 1
            clean, _ = redact(planted(context.format(secret)))
            missed[name] += secret in clean.steps[0].observation
    for name, (context, make) in NAMED.items():
        for _ in range(36):
            secret = make(chance)
            count += 1
            clean, _ = redact(planted(context.format(secret)))
            missed[name] += leaks(secret, clean.steps[0].observation)
    assert count == 36 * (len(TOKENS) + len(NAMED)) > 2000
    assert missed.total() <= 0.01 * count, +missed
    # No kind is missed often, or the average would hide it.
    assert all(misses <= 3 for misses in missed.values()), +missed


def _in_file(text: str) -> Trajectory:
    return replace(planted("ok"), source=LogSource(f"run-{text}.jsonl", "line 1"))


def _in_action(text: str) -> Trajectory:
    arguments = json.dumps({"method": "POST", "body": {"note": text}})
    return Trajectory("t", steps=(Step(f"request({arguments})", "ok"),))


PLACES: dict[str, Callable[[str], Trajectory]] = {
    "file": _in_file,
    "position": lambda text: replace(planted("ok"), source=LogSource("a", f"samples/{text}.json")),
    "agent": lambda text: replace(planted("ok"), agent=f"gpt-9 with {text}"),
    "domain": lambda text: replace(planted("ok"), domain=text),
    "reason": lambda text: replace(planted("ok"), outcome=Outcome(False, reason=f"no: {text}")),
    "metadata value": lambda text: replace(planted("ok"), metadata={"id": "a-1", "note": text}),
    "metadata key": lambda text: replace(planted("ok"), metadata={f"of {text}": "1"}),
    "argument": _in_action,
    "thought": lambda text: Trajectory("t", steps=(Step("ls", "", f"I shall use {text}."),)),
}


@pytest.mark.parametrize("place", PLACES)
def test_planted_secrets_are_found_wherever_an_episode_has_text(place: str) -> None:
    chance = random.Random(20260102)
    missed: Counter[str] = Counter()
    count = 0
    for name, make in TOKENS.items():
        for _ in range(24):
            secret = make(chance)
            count += 1
            clean, _ = redact(PLACES[place](secret))
            missed[name] += leaks(secret, repr(to_record(clean)))
    for name, (context, make) in NAMED.items():
        for _ in range(24):
            secret = make(chance)
            count += 1
            clean, _ = redact(PLACES[place](context.format(secret)))
            missed[name] += leaks(secret, repr(to_record(clean)))
    assert count > 1200
    assert missed.total() <= 0.01 * count, +missed


@pytest.mark.parametrize(
    ("key", "make"),
    [
        ("password", password),
        ("db_passwd", password),
        ("pwd", password),
        ("api_key", with_prefix("", 32, HEX)),
        ("OPENAI_API_KEY", TOKENS["openai"]),
        ("access_token", with_prefix("", 24)),
        ("client-secret", uuid),
    ],
)
def test_a_value_is_known_by_its_name_in_the_metadata(key: str, make: Maker) -> None:
    chance = random.Random(3)
    for _ in range(40):
        secret = make(chance)
        clean, redactions = redact(replace(planted("ok"), metadata={key: secret, "id": "a"}))
        assert not leaks(secret, clean.metadata[key])
        assert redactions.total == 1


def test_names_that_are_no_secrets_stay() -> None:
    found = replace(
        planted("ok"),
        source=LogSource("runs/2026-01-02T03-04-05/django__django-12345.traj", "record 7", "chat"),
        domain="alfworld",
        agent="claude-sonnet-4-5-20250929",
        metadata={
            "id": "valid_train/pick_and_place_simple-KeyChain-None-Safe-204/trial_T20190906_200520",
            "task_type": "pick_two_obj_and_place",
            "session": "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
            "pass": "3 of 5 tests",
            "secret_level": "2",
            "key": "0",
        },
    )
    assert redact(found, personal=True) == (found, NOTHING)


def test_no_false_alarm_on_the_generated_episodes() -> None:
    if not GENERATED.exists():
        pytest.skip("the sample data are not here")
    count = 0
    for found in read_logs([GENERATED]):
        assert isinstance(found, Trajectory)
        count += 1
        for personal in (False, True):
            clean, redactions = redact(found, personal=personal)
            assert clean is found
            assert redactions == NOTHING
    assert count == 677


def test_what_is_found_in_published_logs_are_passwords() -> None:
    if not PUBLISHED.exists():
        pytest.skip("the sample data are not here")
    files: Counter[str] = Counter()
    for found in read_logs([PUBLISHED]):
        if isinstance(found, Trajectory):
            files[Path(found.source.file).name] += redact(found)[1].total
    # Passwords that a tool made up and one that a user gave, all in one file.
    assert +files == {"glaive_toolcall_en_demo.json": 18}


@pytest.mark.parametrize(
    "text",
    [
        "password = os.environ['DB_PASSWORD']",
        "password: str = getpass()",
        "def login(user: str, password: str) -> Token: ...",
        "Enter your password: ",
        "PASSWORD=${DB_PASSWORD}",
        "password: <your password>",
        "password=********",
        "api_key = settings.api_key",
        "token = request.headers.get('Authorization')",
        "secret: changeme-please-01",
        "--- PASS: TestValidateUUID/valid_UUID_with_uppercase (0.00s)",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "token_count=1234567890123456",
        "PWD=/home/ada/projects/calc1/src2",
        "key=lambda item: item[1]",
        "https://example.com/a/b?sort_key=created_at_2026_01_02",
        "primary_key: 0123456789abcdef0123",
        "pip install task-runner-with-a-long-name==1.2.3",
        "ssh ada@example.com:/srv and http://example.com:8080/x",
        "class SkeletonAnimationControllerFactory123(Base):",
        "token: TheAccessTokenProviderFactory",
        "client_secret = HTTPSecretStoreForTheUser.first",
        'conn = connect(user="yourusername", password="yourpassword")',
        "PASSWORD=yourpassword123",
        "postgres://user:password@localhost:5432/app",
        "mysql://root:YOUR_PASSWORD@localhost/app",
        "OPENAI_API_KEY=sk-your-openai-api-key-here",
        f"OPENAI_API_KEY=sk-{'x' * 32}",
        f"use gh{'p_'}{'x' * 36} here",
        f"aws_access_key_id = AKIA{'IOSFODNN7EXAMPLE'}",
        f"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/{'bPxRfiCYEXAMPLEKEY'}",
        "mysql -u root -p app < dump.sql",
        "docker login -u ada --password-stdin ghcr.io",
        "the login page asks for a password and a code",
        "ENV PYTHONUNBUFFERED 1",
        "npm run test -- --grep login -p packages/app",
        "tests/test_tokens.py::test_token_is_refreshed_after_3600_seconds PASSED",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    found = planted(text)
    clean, redactions = redact(found)
    assert clean is found, clean.steps[0].observation
    assert redactions.total == 0


def test_a_token_of_letters_only_is_known_by_its_capitals() -> None:
    chance = random.Random(7)
    secrets = [chars(chance, 32, string.ascii_letters) for _ in range(200)]
    texts = [redact(planted(f"ACCESS_TOKEN={each}"))[0].text for each in secrets]
    missed = sum(leaks(secret, text) for secret, text in zip(secrets, texts, strict=True))
    assert missed <= 10  # some look like a name, and names must stay


def test_a_secret_is_taken_out_wherever_it_stands() -> None:
    chance = random.Random(1)
    key, secret = TOKENS["openai"](chance), password(chance)
    found = Trajectory(
        f"Use {key}.",
        f"OPENAI_API_KEY={key}",
        (Step(f"login {secret}", "ok", f"I have {key}"), Step("env", f"DB_PASSWORD={secret}")),
        Outcome(reason=key),
        metadata={"id": "x", "note": f"with {key}"},
    )
    clean, redactions = redact(found)
    mark = "[redacted: openai key]"
    assert clean == Trajectory(
        f"Use {mark}.",
        f"OPENAI_API_KEY={mark}",
        (
            Step("login [redacted: password]", "ok", f"I have {mark}"),
            Step("env", "DB_PASSWORD=[redacted: password]"),
        ),
        Outcome(reason=mark),
        metadata={"id": "x", "note": f"with {mark}"},
    )
    assert redactions.counts == {"openai key": 5, "password": 2}
    assert redact(clean) == (clean, NOTHING)


def test_a_password_that_is_a_word_is_taken_out_as_a_value_only() -> None:
    clean, redactions = redact(planted("POSTGRES_PASSWORD=postgres\npsql -U postgres"))
    expected = "POSTGRES_PASSWORD=[redacted: password]\npsql -U postgres"
    assert clean.steps[0].observation == expected
    assert redactions.counts == {"password": 1}


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


@pytest.mark.parametrize("value", ["letmein", "Dragonfly", "letme1n"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_password_is_taken_out_where_it_was_found(command: str, value: str) -> None:
    text = command.format(value)
    clean, redactions = redact(planted(f"$ {text}\nThe user typed {value} here."))
    expected = command.format("[redacted: password]")
    # A further mention goes with it only if it is no word: that may mean something else.
    again = value if value.isalpha() else "[redacted: password]"
    assert clean.steps[0].observation == f"$ {expected}\nThe user typed {again} here."
    assert redactions.counts == {"password": 1 if value.isalpha() else 2}


words = st.text("abcdefghijklmnopqrstuvwxyz", min_size=6, max_size=12)
passwords = words | words.map(str.capitalize) | st.text(ALNUM + "!#%+=?_-", min_size=6)


@given(st.lists(st.tuples(st.sampled_from(COMMANDS), passwords), min_size=1, max_size=3))
def test_nothing_that_is_found_is_left(lines: list[tuple[str, str]]) -> None:
    found = planted("\n".join(command.format(value) for command, value in lines))
    clean, redactions = redact(found)
    assert not kinds_of_secrets(clean.text)
    assert (redactions == NOTHING) == (kinds_of_secrets(found.text) == ())


def test_a_word_is_known_by_its_name_in_the_metadata() -> None:
    found = replace(planted("ok"), metadata={"password": "letmein", "id": "letmein-1"})
    clean, redactions = redact(found)
    assert clean.metadata == {"password": "[redacted: password]", "id": "letmein-1"}
    assert redactions.counts == {"password": 1}


def test_addresses_go_only_when_asked() -> None:
    found = planted("Mail ada@example.org, not @ada.")
    assert redact(found) == (found, NOTHING)
    clean, redactions = redact(found, personal=True)
    assert clean.steps[0].observation == "Mail [redacted: e-mail address], not @ada."
    assert redactions.counts == {"e-mail address": 1}


@pytest.mark.parametrize(
    "address",
    ["ü@exämple.de", "ana.nuñez+x@correo.example.es", "用户@例子.中国", "git@example.org"],
)
def test_addresses_of_all_scripts_go(address: str) -> None:
    clean, _ = redact(planted(f"Mail <{address}>, or not."), personal=True)
    assert clean.steps[0].observation == "Mail <[redacted: e-mail address]>, or not."


@pytest.mark.parametrize(
    "text",
    [
        "git clone git@github.com:org/repo.git",
        "origin  ssh://git@git.example.org/org/repo.git (fetch)",
        "npm i lodash@4.17.21 and user@host:~$",
    ],
)
def test_the_place_of_a_repository_is_no_address_of_a_person(text: str) -> None:
    found = planted(text)
    assert redact(found, personal=True) == (found, NOTHING)


@given(st.text(max_size=300), st.sampled_from(sorted(TOKENS)), st.text(max_size=300))
def test_a_secret_is_never_left_behind_whatever_is_around_it(
    before: str, name: str, after: str
) -> None:
    secret = TOKENS[name](random.Random(len(before)))
    text = f"{before}\n{secret}\n{after}"
    assert may_hold_secrets(text)
    clean, redactions = redact(planted(text))
    assert secret not in clean.steps[0].observation
    assert redactions.total >= 1


@given(st.text(max_size=400))
@example("000000\r=000001")
def test_redacting_twice_is_redacting_once(text: str) -> None:
    clean, _ = redact(planted(f"password={text}"), personal=True)
    assert redact(clean, personal=True) == (clean, NOTHING)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 200_000,
        "password=" * 20_000,
        "key: " * 40_000,
        "-----BEGIN RSA PRIVATE KEY-----" * 5_000,
        "curl " * 40_000,
        "https://a:" * 20_000,
        "eyJ" * 60_000,
        "1234567890:" * 20_000,
    ],
    ids=lambda text: text[:12],
)
def test_nasty_texts_end(text: str) -> None:
    clean, _ = redact(planted(text), personal=True)
    assert clean.task == "Deploy the site."
