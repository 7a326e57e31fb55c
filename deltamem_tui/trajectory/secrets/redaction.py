"""Secrets out of an episode, before anything else sees it.

Almost every text holds none, so first a glance decides whether a text could hold one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from deltamem_tui.trajectory.model import LogSource, Trajectory
from deltamem_tui.trajectory.secrets.context_rules import PLACES
from deltamem_tui.trajectory.secrets.detectors import detected
from deltamem_tui.trajectory.secrets.files import PRIVATE_KEY, is_between_lines, lines_before_an_end
from deltamem_tui.trajectory.secrets.occurrences import Mentions, Place, stands_alone
from deltamem_tui.trajectory.secrets.prefilter import may_hold_secrets, names_may_hold_secrets
from deltamem_tui.trajectory.secrets.rules import (
    BETWEEN_TEXTS,
    EMAIL,
    TOKEN_PLACEHOLDER,
    Rule,
)
from deltamem_tui.trajectory.secrets.search import SearchedText
from deltamem_tui.trajectory.secrets.tokens import TOKENS, long_words

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


def redact(trajectory: Trajectory, *, personal: bool = False) -> tuple[Trajectory, Redactions]:
    """The episode without secrets; the same object if it holds none.

    Searched are all its texts, and what it is known by: the file it was read from, domain,
    agent, and the names and values of its metadata. A secret becomes `[redacted: kind]`. One
    that was found once is taken out wherever else it stands in the episode.

    Args:
        trajectory: The episode.
        personal: Take out e-mail addresses too.
    """
    texts, notes = _texts(trajectory), _notes(trajectory)
    text = "\n".join(texts)
    redactor = _Redactor(personal=personal)
    if may_hold_secrets(text) or (personal and "@" in text):
        redactor.learn(BETWEEN_TEXTS.join(texts))
    if names_may_hold_secrets(notes) or (personal and any("@" in note for note in notes)):
        redactor.learn(BETWEEN_TEXTS.join(notes))
    if not redactor.found:
        return trajectory, NOTHING
    clean = _mapped(trajectory, redactor)
    return clean, Redactions(dict(sorted(redactor.counts.items())))


def kinds_of_secrets(text: str) -> tuple[str, ...]:
    """The kinds of secrets that a text holds; none for almost every text."""
    if not may_hold_secrets(text):
        return ()
    redactor = _Redactor(personal=False)
    redactor.learn(text)
    return tuple(sorted(set(redactor.found.values())))


def without_secrets(text: str) -> str:
    """A text by itself with marks in the places of its secrets; the same one if it holds none."""
    if not may_hold_secrets(text):
        return text
    redactor = _Redactor(personal=False)
    redactor.learn(text)
    return redactor.clean(text)


def _texts(trajectory: Trajectory) -> list[str]:
    """All that was said and shown in the episode, and why it ended as it did."""
    parts = [trajectory.task, trajectory.environment, trajectory.outcome.reason]
    for step in trajectory.steps:
        parts += (step.thought, step.action, step.observation)
    return parts


def _notes(trajectory: Trajectory) -> list[str]:
    source = trajectory.source
    names = (trajectory.domain, trajectory.agent, source.file, source.position, source.format)
    return notes_of(*names, metadata=trajectory.metadata)


def notes_of(*names: str, metadata: Mapping[str, str]) -> list[str]:
    """All that an episode is known by, besides its texts.

    A value stands behind its name, since some are known as secrets by their names only. A
    name that says more than a word is there alone too: it may have its own secret in it.
    """
    keys = [key for key in metadata if not key.isidentifier()]
    return [*names, *keys, *(f"{key}={value}" for key, value in metadata.items())]


class _Redactor:
    """Finds the secrets of one episode, and takes them out of its texts."""

    def __init__(self, *, personal: bool) -> None:
        self.found: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self._personal = personal
        self._places: defaultdict[str, set[Place]] = defaultdict(set)
        self._mentions: Mentions | None = None

    def learn(self, text: str) -> None:
        """Find the secrets of a text, the surest kinds first, beside those found before."""
        searched = SearchedText(text)
        text, lowered = searched.text, searched.lowered
        self._find(PRIVATE_KEY, searched.matches(PRIVATE_KEY), text)
        if "-----end" in lowered:
            self.found |= dict.fromkeys(lines_before_an_end(text), PRIVATE_KEY.kind)
        # Far fewer letters than the text, and every token is among them.
        words = "\n".join(long_words(text))
        lowered_words = words.lower()
        for rule in TOKENS:
            if any(hint in lowered_words for hint in rule.hints):
                self._find(rule, rule.pattern.finditer(words), words)
        for rule in PLACES:
            self._find(rule, searched.matches(rule), text)
        for kind, value in detected(text, lowered):
            if not TOKEN_PLACEHOLDER.fullmatch(value):
                self.found.setdefault(value, kind)
        if self._personal and "@" in text:
            self._find(EMAIL, EMAIL.pattern.finditer(text), text)
        self._mentions = None

    def clean(self, text: str, before: str = "") -> str:
        """A text with marks in the places of its secrets.

        Args:
            text: The text.
            before: What it stands behind, for a secret that is known by that only.
        """
        if not text or not self.found:
            return text
        self._mentions = self._mentions or Mentions(self.found, self._places)
        whole, end = before + text, len(before)
        parts: list[str] = []
        last = ""
        for start, secret in self._mentions.of(whole, end):
            between, kind = whole[end:start], self.found[secret]
            # The lines of a key that was cut are found one by one.
            if not (kind == last == PRIVATE_KEY.kind and is_between_lines(between)):
                self.counts[kind] += 1
            parts += (between, f"[redacted: {kind}]")
            end, last = start + len(secret), kind
        return "".join((*parts, whole[end:]))

    def _find(self, rule: Rule, matches: Iterable[re.Match[str]], text: str) -> None:
        group = "secret" if "secret" in rule.pattern.groupindex else 0
        for match in matches:
            start, end = match.span(group)
            value = text[start:end]
            if not value or (rule.placeholder and rule.placeholder.fullmatch(value)):
                continue
            if rule.before and match["key"] and not rule.before.search(text, *_before(match)):
                continue
            # The mark of a secret found before names its kind, and is no name of another.
            if _IN_A_MARK.search(text, max(match.start() - 52, 0), match.start()):
                continue
            self.found.setdefault(value, rule.kind)
            if match.span() != (start, end) and not stands_alone(text, start, value):
                before = text[max(match.start(), start - _AROUND) : start]
                self._places[value].add((before, text[end : match.end()][:_AROUND]))


def _before(match: re.Match[str]) -> tuple[int, int]:
    """Where the word lies that stands before a match."""
    return max(match.start() - 24, 0), match.start()


def _mapped(trajectory: Trajectory, redactor: _Redactor) -> Trajectory:
    clean, source, metadata = redactor.clean, trajectory.source, trajectory.metadata
    return replace(
        trajectory,
        task=clean(trajectory.task),
        environment=clean(trajectory.environment),
        steps=tuple(step.with_texts(clean) for step in trajectory.steps),
        outcome=replace(trajectory.outcome, reason=clean(trajectory.outcome.reason)),
        source=LogSource(clean(source.file), clean(source.position), clean(source.format)),
        domain=clean(trajectory.domain),
        agent=clean(trajectory.agent),
        metadata={clean(key): _value(key, each, redactor) for key, each in metadata.items()},
    )


def _value(key: str, value: str, redactor: _Redactor) -> str:
    """A value of metadata without secrets, of which one may be known by its name only."""
    name = f"{key}="
    return redactor.clean(value, before=name if kinds_of_secrets(name + value) else "")
