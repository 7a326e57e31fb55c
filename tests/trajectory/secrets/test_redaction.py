"""How secrets are taken out: wherever they stand, and nothing else with them."""

from __future__ import annotations

import random

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
