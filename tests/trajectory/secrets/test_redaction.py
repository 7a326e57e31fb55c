"""Secrets are taken out wherever they stand, and nothing else with them."""

from __future__ import annotations

import json
import random
import string
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers.reading import read_logs
from deltamem_tui.trajectory.secrets.redaction import may_hold_secrets, without_secrets
from deltamem_tui.trajectory.validation import redact
from tests.places import GENERATED, PUBLISHED, ROOT

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def chars(count: int, letters: str = ALNUM, seed: int = 7) -> str:
    """Random characters, a digit and a capital among the first."""
    return ("A1b" + "".join(random.Random(seed).choices(letters, k=count)))[:count]


def seen(text: str) -> Trajectory:
    return Trajectory("Deploy the site.", steps=(Step("cat .env", text),))


def cleaned(text: str) -> str:
    return redact(seen(text))[0].steps[0].observation


# None that looks real is ever kept: they are put together while the tests run.
TOKENS: dict[str, Callable[[], str]] = {
    "openai key": lambda: "sk-" + "proj-" + chars(48),
    "anthropic key": lambda: "sk-" + "ant-api03-" + chars(90),
    "google key": lambda: "AI" + "za" + chars(35),
    "github token": lambda: "gh" + "p_" + chars(36),
    "gitlab token": lambda: "gl" + "pat-" + chars(20),
    "aws key": lambda: "AK" + "IA" + chars(16, string.ascii_uppercase + string.digits).upper(),
    "hugging face token": lambda: "h" + "f_" + chars(34),
    "slack token": lambda: "xo" + "xb-" + "123456789012-" + chars(24),
    "webhook": lambda: "https://hooks.slack.com/" + "services/T0A1/B0B2/" + chars(24),
    "stripe key": lambda: "sk_" + "live_" + chars(24),
    "sendgrid key": lambda: "S" + "G." + chars(22) + "." + chars(43),
    "npm token": lambda: "np" + "m_" + chars(36),
    "vault token": lambda: "hv" + "s." + chars(24),
    "telegram token": lambda: "1234567890:A" + "A" + chars(33),
    "jwt": lambda: "ey" + "J" + chars(33) + ".ey" + "J" + chars(60) + "." + chars(43),
}
PLACES = [
    "{}",
    "export KEY={}",
    'client = Client(api_key="{}")',
    "The key is {} and it works.",
    '{{\\"token\\": \\"{}\\", \\"other\\": 1}}',
    "before\\n{}\\nafter",
    "见 {}。",
    "a=1&key={}&b=2",
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", TOKENS)
def test_a_token_is_known_by_its_form(kind: str, place: str) -> None:
    token = TOKENS[kind]()
    text = cleaned(place.format(token))
    secret = token.rpartition("/")[2]
    assert secret not in text
    assert secret[-8:] not in text
    assert "[redacted: " in text


NAMED = [
    "DB_PASSWORD={}",
    "password: {}\nuser: ada",
    '{{"user": "ada", "password": "{}"}}',
    "conn = connect(user='ada', password='{}')",
    "Server=db;Uid=ada;Pwd={};",
    "mysql --user ada --password={} db",
    "tool login --password {} --user ada",
    "machine example.com login ada password {}",
    "sshpass -p '{}' ssh ada@host",
    "curl -s -u ada:{} https://example.com/x",
    "postgres://ada:{}@db.example.com:5432/app",
    "define( 'DB_PASSWORD', '{}' );",
    "api_key: {}",
    "aws_secret_access_key = {}",
    "SECRET_KEY = '{}'",
    "x-api-key: {}",
    "Authorization: Bearer {}",
    "Authorization: Basic {}",
    "https://x.example.com/a?sig={}&b=1",
]


@pytest.mark.parametrize("place", NAMED)
def test_a_value_is_known_by_its_name_or_place(place: str) -> None:
    secret = "k7Wq" + chars(24)
    text = cleaned(place.format(secret))
    assert secret[-8:] not in text
    assert text.replace(text[text.index("[redacted") : text.index("]") + 1], "{}") == place.format(
        "{}"
    )


@pytest.mark.parametrize(
    "text",
    [
        "password = get_password()",
        "password: str = None",
        'token = os.environ["API_TOKEN"]',
        "max_tokens=4096, token_count: 1234",
        "API_KEY=<your key>",
        "SECRET_KEY=${SECRET_KEY}",
        "sort(key=lambda row: row.size)",
        "--- PASS: TestBuild/10000_records",
        "password: Passwort1 is wrong".replace("Passwort1", "********"),
        "cache key: Linux-pip-cb7a3c1824ed413e573d63710c28af5d35b02a21fd939ce7",
        "commit 8b83143953fa67e6737a73ceecad832ef270c911",
        "the secret: picoCTF{th3_fl4g_1s_h3r3}",
        "password=flag{n0t_a_passw0rd}",
        "git clone https://github.com/ada/calc.git",
        "session 0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
    ],
)
def test_a_look_alike_stays(text: str) -> None:
    assert not may_hold_secrets(text)
    assert cleaned(text) == text


def test_a_secret_is_taken_out_wherever_it_stands_and_counted() -> None:
    key, secret = TOKENS["openai key"](), "hunter2!Pass"
    found = Trajectory(
        f"Use {key}.",
        f"OPENAI_API_KEY={key}",
        (Step(f"login {secret}", "ok", f"I have {key}"), Step("env", f"DB_PASSWORD={secret}")),
        Outcome(reason=key),
        metadata={"id": "x", "note": f"with {key}"},
    )
    clean, redactions = redact(found)
    mark = "[redacted: openai key]"
    assert (clean.task, clean.environment) == (f"Use {mark}.", f"OPENAI_API_KEY={mark}")
    assert clean.steps == (
        Step("login [redacted: password]", "ok", f"I have {mark}"),
        Step("env", "DB_PASSWORD=[redacted: password]"),
    )
    assert (clean.outcome.reason, clean.metadata["note"]) == (mark, f"with {mark}")
    assert redactions == {"openai key": 5, "password": 2}
    assert redact(clean) == (clean, {})


def test_a_password_that_is_a_word_is_taken_out_as_a_value_only() -> None:
    text = cleaned("POSTGRES_PASSWORD=postgres\npsql -U postgres")
    assert text == "POSTGRES_PASSWORD=[redacted: password]\npsql -U postgres"


def test_a_fact_is_a_secret_by_its_name() -> None:
    found = replace(seen("ok"), metadata={"password": "s3cret!", "id": "run-7"})
    assert redact(found)[0].metadata == {"password": "[redacted: password]", "id": "run-7"}


@given(st.text(max_size=200))
@example("000000\r=000001")
def test_redacting_twice_is_redacting_once(text: str) -> None:
    clean, _ = redact(seen(f"password={text}"), personal=True)
    assert redact(clean, personal=True) == (clean, {})


@pytest.mark.parametrize("between", ["\n", "\\n"])
@pytest.mark.parametrize("part", ["whole", "beginning", "end"])
def test_a_private_key_goes_with_all_its_lines(between: str, part: str) -> None:
    rows = [chars(64, ALNUM + "+/", seed) for seed in range(6)]
    begin, end = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
    lines = [*([] if part == "end" else [begin]), *rows, *([] if part == "beginning" else [end])]
    clean, redactions = redact(seen(f"$ cat key.pem\n{between.join(lines)}\nand {rows[3]} again."))
    assert not any(row in clean.text for row in rows)
    assert redactions == {"private key": 2}


@pytest.mark.parametrize(
    "text",
    [
        *("a" * 200_000, "password=" * 20_000, "api_key: " * 20_000, "curl " * 40_000),
        *("-----BEGIN RSA PRIVATE KEY-----" * 5_000, "https://a:" * 20_000, "eyJ" * 60_000),
        *("1234567890:" * 20_000, "cookie: " * 20_000, "password=" + "Aa" * 100_000),
    ],
    ids=lambda text: text[:12],
)
def test_nasty_texts_end(text: str) -> None:
    assert redact(seen(text), personal=True)[0].task == "Deploy the site."


def test_addresses_go_only_when_asked() -> None:
    found = seen("Mail ada@example.org, or git@github.com:org/x.git, ssh://git@a.example.org/x")
    assert redact(found) == (found, {})
    clean, redactions = redact(found, personal=True)
    assert clean.steps[0].observation.startswith("Mail [redacted: e-mail address], or git@github")
    assert redactions == {"e-mail address": 1}


def test_names_that_are_no_secrets_stay() -> None:
    found = replace(
        seen("ok"),
        source=LogSource("runs/2026-01-02T03-04-05/django__django-12345.traj", "record 7", "chat"),
        agent="claude-sonnet-4-5-20250929",
        metadata={
            "id": "valid_train/pick_and_place_simple-KeyChain-None-Safe-204/trial_T20190906_200520",
            "session": "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
            "secret_level": "2",
            "key": "0",
        },
    )
    assert redact(found, personal=True) == (found, {})


@pytest.mark.parametrize(
    ("folder", "expected"), [(GENERATED, {}), (PUBLISHED, {"glaive_toolcall_en_demo.json": 16})]
)
def test_whole_logs_hold_what_was_looked_up(folder: Path, expected: dict[str, int]) -> None:
    if not folder.exists():
        pytest.skip("the sample data are not here")
    files: Counter[str] = Counter()
    for found in read_logs([folder]):
        if isinstance(found, Trajectory):
            files[Path(found.source.file).name] += redact(found)[1].total()
    assert +files == expected  # passwords that a tool made up


@pytest.mark.parametrize(
    ("name", "share", "most"), [("cases.jsonl", 0.78, 1), ("blind.jsonl", 0.70, 1)]
)
def test_the_labelled_sets(name: str, share: float, most: int) -> None:
    lines = (ROOT / "tests/trajectory/secrets_set" / name).read_text("utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    having = [case for case in cases if case["secrets"]]
    without = [case for case in cases if not case["secrets"]]
    assert min(len(having), len(without)) >= 120
    found = [
        case
        for case in having
        if not any(secret in without_secrets(case["text"]) for secret in case["secrets"])
    ]
    assert len(found) / len(having) >= share
    assert sum(without_secrets(case["text"]) != case["text"] for case in without) <= most
