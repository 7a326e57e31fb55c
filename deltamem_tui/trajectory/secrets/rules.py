"""What a rule for secrets is, and how rules are applied to a text.

A rule's hints are looked up first, which is far cheaper than its pattern. Patterns hold no
unbounded runs, so that none is slow on any text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

BETWEEN_TEXTS = "\n\0\n"
"""Stands between texts while they are searched, so that no secret begins in one and ends in
another. No admitted text holds it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret.

    Attributes:
        kind: What a replacement and a report call it.
        pattern: Finds it. The group `secret`, if there is one, is the part to remove.
        hints: Any of them is in every text that holds one, in lower case. The pattern, or
            `within` if there is one, begins with a hint.
        accepts: Whether a match is a secret indeed, and not a placeholder.
        within: Finds the stretch of text that may hold several.
    """

    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    accepts: Callable[[re.Match[str]], bool]
    within: re.Pattern[str] | None = None


def rule(
    kind: str,
    pattern: str,
    hints: str | tuple[str, ...],
    is_secret: Callable[[str], bool] | None = None,
    *,
    accepts: Callable[[re.Match[str]], bool] | None = None,
    within: str | re.Pattern[str] | None = None,
    flags: int = re.IGNORECASE,
) -> Rule:
    """Returns a rule whose patterns ignore case; several hints in one text have bars between.

    Every match is a secret unless `is_secret`, given its value, or `accepts` says otherwise.
    """
    found = re.compile(pattern, flags)
    group = "secret" if "secret" in found.groupindex else 0

    def passes(match: re.Match[str]) -> bool:
        return is_secret is None or is_secret(match[group])

    return Rule(
        kind,
        found,
        tuple(hints.split("|")) if isinstance(hints, str) else hints,
        accepts or passes,
        re.compile(within, re.IGNORECASE) if isinstance(within, str) else within,
    )


class SearchedText:
    """A text, and where the hints of rules stand in it.

    Many rules are about the same few words, so the places of each are looked up once.

    Attributes:
        text: The text.
        lowered: The same in lower case, and of the same length.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        lowered = text.lower()
        if len(lowered) != len(text):  # a few letters of other scripts grow when lowered
            text = text.encode("ascii", "replace").decode()
            lowered = text.lower()
        self._plain = text
        self.lowered = lowered
        self._places: dict[str, list[int]] = {}

    def matches(self, rule: Rule) -> Iterator[re.Match[str]]:
        """Yields what a rule finds, of the text or of one of the same length."""
        first = rule.within or rule.pattern
        for hint in rule.hints:
            end = 0
            for place in self._places_of(hint):
                if place < end:  # it lies in the match before
                    continue
                match = first.match(self._plain, place)
                if not match:
                    continue
                if rule.within:
                    end = match.end()
                    yield from filter(rule.accepts, rule.pattern.finditer(self._plain, place, end))
                elif rule.accepts(match):
                    end = match.end()
                    yield match

    def _places_of(self, hint: str) -> list[int]:
        found = self._places.get(hint)
        if found is None:
            found = self._places[hint] = []
            place = self.lowered.find(hint)
            while place >= 0:
                found.append(place)
                place = self.lowered.find(hint, place + len(hint))
        return found


# A value is all between quotation marks, which may be escaped, or else up to where a shell or a
# setting ends it: it does not begin like a variable, a path, an option or a template, and is not
# a call, unless it is long enough to be in base 64.
_OPEN = r"(?:[bBrRuUfF@]{0,2}(?P<escape>\\{0,8})(?P<quote>[\"'`]))?"
_CLOSED = r"(?=(?<!\\)(?P=escape)(?P=quote))"
_BARE = (
    r"(?:(?![\w.]{1,80}[(\[])[^\s\"'`<>{}\[\]()$*,;&|\\/~.-]"
    r"(?:[^\s\"'`<>{}\[\](),;&|\\]|&(?!\w{1,30}=)){3,1000}(?![\w(\[])"
    r"|[/~.-][A-Za-z0-9_/+.~=-]{15,1000}(?![\w(\[]))"
)
VALUE = rf"{_OPEN}(?P<secret>(?(quote)[^\n\0]{{4,1000}}?{_CLOSED}|{_BARE}))"
"""A value, with the groups `quote` and `secret`."""

QUOTED = (
    r"[bBrRuUfF@]{0,2}(?P<escape>\\{0,8})(?P<quote>[\"'`])"
    r"(?P<secret>[^\n\0]{4,400}?)(?<!\\)(?P=escape)(?P=quote)"
)
"""A value between quotation marks only."""

END_OF_LINE = r"(?=[ \t]{0,40}(?:\n|\\n|\\?[\"'`]|\Z))"
