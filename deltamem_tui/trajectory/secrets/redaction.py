"""Finds secrets in texts and replaces them by marks.

Almost no text holds any, so a prefilter decides first whether a text could hold one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from deltamem_tui.trajectory.secrets.assignments import ASSIGNMENTS
from deltamem_tui.trajectory.secrets.commands import COMMANDS
from deltamem_tui.trajectory.secrets.files import (
    FILES,
    PRIVATE_KEY,
    is_between_lines,
    lines_before_an_end,
)
from deltamem_tui.trajectory.secrets.occurrences import Occurrences, Place, stands_alone
from deltamem_tui.trajectory.secrets.prefilter import may_hold_secrets
from deltamem_tui.trajectory.secrets.prose import PROSE
from deltamem_tui.trajectory.secrets.rules import BETWEEN_TEXTS, Rule, SearchedText
from deltamem_tui.trajectory.secrets.tokens import TOKENS, detected, long_words
from deltamem_tui.trajectory.secrets.values import is_token_example
from deltamem_tui.trajectory.secrets.web import EMAIL, WEB

_PLACES = (*FILES, *WEB, *ASSIGNMENTS, *COMMANDS, *PROSE)
"""The rules about where a secret stands, in the order in which they name what they find."""
_IN_A_MARK = re.compile(r"\[redacted: [a-z0-9 -]{0,40}\Z")
_AROUND = 32  # as much of what is around a secret as tells its place from others


@dataclass(frozen=True, slots=True)
class Redactions:
    """What was taken out.

    Attributes:
        counts: How many secrets, by kind.
    """

    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many secrets in all."""
        return sum(self.counts.values())


NOTHING = Redactions()


def kinds_of_secrets(text: str) -> tuple[str, ...]:
    """The kinds of secrets that a text holds; none for almost every text."""
    if not may_hold_secrets(text):
        return ()
    redactor = Redactor(personal=False)
    redactor.learn([text])
    return tuple(sorted(set(redactor.found.values())))


def without_secrets(text: str) -> str:
    """A text by itself with marks in the places of its secrets; the same one if it holds none."""
    if not may_hold_secrets(text):
        return text
    redactor = Redactor(personal=False)
    redactor.learn([text])
    return redactor.clean(text)


class Redactor:
    """Finds the secrets of texts that belong together, and removes them.

    Attributes:
        found: The secrets found so far, each with its kind.
        counts: How many mentions were removed, by kind.
    """

    def __init__(self, *, personal: bool) -> None:
        self.found: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self._personal = personal
        self._places: defaultdict[str, set[Place]] = defaultdict(set)
        self._occurrences: Occurrences | None = None

    @property
    def redactions(self) -> Redactions:
        """What was removed so far."""
        return Redactions(dict(sorted(self.counts.items())))

    def learn(self, texts: Iterable[str]) -> None:
        """Finds the secrets of some texts, the surest kinds first."""
        searched = SearchedText(BETWEEN_TEXTS.join(texts))
        text, lowered = searched.text, searched.lowered
        self._find(PRIVATE_KEY, searched.matches(PRIVATE_KEY), text)
        if "-----end" in lowered:
            self.found |= dict.fromkeys(lines_before_an_end(text), PRIVATE_KEY.kind)
        # Far fewer letters than the text, and every token is among them.
        words = "\n".join(long_words(text))
        lowered_words = words.lower()
        for rule in TOKENS:
            if any(hint in lowered_words for hint in rule.hints):
                self._find(rule, filter(rule.accepts, rule.pattern.finditer(words)), words)
        for rule in _PLACES:
            self._find(rule, searched.matches(rule), text)
        for kind, value in detected(text, lowered):
            if not is_token_example(value):
                self.found.setdefault(value, kind)
        if self._personal and "@" in text:
            self._find(EMAIL, EMAIL.pattern.finditer(text), text)
        self._occurrences = None

    def clean(self, text: str, before: str = "") -> str:
        """A text with marks in the places of its secrets.

        Args:
            text: The text.
            before: What it stands behind, for a secret that is known by that only.
        """
        if not text or not self.found:
            return text
        self._occurrences = self._occurrences or Occurrences(self.found, self._places)
        whole, end = before + text, len(before)
        parts: list[str] = []
        last = ""
        for start, secret in self._occurrences.of(whole, end):
            between, kind = whole[end:start], self.found[secret]
            # The lines of a key that was cut are found one by one.
            if not (kind == last == PRIVATE_KEY.kind and is_between_lines(between)):
                self.counts[kind] += 1
            parts += (between, f"[redacted: {kind}]")
            end, last = start + len(secret), kind
        return "".join((*parts, whole[end:]))

    def clean_value(self, name: str, value: str) -> str:
        """Returns a named value without secrets, of which one may be known by its name only."""
        before = f"{name}="
        return self.clean(value, before=before if kinds_of_secrets(before + value) else "")

    def _find(self, rule: Rule, matches: Iterable[re.Match[str]], text: str) -> None:
        group = "secret" if "secret" in rule.pattern.groupindex else 0
        for match in matches:
            start, end = match.span(group)
            value = text[start:end]
            if not value:
                continue
            # The mark of a secret found before names its kind, and is not the name of another.
            if _IN_A_MARK.search(text, max(match.start() - 52, 0), match.start()):
                continue
            self.found.setdefault(value, rule.kind)
            if match.span() != (start, end) and not stands_alone(text, start, value):
                before = text[max(match.start(), start - _AROUND) : start]
                self._places[value].add((before, text[end : match.end()][:_AROUND]))
