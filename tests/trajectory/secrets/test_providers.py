"""Secrets in the shapes that their providers are known to use.

Many of our rules were written after these shapes, so what is found here says that the rules do
what they were written for, and not how many secrets of another make they would find. Each is
planted as people meet it: in a setting, in JSON, in a header, in a command, and where its
prefix alone makes it known, in the middle of a sentence.
"""

from __future__ import annotations

import base64
import random
import string
from collections import Counter
from collections.abc import Callable

import pytest

from deltamem_tui.trajectory.model import Step, Trajectory
from deltamem_tui.trajectory.redaction import redact

Maker = Callable[[random.Random], str]
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
ALNUM = string.ascii_letters + string.digits
URL = ALNUM + "-_"
HEX = "0123456789abcdef"
BASE32 = string.ascii_uppercase + "234567"


def shape(*parts: str | tuple[str, int]) -> Maker:
    """Fixed parts, and random ones given as letters and how many; joined."""

    def make(chance: random.Random) -> str:
        return "".join(
            part if isinstance(part, str) else "".join(chance.choices(part[0], k=part[1]))
            for part in parts
        )

    return make


def uuid(chance: random.Random) -> str:
    return "-".join("".join(chance.choices(HEX, k=count)) for count in (8, 4, 4, 4, 12))


def after(prefix: str, make: Maker) -> Maker:
    return lambda chance: prefix + make(chance)


def encoded(chance: random.Random) -> str:
    return base64.b64encode(f"ada:{shape((ALNUM, 20))(chance)}".encode()).decode()


def discord(chance: random.Random) -> str:
    """A bot's number in base 64, the time, and a signature."""
    number = base64.b64encode(shape((string.digits, 18))(chance).encode()).decode()
    return f"{number}.{shape((URL, 6), '.', (URL, 37), (ALNUM, 1))(chance)}"


