"""Secrets out of an episode, before anything else sees it.

Almost every text holds none, so first a few cheap looks decide whether a text could hold
one: a run of sixteen letters and digits, a password named, an address with an @.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from deltamem_tui.trajectory.model import LogSource, Trajectory
from deltamem_tui.trajectory.secret_commands import PROGRAMS
from deltamem_tui.trajectory.secret_detectors import detected
from deltamem_tui.trajectory.secret_files import PRIVATE_KEY
from deltamem_tui.trajectory.secret_places import PLACES
from deltamem_tui.trajectory.secret_rules import (
    BETWEEN_TEXTS,
    EMAIL,
    SIGNS_IN_NAMES,
    TOKEN_PLACEHOLDER,
    Rule,
)
from deltamem_tui.trajectory.secret_search import SearchedText
from deltamem_tui.trajectory.secret_settings import SHORT_NAME
from deltamem_tui.trajectory.secret_tokens import STANDS_ALONE, TOKENS, long_words

_TOKEN_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/")
# Every byte of a token becomes `a`, every other a blank: a long run is then found by a plain
# search, ten times faster than by a pattern.
_AS_RUNS = bytes(97 if byte in _TOKEN_BYTES else 32 for byte in range(256))
RUN_LENGTH = 16
"""How many letters and digits on end are worth a closer look."""
_RUN = b"a" * RUN_LENGTH
_SHORTEST_SMALL_TOKEN = 32
# Ids and file names are made of words with dashes, so those count as blanks there.
_NAMES_AS_RUNS = bytes(32 if byte in b"_-/" else kind for byte, kind in enumerate(_AS_RUNS))
_KEY = re.compile(r"sk-[\w-]{16}")  # so many follow in every key, and few in `Desk-307`
_LONG_NOTE = 500
_WORD = re.compile(r"[A-Z]+|[A-Z]?[a-z]+(?:[A-Z][a-z]+){0,3}")
_WORD_LENGTH = 20  # no word is longer
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


def may_hold_secrets(text: str | bytes) -> bool:
    """Whether a text, or its bytes in UTF-8, is worth a closer look.

    One that holds a secret always is; so is its JSON. It takes about as long as writing the
    text into memory twice.
    """
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    if b"@" in data and b"://" in data:
        return True
    if not all(map(_is_word, _long_runs(data))):
        return True
    lowered = data.lower()
    # Points and tildes may cut this one into short pieces.
    if b"~" in data and b"q~" in lowered:
        return True
    if b"pass" in lowered or (b"/" in data and b"curl " in lowered):
        return True
    # A single byte is found ten times faster than a word.
    if b"-" in data and b" -" in data and any(map(lowered.__contains__, PROGRAMS)):
        return True
    equals = b"=" in data
    if equals and (b"secret" in lowered or b"authorization" in lowered or b"psk" in lowered):
        return True
    if (b"!" in data or b"@" in data or b"#" in data) and b"credential" in lowered:
        return True
    if b"'" in data and (b";" in data or b"@" in data) and b"identified" in lowered:
        return True
    if not (equals or b'"' in data or b"'" in data) or b"pw" not in lowered:
        return False
    return SHORT_NAME.search(lowered) is not None


def kinds_of_secrets(text: str) -> tuple[str, ...]:
    """The kinds of secrets that a text holds; none for almost every text."""
    if not may_hold_secrets(text):
        return ()
    redactor = _Redactor(personal=False)
    redactor.learn(text)
    return tuple(sorted(set(redactor.found.values())))


def _long_runs(data: bytes) -> Iterator[bytes]:
    """The runs of bytes of tokens that are long enough for one."""
    runs = data.translate(_AS_RUNS)
    start = runs.find(_RUN)
    while start >= 0:
        end = runs.find(b" ", start)
        yield data[start : end if end >= 0 else None]
        start = runs.find(_RUN, end) if end >= 0 else -1


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
    if any(sign in lowered for sign in SIGNS_IN_NAMES):
        return True
    return "sk-" in lowered and _KEY.search(lowered) is not None


def _texts(trajectory: Trajectory) -> list[str]:
    """All of the episode's own texts."""
    parts = [trajectory.task, trajectory.environment]
    for step in trajectory.steps:
        parts += (step.thought, step.action, step.observation)
    return parts


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
        self._places: defaultdict[str, set[str]] = defaultdict(set)
        self._pattern: re.Pattern[str] | None = None

    def learn(self, text: str) -> None:
        """Find the secrets of a text, the surest kinds first, beside those found before."""
        searched = SearchedText(text)
        text, lowered = searched.text, searched.lowered
        self._find(PRIVATE_KEY, searched.matches(PRIVATE_KEY), text)
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
        if self.found:
            # The longest first, so that a secret inside another does not spoil it.
            values = sorted(self.found, key=len, reverse=True)
            patterns = (each for value in values for each in self._patterns_of(value))
            self._pattern = re.compile("|".join(patterns))

    def clean(self, text: str, before: str = "") -> str:
        """A text with marks in the places of its secrets.

        Args:
            text: The text.
            before: What it stands behind, for a secret that is known by that only.
        """
        if not text or self._pattern is None:
            return text
        whole, end = before + text, len(before)
        parts: list[str] = []
        for match in self._pattern.finditer(whole, end):
            parts += (whole[end : match.start()], self._mark(match))
            end = match.end()
        return "".join((*parts, whole[end:]))

    def _find(self, rule: Rule, matches: Iterable[re.Match[str]], text: str) -> None:
        group = "secret" if "secret" in rule.pattern.groupindex else 0
        for match in matches:
            start, end = match.span(group)
            value = text[start:end]
            if rule.placeholder and rule.placeholder.fullmatch(value):
                continue
            if rule.before and match["key"] and not rule.before.search(text, *_before(match)):
                continue
            # The mark of a secret found before names its kind, and is no name of another.
            if _IN_A_MARK.search(text, max(match.start() - 52, 0), match.start()):
                continue
            self.found.setdefault(value, rule.kind)
            if match.span() != (start, end) and not _stands_alone(value, text, start):
                before = text[max(match.start(), start - _AROUND) : start]
                self._places[value].add(_between(before, value, text[end : match.end()][:_AROUND]))

    def _patterns_of(self, value: str) -> list[str]:
        """Patterns of a secret: of its mentions, and of the very places where it was found."""
        return [_standing_alone(value), *sorted(self._places.get(value, ()))]

    def _mark(self, match: re.Match[str]) -> str:
        kind = self.found[match[0]]
        self.counts[kind] += 1
        return f"[redacted: {kind}]"


