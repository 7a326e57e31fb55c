"""Finds secrets in texts and replaces them by marks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from deltamem_tui.text import one_line
from deltamem_tui.trajectory.secrets.patterns import PRIVATE_KEY, Found, tokens_in, values_in

QUOTED = 4096
"""The most characters that are searched, of a text of which a report shows far fewer."""
EMAIL = "e-mail address"

_BETWEEN_TEXTS = "\n\0\n"  # no secret begins in one text and ends in another
_AROUND = 32  # characters before a secret by which its place is known again
_SHORTEST = 8  # a shorter secret is removed in its own places only: elsewhere it is another word
_LINE = re.compile(r"[A-Za-z0-9+/=]{40,90}")
_BLANKS = re.compile(r"\s|\\[nrt]")
_MARK = re.compile(r"\[redacted: [a-z0-9 -]{1,40}\]")
_KEY_MARKS = re.compile(
    rf"(\[redacted: {PRIVATE_KEY}\])(?:(?:\s|\\[nrt]|\d+[\t:|])*\[redacted: {PRIVATE_KEY}\])+"
)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.)+[^\W\d_]{2,24}(?![\w@])")
_HOSTS = re.compile(r"(?:://|^git@|(?<=\s)git@)|@[\w.-]+:[\w~/]")


def may_hold_secrets(text: str | bytes) -> bool:
    """Return True if a text, or its bytes in UTF-8, holds a secret."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return next(tokens_in(data), None) is not None or next(values_in(data), None) is not None


def kinds_of_secrets(text: str) -> tuple[str, ...]:
    """Return the kinds of secrets in a text; none for almost every text."""
    redactor = Redactor(personal=False)
    redactor.learn([text])
    return tuple(sorted(redactor.kinds))


def without_secrets(text: str) -> str:
    """Return a text with marks in the places of its secrets; the same one if it holds none."""
    redactor = Redactor(personal=False)
    redactor.learn([text])
    return redactor.clean(text)


def quoted(text: str, width: int) -> str:
    """Return the beginning of a text of a log, as a report may show it: one line, no secrets."""
    return one_line(without_secrets(text[:QUOTED]), width)


class Redactor:
    """Finds the secrets of texts that belong together, and removes them wherever they occur.

    Attributes:
        counts: Numbers of mentions that were removed, by kind.
    """

    def __init__(self, *, personal: bool) -> None:
        self.counts: Counter[str] = Counter()
        self._personal = personal
        self._everywhere: dict[str, str] = {}
        self._in_places: dict[tuple[str, str], str] = {}  # by what is before a secret, and it
        self._pattern: re.Pattern[str] | None = None

    @property
    def kinds(self) -> set[str]:
        """The kinds of secrets that were found."""
        return {*self._everywhere.values(), *self._in_places.values()}

    def learn(self, texts: Iterable[str]) -> None:
        """Find the secrets in some texts."""
        text = _BETWEEN_TEXTS.join(texts)
        data = text.encode("utf-8", "surrogatepass")
        for token, kind in tokens_in(data):
            self._everywhere[_decoded(token)] = kind
        for found in values_in(data):
            self._add(found, data)
        if self._personal and "@" in text:
            for match in _EMAIL.finditer(text):
                around = text[max(match.start() - 4, 0) : match.end() + 2]
                if not _HOSTS.search(around):
                    self._everywhere.setdefault(match[0], EMAIL)
        self._pattern = None

    def _add(self, found: Found, data: bytes) -> None:
        value = _decoded(data[found.start : found.end])
        before = _decoded(data[max(found.begin, found.start - _AROUND) : found.start])
        if _MARK.search(value) or before.endswith("[redacted: "):
            return
        if found.kind == PRIVATE_KEY:
            self._everywhere[value] = PRIVATE_KEY
            lines = filter(_LINE.fullmatch, _BLANKS.split(value))
            self._everywhere |= dict.fromkeys(lines, PRIVATE_KEY)
        elif len(value) >= _SHORTEST and not value.isalpha() and not value.isdigit():
            self._everywhere.setdefault(value, found.kind)
        elif value not in self._everywhere:
            self._in_places[before, value] = found.kind

    def clean(self, text: str, before: str = "") -> str:
        """Return a text with marks in the places of the secrets that were found.

        What is `before` it, such as a name, may give away that it is one.
        """
        if not text or not (self._everywhere or self._in_places):
            return text
        if self._pattern is None:
            self._pattern = self._compiled()
        names = {value: kind for (_, value), kind in self._in_places.items()}
        if text in names:  # an argument of a call that is a secret by its name
            self.counts[names[text]] += 1
            return f"[redacted: {names[text]}]"
        names |= self._everywhere

        def mark(match: re.Match[str]) -> str:
            return f"[redacted: {names[match[0]]}]"

        marked = self._pattern.sub(mark, before + text)
        marked = _KEY_MARKS.sub(r"\1", marked)
        marked = marked.removeprefix(before)
        if marked != text:
            kinds = Counter(found[11:-1] for found in _MARK.findall(marked))
            kinds.subtract(found[11:-1] for found in _MARK.findall(text))
            self.counts.update({kind: n for kind, n in kinds.items() if n > 0})
        return marked

    def _compiled(self) -> re.Pattern[str]:
        longest_first = sorted(self._everywhere, key=len, reverse=True)
        parts = [re.escape(value) for value in longest_first]
        parts += [
            rf"(?<={re.escape(before)}){re.escape(value)}(?![A-Za-z0-9])"
            for before, value in self._in_places
        ]
        return re.compile("|".join(parts))


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")