# Known by how they begin. The prefixes are cut in two, so that no scanner takes them for real.
PREFIXED: dict[str, Maker] = {
    "OPENAI_API_KEY project": shape("sk-" + "proj-", (URL, 74), "T3Blbk" + "FJ", (URL, 74)),
    "OPENAI_API_KEY service": shape("sk-" + "svcacct-", (URL, 58), "T3Blbk" + "FJ", (URL, 58)),
    "OPENAI_API_KEY user": shape("sk" + "-", (ALNUM, 20), "T3Blbk" + "FJ", (ALNUM, 20)),
    "OPENAI_ADMIN_KEY": shape("sk-" + "admin-", (URL, 58), "T3Blbk" + "FJ", (URL, 58)),
    "ANTHROPIC_API_KEY": shape("sk-" + "ant-api03-", (URL, 93), "AA"),
    "ANTHROPIC_ADMIN_KEY": shape("sk-" + "ant-admin01-", (URL, 93), "AA"),
    "CLAUDE_OAUTH": shape("sk-" + "ant-oat01-", (URL, 93), "AA"),
    "DEEPSEEK_API_KEY": shape("sk" + "-", (HEX, 32)),
    "OPENROUTER_API_KEY": shape("sk-" + "or-v1-", (HEX, 64)),
    "CEREBRAS_API_KEY": shape("cs" + "k-", (LOWER, 48)),
    "GEMINI_API_KEY": shape("AI" + "zaSy", (URL, 33)),
    "GROQ_API_KEY": shape("gs" + "k_", (ALNUM, 20), "WGdyb3FY", (ALNUM, 24)),
    "XAI_API_KEY": shape("xa" + "i-", (ALNUM, 80)),
    "PERPLEXITY_API_KEY": shape("pp" + "lx-", (ALNUM, 48)),
    "NVIDIA_API_KEY": shape("nv" + "api-", (URL, 64)),
    "REPLICATE_API_TOKEN": shape("r" + "8_", (ALNUM, 37)),
    "FIREWORKS_API_KEY": shape("f" + "w_", (ALNUM, 24)),
    "HF_TOKEN": shape("h" + "f_", (string.ascii_letters, 34)),
    "JINA_API_KEY": shape("jin" + "a_", (HEX, 32), (URL, 33)),
    "VOYAGE_API_KEY": shape("p" + "a-", (URL, 43)),
    "ELEVENLABS_API_KEY": shape("s" + "k_", (HEX, 48)),
    "LANGCHAIN_API_KEY": shape("lsv" + "2_pt_", (HEX, 32), "_", (HEX, 10)),
    "LANGFUSE_SECRET_KEY": after("sk-" + "lf-", uuid),
    "TAVILY_API_KEY": shape("tv" + "ly-", (ALNUM, 32)),
    "TAVILY_DEV_KEY": shape("tv" + "ly-dev-", (ALNUM, 32)),
    "FIRECRAWL_API_KEY": shape("f" + "c-", (HEX, 32)),
    "E2B_API_KEY": shape("e2" + "b_", (HEX, 40)),
    "PINECONE_API_KEY": shape("pc" + "sk_", (ALNUM, 6), "_", (ALNUM, 63)),
    "APIFY_TOKEN": shape("apify" + "_api_", (ALNUM, 36)),
    "CURSOR_API_KEY": shape("crs" + "r_", (HEX, 64)),
    "SOURCEGRAPH_TOKEN": shape("sg" + "p_", (HEX, 40)),
    "AWS_ACCESS_KEY_ID": shape("AK" + "IA", (BASE32, 16)),
    "AWS_SESSION_KEY": shape("AS" + "IA", (BASE32, 16)),
    "GOOGLE_CLIENT_SECRET": shape("GOC" + "SPX-", (URL, 28)),
    "GOOGLE_ACCESS_TOKEN": shape("ya" + "29.a0", (URL, 120)),
    "GOOGLE_REFRESH_TOKEN": shape("1/" + "/0g", (URL, 60)),
    "AZURE_CLIENT_SECRET": shape((ALNUM, 3), "8" + "Q~", (ALNUM + "_.~-", 33), (ALNUM, 1)),
    "GITHUB_TOKEN": shape("gh" + "p_", (ALNUM, 36)),
    "GITHUB_OAUTH": shape("gh" + "o_", (ALNUM, 36)),
    "GITHUB_APP": shape("gh" + "s_", (ALNUM, 36)),
    "GITHUB_FINE": shape("github" + "_pat_", (ALNUM, 22), "_", (ALNUM, 59)),
    "GITLAB_TOKEN": shape("gl" + "pat-", (URL, 19), (ALNUM, 1)),
    "GITLAB_ROUTABLE": shape("gl" + "pat-", (URL, 27), ".", (LOWER, 2), ".", (LOWER, 9)),
    "GITLAB_RUNNER": shape("gl" + "rt-", (URL, 19), (ALNUM, 1)),
    "BITBUCKET_PASSWORD": shape("AT" + "BB", (ALNUM, 32)),
    "ATLASSIAN_TOKEN": shape("ATA" + "TT3xFfGF0", (URL, 170), "=", (UPPER, 8)),
    "NPM_TOKEN": shape("np" + "m_", (ALNUM, 36)),
    "PYPI_TOKEN": shape("py" + "pi-AgEIcHlwaS5vcmc", (URL, 150)),
    "RUBYGEMS_API_KEY": shape("ruby" + "gems_", (HEX, 48)),
    "DOCKER_PAT": shape("dckr" + "_pat_", (URL, 26), (ALNUM, 1)),
    "DIGITALOCEAN_TOKEN": shape("do" + "p_v1_", (HEX, 64)),
    "NETLIFY_TOKEN": shape("nf" + "p_", (ALNUM, 36)),
    "FLY_API_TOKEN": shape("fm" + "2_", (ALNUM + "+/", 150)),
    "RENDER_API_KEY": shape("rn" + "d_", (ALNUM, 28)),
    "HEROKU_API_KEY": shape("HRK" + "U-AA", (URL, 58)),
    "DOPPLER_TOKEN": shape("dp" + ".pt.", (ALNUM, 43)),
    "PULUMI_ACCESS_TOKEN": shape("pu" + "l-", (HEX, 40)),
    "TF_TOKEN": shape((ALNUM, 14), ".atlas" + "v1.", (URL, 66), (ALNUM, 1)),
    "VAULT_TOKEN": shape("hv" + "s.", (URL, 90)),
    "GRAFANA_TOKEN": shape("gl" + "sa_", (ALNUM, 32), "_", (HEX, 8)),
    "NEW_RELIC_KEY": shape("NR" + "AK-", (UPPER, 27)),
    "SENTRY_USER_TOKEN": shape("sntry" + "u_", (HEX, 64)),
    "POSTMAN_API_KEY": shape("PM" + "AK-", (HEX, 24), "-", (HEX, 34)),
    "DATABRICKS_TOKEN": shape("da" + "pi", (HEX, 32)),
    "PLANETSCALE_TOKEN": shape("pscale" + "_tkn_", (URL, 43)),
    "SUPABASE_TOKEN": shape("sb" + "p_", (HEX, 40)),
    "NEON_API_KEY": shape("na" + "pi_", (LOWER, 64)),
    "SLACK_BOT_TOKEN": shape(
        "xo" + "xb-", (string.digits, 12), "-", (string.digits, 13), "-", (ALNUM, 24)
    ),
    "SLACK_APP_TOKEN": shape("xa" + "pp-1-", (UPPER, 11), "-", (string.digits, 13), "-", (HEX, 64)),
    "TELEGRAM_TOKEN": shape((string.digits, 10), ":A" + "A", (URL, 33)),
    "DISCORD_TOKEN": discord,
    "STRIPE_SECRET_KEY": shape("sk" + "_live_51", (ALNUM, 98)),
    "STRIPE_RESTRICTED_KEY": shape("rk" + "_live_51", (ALNUM, 98)),
    "STRIPE_WEBHOOK_SECRET": shape("wh" + "sec_", (ALNUM, 32)),
    "SQUARE_ACCESS_TOKEN": shape("EA" + "AA", (URL, 59), (ALNUM, 1)),
    "FACEBOOK_PAGE_TOKEN": shape("EA" + "AG", (ALNUM, 60)),
    "FACEBOOK_USER_TOKEN": shape("EA" + "AB", (ALNUM, 180)),
    "SHOPIFY_TOKEN": shape("shp" + "at_", (HEX, 32)),
    "TWILIO_API_KEY": shape("S" + "K", (HEX, 32)),
    "SENDGRID_API_KEY": shape("S" + "G.", (URL, 22), ".", (URL, 42), (ALNUM, 1)),
    "MAILGUN_API_KEY": shape("ke" + "y-", (HEX, 32)),
    "MAILCHIMP_API_KEY": shape((HEX, 32), "-u" + "s", ("12345678", 1)),
    "BREVO_API_KEY": shape("xkey" + "sib-", (HEX, 64), "-", (ALNUM, 16)),
    "HUBSPOT_TOKEN": after("pat-" + "na1-", uuid),
    "NOTION_TOKEN": shape("nt" + "n_", (string.digits, 11), (ALNUM, 35)),
    "NOTION_OLD_TOKEN": shape("secret" + "_", (ALNUM, 43)),
    "AIRTABLE_TOKEN": shape("pa" + "t", (ALNUM, 14), ".", (HEX, 64)),
    "LINEAR_API_KEY": shape("lin" + "_api_", (ALNUM, 40)),
    "FIGMA_TOKEN": shape("fig" + "d_", (URL, 40)),
    "DROPBOX_TOKEN": shape("sl" + ".B", (URL, 130)),
    "AGE_SECRET_KEY": shape("AGE-SECRET" + "-KEY-1", (UPPER, 58)),
    "SONAR_TOKEN": shape("sq" + "p_", (HEX, 40)),
    "BUILDKITE_TOKEN": shape("bk" + "ua_", (HEX, 40)),
    "PREFECT_API_KEY": shape("pn" + "u_", (ALNUM, 36)),
    "CONTENTFUL_TOKEN": shape("CF" + "PAT-", (URL, 43)),
    "JWT": shape("ey" + "J", (URL, 33), ".ey" + "J", (URL, 90), ".", (URL, 43)),
}

