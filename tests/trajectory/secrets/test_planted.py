"""Planted secrets are found, whatever they are, wherever an episode has text."""

from __future__ import annotations

import json
import random
import string
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers import to_record
from deltamem_tui.trajectory.redaction import redact
from deltamem_tui.trajectory.secrets.prefilter import may_hold_secrets
from deltamem_tui.trajectory.secrets.redaction import NOTHING, kinds_of_secrets
from tests.trajectory.secrets.planting import (
    ALNUM,
    COMMANDS,
    CONTEXTS,
    HEX,
    NAMED,
    TOKENS,
    Maker,
    chars,
    leaks,
    password,
    planted,
    uuid,
    with_prefix,
)


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


@pytest.mark.one_in(3)
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


def test_a_token_of_letters_only_is_known_by_its_capitals() -> None:
    chance = random.Random(7)
    secrets = [chars(chance, 32, string.ascii_letters) for _ in range(200)]
    texts = [redact(planted(f"ACCESS_TOKEN={each}"))[0].text for each in secrets]
    missed = sum(leaks(secret, text) for secret, text in zip(secrets, texts, strict=True))
    assert missed <= 10  # some look like a name, and names must stay


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
