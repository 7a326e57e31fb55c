"""Where known secrets are mentioned in a text, however many there are.

One pattern of all of them would be tried secret by secret at every place of a text. Here they
lie sorted, so the one that a text goes on with is found by halving. Only of those that begin
one another, each is tried.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping

from deltamem_tui.trajectory.secrets.tokens import STANDS_ALONE

Place = tuple[str, str]
"""What stands right before a secret, and right behind it."""

_WORD = re.compile(r"[A-Z]+|[A-Z]?[a-z]+(?:[A-Z][a-z]+){0,3}")
_WORD_LENGTH = 20  # no word is longer
_BEFORE = re.compile(rf"{STANDS_ALONE}|(?<= -p)")
_BEFORE_VALUE = re.compile(r"(?<=[=:\"'`])")
_BEFORE_LAST_VALUE = re.compile(r"(?<=[:=] )")
_LETTER = re.compile(r"[A-Za-z0-9]")
_END_OF_LINE = re.compile(r"[ \t]*+(?:\n|\Z)")
_HEAD = 4


def stands_alone(text: str, start: int, value: str) -> bool:
    """Whether a secret at a place of a text is not a part of a longer word there.

    A password that is a word itself only counts where it is a value, or every mention of
    `postgres` would go with `PASSWORD=postgres`.
    """
    end = start + len(value)
    if _WORD.fullmatch(value) and len(value) < _WORD_LENGTH:
        if _BEFORE_VALUE.match(text, start) and not _LETTER.match(text, end):
            return True
        return bool(_BEFORE_LAST_VALUE.match(text, start) and _END_OF_LINE.match(text, end))
    if value[0].isalnum() and not _BEFORE.match(text, start):
        return False
    return not (value[-1].isalnum() and _LETTER.match(text, end))


class Occurrences:
    """Finds the mentions of secrets: where they stand alone, and in the places they were found in.

    Where one secret begins with another, it is the longer one that is mentioned.
    """

    def __init__(
        self, secrets: Iterable[str], places: Mapping[str, Collection[Place]] | None = None
    ) -> None:
        """Prepare for the search.

        Args:
            secrets: At least one; none is empty.
            places: Of some of them, in which places they count too, though not alone there.
        """
        self._sorted = sorted(secrets)
        self._places = places or {}
        self._sizes = {
            secret: {(len(before), len(behind)) for before, behind in found}
            for secret, found in self._places.items()
        }
        self._inner = _inner(self._sorted)
        self._longest = max(map(len, self._sorted))
        # Hardly any place of a text begins like a secret, which is told from a few letters.
        self._head = min(_HEAD, *map(len, self._sorted))
        self._heads = {secret[: self._head] for secret in self._sorted}
        firsts = "".join(sorted({re.escape(secret[0]) for secret in self._sorted}))
        self._first = re.compile(f"[{firsts}]")

    def of(self, text: str, start: int = 0) -> Iterator[tuple[int, str]]:
        """Every mention from `start` on, with the place where it begins."""
        end = start
        for match in self._first.finditer(text, start):
            at = match.start()
            if at < end or text[at : at + self._head] not in self._heads:
                continue
            secret = self._at(text, at)
            if secret is not None:
                yield at, secret
                end = at + len(secret)

    def _at(self, text: str, start: int) -> str | None:
        """The longest secret that is mentioned at a place."""
        # What stands before is the same for all of them, and in most texts a part of a word.
        within = text[start].isalnum() and not _BEFORE.match(text, start)
        if within and not self._sizes:
            return None
        ahead = text[start : start + self._longest]
        # All secrets that the text goes on with begin one another, and the last of those
        # that are sorted before it begins with all of them.
        before = bisect_right(self._sorted, ahead)
        secret = self._sorted[before - 1] if before else None
        while secret is not None:
            if ahead.startswith(secret) and self._counts(text, start, secret):
                return secret
            secret = self._inner[secret]
        return None

    def _counts(self, text: str, start: int, secret: str) -> bool:
        if stands_alone(text, start, secret):
            return True
        end = start + len(secret)
        return any(
            (text[start - before : start], text[end : end + behind]) in self._places[secret]
            for before, behind in self._sizes.get(secret, ())
            if before <= start
        )


def _inner(ordered: list[str]) -> dict[str, str | None]:
    """Per secret, the longest other one that it begins with."""
    inner: dict[str, str | None] = {}
    open_: list[str] = []
    for secret in ordered:
        while open_ and not secret.startswith(open_[-1]):
            open_.pop()
        inner[secret] = open_[-1] if open_ else None
        open_.append(secret)
    return inner