def _before(match: re.Match[str]) -> tuple[int, int]:
    """Where the word lies that stands before a match."""
    return max(match.start() - 24, 0), match.start()


def _standing_alone(value: str) -> str:
    """A pattern of a secret that is not part of a longer word.

    A password that is a word itself is only taken out where it is a value (and where it was
    found), or every mention of `postgres` would go with `PASSWORD=postgres`.
    """
    before = rf"(?:{STANDS_ALONE}|(?<= -p))" if value[:1].isalnum() else ""
    if _WORD.fullmatch(value) and len(value) < _WORD_LENGTH:
        return rf"(?:(?<=[=:\"'`]){value}(?![A-Za-z0-9])|(?<=[:=] ){value}(?=[ \t]*(?:\n|\Z)))"
    after = r"(?![A-Za-z0-9])" if value[-1:].isalnum() else ""
    return f"{before}{re.escape(value)}{after}"


def _stands_alone(value: str, text: str, start: int) -> bool:
    """Whether a secret would be taken out at a place of a text, whatever is around it."""
    return re.compile(_standing_alone(value)).match(text, start) is not None


def _between(before: str, value: str, after: str) -> str:
    """A pattern of a secret between what it was found between."""
    return rf"(?<={re.escape(before)}){re.escape(value)}(?={re.escape(after)})"


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
