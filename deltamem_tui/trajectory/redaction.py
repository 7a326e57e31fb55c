"""Secrets out of an episode, before anything else sees it.

Almost every text holds none, so first a few cheap looks decide whether a text could hold
one: a run of sixteen letters and digits, a password named, an address with an @.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from deltamem_tui.trajectory.model import LogSource, Trajectory
from deltamem_tui.trajectory.secret_detectors import detected
from deltamem_tui.trajectory.secret_rules import (
    ASSIGNMENTS,
    EMAIL,
    PRIVATE_KEY,
    SIGNS_IN_NAMES,
    TOKEN_PLACEHOLDER,
    Rule,
)
from deltamem_tui.trajectory.secret_tokens import LONG_WORD, TOKENS

_TOKEN_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/")
# Every byte of a token becomes `a`, every other a blank: a long run is then found by a plain
# search, ten times faster than by a pattern.
_AS_RUNS = bytes(97 if byte in _TOKEN_BYTES else 32 for byte in range(256))
_RUN = b"a" * 16
_LONG_RUN = re.compile(rb"[A-Za-z0-9_+/-]{16,}")
_SHORTEST_SMALL_TOKEN = 32
# Ids and file names are made of words with dashes, so those count as blanks there.
_NAMES_AS_RUNS = bytes(32 if byte in b"_-/" else kind for byte, kind in enumerate(_AS_RUNS))
_LONG_NOTE = 500
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

    Searched are all its texts, and what it is known by: the file it was read from, domain,
    agent, and the names and values of its metadata. A secret becomes `[redacted: kind]`. One
    that was found once is taken out wherever else it stands in the episode.

    Args:
        trajectory: The episode.
        personal: Take out e-mail addresses too.
    """
    text, notes = _joined(trajectory), _notes(trajectory)
    redactor = _Redactor(personal=personal)
    if may_hold_secrets(text) or (personal and "@" in text):
        redactor.learn(text)
    if names_may_hold_secrets(notes) or (personal and any("@" in note for note in notes)):
        redactor.learn("\n".join(notes))
    if not redactor.found:
        return trajectory, NOTHING
    clean = _mapped(trajectory, redactor)
    return clean, Redactions(dict(sorted(redactor.counts.items())))


def may_hold_secrets(text: str | bytes) -> bool:
    """Whether a text, or its bytes in UTF-8, is worth a closer look.

    One that holds a secret always is; so is its JSON. It takes about as long as writing the
    text into memory twice.
    """
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    if b"@" in data and b"://" in data:
        return True
    if _RUN in data.translate(_AS_RUNS) and not all(map(_is_word, _LONG_RUN.findall(data))):
        return True
    lowered = data.lower()
    if b"pass" in lowered or (b"/" in data and b"curl " in lowered):
        return True
    # A single byte is found four times faster than three.
    dashes = b"-" in data and b" -p" in data
    if dashes and (b"mysql" in lowered or b"docker login" in lowered):
        return True
    return b"pw" in lowered and (b"pwd" in lowered or b"pw=" in lowered)


def kinds_of_secrets(text: str) -> tuple[str, ...]:
    """The kinds of secrets that a text holds; none for almost every text."""
    if not may_hold_secrets(text):
        return ()
    redactor = _Redactor(personal=False)
    redactor.learn(text)
    return tuple(sorted(set(redactor.found.values())))


def _is_word(run: bytes) -> bool:
    """Whether a long run is a word such as `toiletpaperhanger`: no token has small letters only."""
    return run.isalpha() and run.islower() and len(run) < _SHORTEST_SMALL_TOKEN


def names_may_hold_secrets(notes: Iterable[str]) -> bool:
    """The same of file names, ids and other short notes.

    Those are made of words with dashes, which look like tokens to `may_hold_secrets`.
    """
    return any(map(_name_may_hold_secrets, notes))


# The episodes of a log have most of their notes in common.
@lru_cache(maxsize=4096)
def _name_may_hold_secrets(note: str) -> bool:
    if len(note) > _LONG_NOTE or "@" in note:
        return may_hold_secrets(note)
    if _RUN in note.encode("utf-8", "surrogatepass").translate(_NAMES_AS_RUNS):
        return True
    lowered = note.lower()
    return any(sign in lowered for sign in SIGNS_IN_NAMES)


def _joined(trajectory: Trajectory) -> str:
    """All of the episode's text; like its `text`, but faster since blanks may stay."""
    parts = [trajectory.task, trajectory.environment]
    for step in trajectory.steps:
        parts += (step.thought, step.action, step.observation)
    return "\n".join(parts)


def _notes(trajectory: Trajectory) -> list[str]:
    source = trajectory.source
    texts = (trajectory.outcome.reason, trajectory.domain, trajectory.agent)
    return notes_of(
        *texts, source.file, source.position, source.format, metadata=trajectory.metadata
    )


def notes_of(*texts: str, metadata: Mapping[str, str]) -> list[str]:
    """All that is not the episode's own text.

    A value stands behind its name, since some are known as secrets by their names only. A
    name that says more than a word is there alone too: it may have its own secret in it.
    """
    names = [key for key in metadata if not key.isidentifier()]
    return [*texts, *names, *(f"{key}={value}" for key, value in metadata.items())]


class _Redactor:
    """Finds the secrets of one episode, and takes them out of its texts."""

    def __init__(self, *, personal: bool) -> None:
        self.found: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self._personal = personal
        self._pattern: re.Pattern[str] | None = None

    def learn(self, text: str) -> None:
        """Find the secrets of a text, the surest kinds first, beside those found before."""
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
            if not TOKEN_PLACEHOLDER.fullmatch(value):
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
            if rule.placeholder and rule.placeholder.fullmatch(value):
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
    before = r"(?:(?<![A-Za-z0-9])|(?<= -p))" if value[:1].isalnum() else ""
    if value.isalpha() and len(value) < _WORD_LENGTH:
        return rf"(?:(?<=[=:\"'`]){value}(?![A-Za-z0-9])|(?<=: ){value}(?=[ \t]*(?:\n|\Z)))"
    after = r"(?![A-Za-z0-9])" if value[-1:].isalnum() else ""
    return f"{before}{re.escape(value)}{after}"


def _mapped(trajectory: Trajectory, redactor: _Redactor) -> Trajectory:
    clean, source = redactor.clean, trajectory.source
    return replace(
        trajectory,
        task=clean(trajectory.task),
        environment=clean(trajectory.environment),
        steps=tuple(step.with_texts(clean) for step in trajectory.steps),
        outcome=replace(trajectory.outcome, reason=clean(trajectory.outcome.reason)),
        source=LogSource(clean(source.file), clean(source.position), clean(source.format)),
        domain=clean(trajectory.domain),
        agent=clean(trajectory.agent),
        metadata={clean(key): clean(value) for key, value in trajectory.metadata.items()},
    )
