"""Secrets out of an episode, before anything else sees it.

Almost every text holds none, so first a few cheap looks decide whether a text could hold
one: a run of sixteen letters and digits, a password named, an address with an @.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.secret_detectors import detected
from deltamem_tui.trajectory.secret_rules import (
    ASSIGNMENTS,
    EMAIL,
    LONG_WORD,
    PLACEHOLDER,
    PRIVATE_KEY,
    TOKENS,
    Rule,
)

_TOKEN_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/")
# Every byte of a token becomes `a`, every other a blank: a long run is then found by a plain
# search, ten times faster than by a pattern.
_AS_RUNS = bytes(97 if byte in _TOKEN_BYTES else 32 for byte in range(256))
_RUN = b"a" * 16
# Ids and names in the metadata are made of words with dashes, so those count as blanks there.
_NAMES_AS_RUNS = bytes(32 if byte in b"_-/" else kind for byte, kind in enumerate(_AS_RUNS))
_MANY_NOTES = 500
_WORD_LENGTH = 20  # no word is longer


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

    A secret becomes `[redacted: kind]`. One that was found once is taken out wherever else
    it stands in the episode.

    Args:
        trajectory: The episode.
        personal: Take out e-mail addresses too.
    """
    text = _joined(trajectory)
    notes = "\n".join([trajectory.outcome.reason, trajectory.agent, *trajectory.metadata.values()])
    looks = may_hold_secrets(text) or _is_dense(notes)
    if not looks and not (personal and ("@" in text or "@" in notes)):
        return trajectory, NOTHING
    redactor = _Redactor(personal=personal)
    redactor.learn(f"{text}\n{notes}")
    if not redactor.found:
        return trajectory, NOTHING
    clean = _mapped(trajectory, redactor)
    return clean, Redactions(dict(sorted(redactor.counts.items())))


def may_hold_secrets(text: str) -> bool:
    """Whether a text is worth a closer look. One that holds a secret always is.

    It takes about as long as writing the text into memory once.
    """
    if "@" in text and "://" in text:
        return True
    if _RUN in text.encode("utf-8", "surrogatepass").translate(_AS_RUNS):
        return True
    lowered = text.lower()
    if "pass" in lowered or ("/" in text and "curl " in lowered):
        return True
    return ("=" in text or '"' in text) and ("pwd" in lowered or "pw=" in lowered)


def _joined(trajectory: Trajectory) -> str:
    """All of the episode's text; like its `text`, but faster since blanks may stay."""
    parts = [trajectory.task, trajectory.environment]
    for step in trajectory.steps:
        parts += (step.thought, step.action, step.observation)
    return "\n".join(parts)


def _is_dense(notes: str) -> bool:
    """Whether ids, names and reasons are worth a closer look."""
    if len(notes) > _MANY_NOTES or "@" in notes or "pass" in notes or "PASS" in notes:
        return may_hold_secrets(notes)
    return _RUN in notes.encode("utf-8", "surrogatepass").translate(_NAMES_AS_RUNS)


class _Redactor:
    """Finds the secrets of one episode, and takes them out of its texts."""

    def __init__(self, *, personal: bool) -> None:
        self.found: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self._personal = personal
        self._pattern: re.Pattern[str] | None = None

    def learn(self, text: str) -> None:
        """Find the secrets of a text, the surest kinds first."""
        lowered = text.lower()
        if len(lowered) != len(text):  # a few letters of other scripts grow when lowered
            text = text.encode("ascii", "replace").decode()
            lowered = text.lower()
        self._find_at_hints(PRIVATE_KEY, text, lowered)
        # Far fewer letters than the text, and every token is among them.
        words = "\n".join(dict.fromkeys(LONG_WORD.findall(text)))
        lowered_words = words.lower()
        for rule in TOKENS:
            if any(hint in lowered_words for hint in rule.hints):
                self._find(rule, rule.pattern.finditer(words), words)
        for rule in ASSIGNMENTS:
            self._find_at_hints(rule, text, lowered)
        for kind, value in detected(text, lowered):
            self.found.setdefault(value, kind)
        if self._personal and "@" in text:
            self._find(EMAIL, EMAIL.pattern.finditer(text), text)
        if self.found:
            # The longest first, so that a secret inside another does not spoil it.
            values = sorted(self.found, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(_standing_alone, values)))

    def clean(self, text: str) -> str:
        """A text with marks in the places of its secrets."""
        if not text or self._pattern is None:
            return text
        return self._pattern.sub(self._mark, text)

    def _find_at_hints(self, rule: Rule, text: str, lowered: str) -> None:
        """Try a rule only where a name that it is about stands."""
        for hint in rule.hints:
            self._find(rule, _matches_at(rule, hint, text, lowered), text)

    def _find(self, rule: Rule, matches: Iterable[re.Match[str]], text: str) -> None:
        group = "secret" if "secret" in rule.pattern.groupindex else 0
        for match in matches:
            value = match[group]
            if rule.guessed and PLACEHOLDER.fullmatch(value):
                continue
            if rule.before and match["key"] and not rule.before.search(text, *_before(match)):
                continue
            self.found.setdefault(value, rule.kind)

    def _mark(self, match: re.Match[str]) -> str:
        kind = self.found[match[0]]
        self.counts[kind] += 1
        return f"[redacted: {kind}]"


def _matches_at(rule: Rule, hint: str, text: str, lowered: str) -> Iterator[re.Match[str]]:
    """The matches that begin with a hint and do not lie in one another."""
    at = lowered.find(hint)
    while at >= 0:
        match = rule.pattern.match(text, at)
        if match:
            yield match
        at = lowered.find(hint, match.end() if match else at + 1)


def _before(match: re.Match[str]) -> tuple[int, int]:
    """Where the word lies that stands before a match."""
    return max(match.start() - 24, 0), match.start()


def _standing_alone(value: str) -> str:
    """A pattern of a secret that is not part of a longer word.

    A password that is a word itself is only taken out where it is a value, or every mention
    of `postgres` would go with `PASSWORD=postgres`.
    """
    before = r"(?<![A-Za-z0-9])" if value[:1].isalnum() else ""
    if value.isalpha() and len(value) < _WORD_LENGTH:
        return rf"(?:(?<=[=:\"'`]){value}(?![A-Za-z0-9])|(?<=: ){value}(?=[ \t]*(?:\n|\Z)))"
    after = r"(?![A-Za-z0-9])" if value[-1:].isalnum() else ""
    return f"{before}{re.escape(value)}{after}"


def _mapped(trajectory: Trajectory, redactor: _Redactor) -> Trajectory:
    clean = redactor.clean
    return replace(
        trajectory,
        task=clean(trajectory.task),
        environment=clean(trajectory.environment),
        steps=tuple(
            replace(
                step,
                thought=clean(step.thought),
                action=clean(step.action),
                observation=clean(step.observation),
            )
            for step in trajectory.steps
        ),
        outcome=replace(trajectory.outcome, reason=clean(trajectory.outcome.reason)),
        domain=clean(trajectory.domain),
        agent=clean(trajectory.agent),
        metadata={key: clean(value) for key, value in trajectory.metadata.items()},
    )