# Known by their names only: what a setting of this name holds.
NAMED: dict[str, Maker] = {
    "AWS_SECRET_ACCESS_KEY": shape((ALNUM + "+/", 40)),
    "AWS_SESSION_TOKEN": shape("FwoGZXIvYXdz", (ALNUM + "+/", 200), "=="),
    "AZURE_OPENAI_API_KEY": shape((HEX, 32)),
    "AZURE_DEVOPS_TOKEN": shape((LOWER, 52)),
    "COHERE_API_KEY": shape((ALNUM, 40)),
    "MISTRAL_API_KEY": shape((ALNUM, 32)),
    "TOGETHER_API_KEY": shape((HEX, 64)),
    "WANDB_API_KEY": shape((HEX, 40)),
    "SERPAPI_API_KEY": shape((HEX, 64)),
    "EXA_API_KEY": uuid,
    "DD_API_KEY": shape((HEX, 32)),
    "CLOUDFLARE_API_TOKEN": shape((URL, 40)),
    "VERCEL_TOKEN": shape((ALNUM, 24)),
    "ALGOLIA_ADMIN_KEY": shape((HEX, 32)),
    "DJANGO_SECRET_KEY": shape((ALNUM, 50)),
    "JWT_SECRET": shape((HEX, 64)),
    "TWILIO_AUTH_TOKEN": shape((HEX, 32)),
    "NGROK_AUTHTOKEN": shape("2", (ALNUM, 26), "_", (ALNUM, 21)),
    "OAUTH_CLIENT_SECRET": shape((HEX, 40)),
    "PGPASSWORD": shape((ALNUM, 14), ("!@%^*", 1), (string.digits, 1)),
    "SMTP_PASSWORD": shape((ALNUM, 16)),
    "ROOT_PASSWD": shape((ALNUM, 12), ("!@%^*", 2)),
}
SETTINGS = [
    "{name}={value}",
    "export {name}={value}",
    'export {name}="{value}"',
    "{name}: {value}",
    '"{name}": "{value}",',
    "os.environ['{name}'] = '{value}'",
    "docker run -e {name}={value} -p 80:80 app",
    "ENV {name} {value}",
    '{lower} = "{value}"',
    "client = Client({lower}='{value}', timeout=3)",
]
BARE = [
    "I use {value} from now on.",
    "{value}",
    "> {value}\n",
    "curl -H 'Authorization: Bearer {value}' https://example.org/v1",
    'curl -H "x-api-key: {value}" https://example.org/v1',
    "401 Incorrect API key provided: {value}. You can find your key at",
    "key=[{value}]",
]
# Known by where they stand.
PLACED: dict[str, tuple[str, Maker]] = {
    "netrc": ("machine example.org login ada password {value}", shape((ALNUM, 20))),
    "postgres": ("postgresql://ada:{value}@db.example.org:5432/app", shape((ALNUM + "!$*", 16))),
    "mongodb": ("mongodb+srv://ada:{value}@c0.abc12.mongodb.net/?w=1", shape((ALNUM, 16))),
    "rediss": ("rediss://default:{value}@eu1.upstash.io:6379", shape((ALNUM, 40))),
    "amqp": ("amqps://ada:{value}@host.example.org/vhost", shape((URL, 32))),
    "git": ("https://x-access-token:{value}@github.com/ada/calc", shape((ALNUM, 40))),
    "proxy": ("http_proxy=http://ada:{value}@proxy:3128", shape((ALNUM, 12))),
    "basic": ("Authorization: Basic {value}", encoded),
    "docker config": ('{{"auths": {{"ghcr.io": {{"auth": "{value}"}}}}}}', encoded),
    "kubeconfig": ("    client-key-data: {value}", shape("LS0tLS1CRUdJTi", (ALNUM, 300))),
    "kubernetes token": ("    token: {value}", shape((ALNUM, 60))),
    "azure storage": (
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={value};EndpointSuffix=x",
        shape((ALNUM + "+/", 86), "=="),
    ),
    "azure bus": (
        "Endpoint=sb://a.servicebus.windows.net/;SharedAccessKeyName=R;SharedAccessKey={value}",
        shape((ALNUM + "+/", 43), "="),
    ),
    "sas": (
        "https://a.blob.core.windows.net/c?sv=2024&sp=r&sig={value}",
        shape((ALNUM, 43), "%3D"),
    ),
    "sql server": ("Server=db;Database=a;User Id=ada;Password={value};", shape((ALNUM, 18))),
    "curl user": ("curl -u ada:{value} https://example.org", shape((ALNUM, 18))),
    "mysql": ("mysql -uada -p{value} app", shape((ALNUM, 18))),
    "mysql long": ("mysql --user=ada --password={value} app", shape((ALNUM, 18))),
    "sshpass": ("sshpass -p {value} ssh ada@example.org", shape((ALNUM, 18))),
    "docker login": ("docker login -u ada -p {value} ghcr.io", shape((ALNUM, 18))),
    "npmrc": ("//registry.example.org/:_authToken={value}", uuid),
    "query": ("GET /v1/items?page=2&api_key={value}&q=x", shape((HEX, 32))),
    "slack hook": (
        "https://hooks.slack.com/services/{value}",
        shape("T", (UPPER, 8), "/B", (UPPER, 10), "/", (ALNUM, 24)),
    ),
    "discord hook": (
        "https://discord.com/api/webhooks/{value}",
        shape((string.digits, 18), "/", (URL, 68)),
    ),
    "private key": (
        "-----BEGIN OPENSSH PRIVATE KEY-----\n{value}\n-----END OPENSSH PRIVATE KEY-----",
        shape((ALNUM + "+/", 70), "\n", (ALNUM + "+/", 70)),
    ),
    "service account": (
        '"private_key": "-----BEGIN PRIVATE KEY-----\\n{value}\\n-----END PRIVATE KEY-----\\n"',
        shape((ALNUM + "+/", 64), "\\n", (ALNUM + "+/", 64)),
    ),
    "pgp": (
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{value}\n-----END PGP PRIVATE KEY BLOCK-----",
        shape((ALNUM + "+/", 64)),
    ),
}
ROUNDS = 6


