"""Occurrences are found as one pattern of all secrets would find them, but by halving."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deltamem_tui.trajectory.secrets import occurrences as module
from deltamem_tui.trajectory.secrets.occurrences import Occurrences, Place, stands_alone
from deltamem_tui.trajectory.secrets.tokens import STANDS_ALONE


def by_pattern(
    text: str, secrets: list[str], places: Mapping[str, set[Place]], start: int
) -> list[tuple[int, str]]:
    """The same by one pattern of all secrets, the longest first."""
    parts = []
    for secret in sorted(secrets, key=len, reverse=True):
        parts.append(alone(secret))
        for before, behind in sorted(places.get(secret, ())):
            parts.append(rf"(?<={re.escape(before)}){re.escape(secret)}(?={re.escape(behind)})")
    found = re.compile("|".join(parts)).finditer(text, start)
    return [(match.start(), match[0]) for match in found]


def alone(secret: str) -> str:
    if re.fullmatch(r"[A-Z]+|[A-Z]?[a-z]+(?:[A-Z][a-z]+){0,3}", secret) and len(secret) < 20:
        return rf"(?:(?<=[=:\"'`]){secret}(?![A-Za-z0-9])|(?<=[:=] ){secret}(?=[ \t]*(?:\n|\Z)))"
    before = rf"(?:{STANDS_ALONE}|(?<= -p))" if secret[:1].isalnum() else ""
    behind = r"(?![A-Za-z0-9])" if secret[-1:].isalnum() else ""
    return f"{before}{re.escape(secret)}{behind}"


letters = st.text(alphabet='ab1é!^]-=: \n\\p"', min_size=1, max_size=4)


@given(
    st.text(alphabet='ab1é!^]-=: \n\\p"', max_size=60),
    st.lists(letters, min_size=1, max_size=8, unique=True),
    st.lists(st.tuples(letters, letters | st.just("")), max_size=3),
    st.integers(0, 3),
)
@example("a=ab abb a1", ["a", "ab", "abb", "a1"], [], 0)
@example("x -pab1 pab1", ["ab1"], [("p", "")], 0)
def test_every_mention_is_found_once(
    text: str, secrets: list[str], around: list[Place], start: int
) -> None:
    start = min(start, len(text))
    places = {secret: set(around) for secret in secrets[::2]}
    found = list(Occurrences(secrets, places).of(text, start))
    assert found == by_pattern(text, secrets, places, start)


@given(st.text(alphabet='ab1é!-=: \n\\p"', max_size=12), letters)
def test_a_secret_stands_alone_where_its_pattern_matches(before: str, secret: str) -> None:
    for behind in ("", "a", " ", "\n", ' "', "é"):
        text = before + secret + behind
        expected = re.compile(alone(secret)).match(text, len(before)) is not None
        assert stands_alone(text, len(before), secret) == expected


class Compared(str):
    """A secret that counts how often it is compared or looked for."""

    __slots__ = ()
    times = 0

    def __gt__(self, other: str) -> bool:
        Compared.times += 1
        return str.__gt__(self, other)

    def __hash__(self) -> int:
        Compared.times += 1
        return str.__hash__(self)

    __eq__ = str.__eq__


def comparisons(count: int) -> int:
    """How many it takes to find as many secrets, each once."""
    secrets = [Compared(f"sk-{number:06d}xY") for number in range(count)]
    text = "\n".join(f"key {secret} of many" for secret in secrets)
    mentions = Occurrences(secrets)
    Compared.times = 0
    assert [secret for _, secret in mentions.of(text)] == secrets
    return Compared.times


def test_many_secrets_take_little_more_work_each_than_few() -> None:
    few, many = comparisons(64) / 64, comparisons(4096) / 4096
    assert few > 0
    assert many <= few + 8  # halving 64 times as many takes six steps more


def test_secrets_that_begin_one_another_are_tried_only_where_a_word_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secrets = [("aB9" * 80)[:length] for length in range(6, 200)]
    tried: list[int] = []

    def counted(text: str, start: int, value: str) -> bool:
        tried.append(start)
        return stands_alone(text, start, value)

    monkeypatch.setattr(module, "stands_alone", counted)
    text = "aB9" * 1000 + " " + secrets[50]
    assert list(Occurrences(secrets).of(text)) == [(3001, secrets[50])]
    assert set(tried) == {0, 3001}


@pytest.mark.parametrize("secret", ["a1", "a1" * 40])
def test_a_secret_found_in_many_places_is_found_by_a_few_looks(secret: str) -> None:
    places = {secret: {("p", f" {number:05d}") for number in range(5000)}}
    text = "".join(f"xp{secret} {number:05d}" for number in range(5000))
    mentions = Occurrences([secret], places)
    assert len(mentions._sizes[secret]) == 1
    assert len(list(mentions.of(text))) == 5000
