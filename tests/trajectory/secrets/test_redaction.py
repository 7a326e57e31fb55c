"""How secrets are taken out: wherever they stand, and nothing else with them."""

from __future__ import annotations

import random
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.redaction import redact
from deltamem_tui.trajectory.secrets.redaction import NOTHING
from tests.trajectory.secrets.planting import (
    ALNUM,
    COMMANDS,
    TOKENS,
    chars,
    password,
    planted,
)


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


@given(st.text(max_size=400))
@example("000000\r=000001")
def test_redacting_twice_is_redacting_once(text: str) -> None:
    clean, _ = redact(planted(f"password={text}"), personal=True)
    assert redact(clean, personal=True) == (clean, NOTHING)


@pytest.mark.parametrize("before", ["\n", "\\n", "\n  12\t"])
@pytest.mark.parametrize("begin", ["", "-----BEGIN RSA PRIVATE KEY-----"])
def test_a_key_that_was_cut_is_one_secret(before: str, begin: str) -> None:
    chance = random.Random(2)
    rows = ["".join(chance.choices("abcdefghijkABCDEFG0123456789+/", k=64)) for _ in range(6)]
    end = "" if begin else f"{before}-----END RSA PRIVATE KEY-----"
    shown = f"{begin}{before}{before.join(rows)}{end}"
    clean, redactions = redact(planted(f"$ cat key.pem\n{shown}\nand {rows[3]} again."))
    assert not any(row in clean.text for row in rows)
    assert redactions.counts == {"private key": 2}


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


def test_a_private_key_over_two_texts_goes_from_both() -> None:
    chance = random.Random(9)
    first, second, third = (chars(chance, 64, ALNUM + "+/") for _ in range(3))
    found = Trajectory(
        "Deploy.",
        steps=(
            Step("head -2 a.pem", f"-----BEGIN PRIVATE KEY-----\n{first}"),
            Step("tail -3 a.pem", f"{second}\n{third}\n-----END PRIVATE KEY-----"),
        ),
    )
    clean, redactions = redact(found)
    assert redactions.counts == {"private key": 2}
    assert not any(line in clean.text for line in (first, second, third))


NASTY = [
    "cookie: sid=",
    "password is ",
    "the password for a is ",
    '"d":"',
    'kty"',
    "define('a_key','",
    "pgpass\na:1:b:c:",
    "random_password ",
    "echo a | ",
    "curl -b ",
    "identified by '",
    "key is ",
    "&signature=a1",
    "secret_key: 'abc123,",
    "credentials a:",
    "name: a_key, ",
    "| token | ",
    "[3m",
    "htpasswd -b a a ",
    "A1bCd/",
    "<password>",
    "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAAAAAA\n",
    "-----END PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAAAAAA\n",
    "secret = 'a1!",
    "| token | a1",
    "assword send ",
    "密码 para ",
    "$6$a$",
    "openssl -k a",
    "insert into t (a, password) values (1,",
    "getConnection(a, b, ",
    'login("a", "',
    'variable "db_password" { ',
    "login -u a -p ",
    "cat a_token\n",
    'type("password',
    "api-key: a1",
    'password = "a b c ',
    "password: abc abc ",
    "api key: a1b2c3d4 ",
    "secrets set a ",
    "net use \\\\a /user:a ",
    "rabbitmqctl a",
    "jdbc:oracle:thin:a/",
    "http -a a:",
    "AUTH a1",
    "set -x A_TOKEN a1",
    "alias set a a a ",
    "pw:pw ",
    "password=",
    "key=",
    "the pass is ",
    "user -u a -p ",
    "'x' pass ",
    "keys: ['",
    "password |  ",
    "login('a', ",
    "secret A1",
    "type [1] [",
    "LS0tLS1CRUdJTi",
    'token("',
    "pass\n",
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("piece", NASTY)
def test_many_beginnings_without_an_end_take_time_in_proportion(piece: str) -> None:
    def seconds(length: int) -> float:
        text = "= pass key token secret cookie " + piece * (length // len(piece))
        start = process_time()
        redact(planted(text))
        return process_time() - start

    short = min(seconds(20_000) for _ in range(2))
    assert seconds(80_000) < 12 * short + 0.2