def kept(secret: str, text: str) -> bool:
    """Whether eight letters on end of a secret are still there, but for its known beginning."""
    clean, _ = redact(Trajectory("Deploy the site.", steps=(Step("cat notes", text),)))
    seen = clean.steps[0].observation
    return any(
        secret[at : at + 8] in seen for at in range(min(8, len(secret) - 8), len(secret) - 7)
    )


def planted() -> Counter[tuple[str, str, bool]]:
    chance = random.Random(20260301)
    found: Counter[tuple[str, str, bool]] = Counter()
    for _ in range(ROUNDS):
        for name, make in [*PREFIXED.items(), *NAMED.items()]:
            word = name.partition(" ")[0]
            contexts = [*SETTINGS, *(BARE if name in PREFIXED else [])]
            for context in contexts:
                value = make(chance)
                text = context.format(name=word, lower=word.lower(), value=value)
                found[name, context, kept(value, text)] += 1
        for name, (context, make) in PLACED.items():
            for _ in range(len(SETTINGS)):
                value = make(chance)
                found[name, context, kept(value, context.format(value=value))] += 1
    return found


@pytest.fixture(scope="module")
def results() -> Counter[tuple[str, str, bool]]:
    return planted()


def test_secrets_in_the_shapes_of_their_providers_are_found(
    results: Counter[tuple[str, str, bool]],
) -> None:
    missed = Counter({key: count for key, count in results.items() if key[2]})
    assert results.total() > 10_000
    assert missed.total() <= 0.01 * results.total(), missed.most_common(20)


def test_no_kind_of_secret_is_missed_often(results: Counter[tuple[str, str, bool]]) -> None:
    of_kind: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for (name, _, is_kept), count in results.items():
        of_kind[name] += count
        missed[name] += count * is_kept
    assert not [name for name in of_kind if missed[name] > 0.1 * of_kind[name]]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("FACEBOOK_PAGE_TOKEN", "facebook token"),
        ("FACEBOOK_USER_TOKEN", "facebook token"),
        ("SQUARE_ACCESS_TOKEN", "square token"),
    ],
)
def test_a_token_of_a_common_beginning_is_called_by_its_provider(name: str, kind: str) -> None:
    chance = random.Random(name)
    for _ in range(ROUNDS):
        text = f"I use {PREFIXED[name](chance)} from now on."
        clean, redactions = redact(Trajectory("Post it.", steps=(Step("cat notes", text),)))
        assert clean.steps[0].observation == f"I use [redacted: {kind}] from now on."
        assert redactions.counts == {kind: 1}
