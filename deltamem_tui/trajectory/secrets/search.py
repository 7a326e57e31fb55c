"""A text in which rules look for secrets, each only where a word that it is about stands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from deltamem_tui.trajectory.secrets.rules import Rule


class SearchedText:
    """A text, and where the hints of rules stand in it.

    Many rules are about the same few words, so the places of each are looked up once.

    Attributes:
        text: The text. The matches of rules are of another one where lower case changes its
            length, so what they found is at their places here.
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
        """The matches of a rule that begin with a hint of it, or lie in a stretch that does."""
        first = rule.within or rule.pattern
        for hint in rule.hints:
            end = 0
            for place in self._places_of(hint):
                if place < end:  # it lies in the match before
                    continue
                match = first.match(self._plain, place)
                if not match:
                    continue
                end = match.end()
                if rule.within:
                    yield from rule.pattern.finditer(self._plain, place, end)
                else:
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
