"""What is typed to choose among many things of a kind: words and conditions.

Every condition must hold. So two on the same number become one, and what nothing can fit is
refused with its reason: an empty list would look like an answer.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from deltamem_tui.errors import UsageError
from deltamem_tui.memory.views.occurrences import fold
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LONGEST_FILTER = 1_000
"""Characters. To take a line apart takes a time that grows with the square of its length."""

_NUMBER = re.compile(r"(>=|<=|>|<|)(\d{1,9})")
_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})")
_SHARE = re.compile(r"(>=|<=|>|<|)(\d?\.\d{1,6}|[01])")
_SHARE_RANGE = re.compile(r"(\d?\.\d{1,6}|[01])-(\d?\.\d{1,6}|[01])")
_NAME = re.compile(r"[a-z][a-z_-]*")
_ID = re.compile(r"[0-9a-f]{1,16}")
_ID_DIGITS = 4  # words of fewer digits are numbers far more often than the beginning of an id
_CHECKED_EVERY = 256


@dataclass(frozen=True, slots=True)
class Bound:
    """A condition on a count, from `low` to `high`.

    Raises:
        UsageError: No count fits it.
    """

    low: float
    high: float
    text: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if max(0, self.low) > self.high:
            raise UsageError(f"no number is {one_line(self.text, 60)}")

    @classmethod
    def parse(cls, text: str) -> Bound:
        """A condition as it is typed: `3`, `>2`, `<=5`, `1-4`.

        Raises:
            UsageError: It is not a condition, or no count fits it.
        """
        if between := _RANGE.fullmatch(text):
            return cls(int(between[1]), int(between[2]), text)
        if (found := _NUMBER.fullmatch(text)) is None:
            raise UsageError(
                f"{one_line(text, 20)!r} is not a condition on a number"
                if text
                else "which number?",
                hint="3, >2, <=5 or 1-4",
            )
        sign, number = found[1], int(found[2])
        low = {">": number + 1, ">=": number, "": number}.get(sign, 0)
        high = {"<": number - 1, "<=": number, "": number}.get(sign, math.inf)
        return cls(low, high, text)

    @classmethod
    def of_share(cls, text: str) -> Bound:
        """A condition on a share from 0 to 1 as it is typed: `<.5`, `>=0.8`, `.2-.4`.

        Raises:
            UsageError: It is not a condition, or no share fits it.
        """
        if between := _SHARE_RANGE.fullmatch(text):
            return cls(float(between[1]), float(between[2]), text)
        if (found := _SHARE.fullmatch(text)) is None:
            raise UsageError(
                f"{one_line(text, 20)!r} is not a condition on a share" if text else "which share?",
                hint="<.5, >=.8 or .2-.4",
            )
        sign, share = found[1], float(found[2])
        low = {">": math.nextafter(share, 2), ">=": share, "": share}.get(sign, 0)
        high = {"<": math.nextafter(share, -1), "<=": share, "": share}.get(sign, 1)
        return cls(low, high, text)

    def and_also(self, other: Bound) -> Bound:
        """Both conditions.

        Raises:
            UsageError: No count fits both.
        """
        text = f"{self.text} and {other.text}"
        return Bound(max(self.low, other.low), min(self.high, other.high), text)

    def holds(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Where the condition holds. bool, in the values' shape."""
        inside: NDArray[np.bool_] = (values >= self.low) & (values <= self.high)
        return inside


class State(NamedTuple):
    """The values of a column that a word stands for."""

    column: str
    values: tuple[int, ...]


class FilteredTable(Protocol):
    """What a filter is applied to."""

    @property
    def ids(self) -> NDArray[np.bytes_]:
        """The ids. [rows]."""

    def column(self, name: str) -> NDArray[Any]:
        """The values that a condition looks at, as numbers. [rows]."""

    def texts(self, rows: NDArray[np.int64]) -> Iterable[str]:
        """All texts of each of some rows."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which things of a kind are shown. Every condition must hold.

    Attributes:
        words: Texts that the thing's own text must hold, upper and lower case alike; one of
            four hexadecimal digits or more may as well be the beginning of its id.
        id: The beginning of its id.
        states: Per column, the values that it may have, and the word that was typed for them.
        bounds: Per column, a condition on the number.
    """

    words: tuple[str, ...] = ()
    id: str = ""
    states: Mapping[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    bounds: Mapping[str, Bound] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """Whether all are shown."""
        return self == Filter()

    def matching(
        self, table: FilteredTable, shown: NDArray[np.bool_], stopped: Callable[[], bool]
    ) -> NDArray[np.bool_]:
        """Where the filter holds. bool [rows].

        Words are sought only in the rows that all other conditions leave.

        Only rows that are `shown`, bool [rows], are looked at, and none any more once `stopped`
        returns True.
        """
        import numpy as np

        kept = shown & _ids_begin(table.ids, self.id)
        for name, (_, values) in self.states.items():
            kept &= np.isin(table.column(name), values)
        for name, bound in self.bounds.items():
            kept &= bound.holds(table.column(name))
        if not self.words:
            return kept
        by_id = {word: _ids_begin(table.ids, word) for word in self.words if _may_be_id(word)}

        def holds(row: int, text: str) -> bool:
            return all(word in text or (word in by_id and by_id[word][row]) for word in self.words)

        left = np.flatnonzero(kept)
        for start in range(0, len(left), _CHECKED_EVERY):
            if stopped():
                break
            rows = left[start : start + _CHECKED_EVERY]
            kept[rows] = [*map(holds, rows.tolist(), map(fold, table.texts(rows)))]
        return kept


def _may_be_id(word: str) -> bool:
    return len(word) >= _ID_DIGITS and _ID.fullmatch(word) is not None


def _ids_begin(ids: NDArray[np.bytes_], prefix: str) -> NDArray[np.bool_]:
    start = prefix.encode()
    begins: NDArray[np.bool_] = (ids >= start) & (ids < start + b"\xff")
    return begins


@dataclass(frozen=True, slots=True)
class Language:
    """The conditions that there are on things of one kind.

    Attributes:
        thing: What one of them is called.
        states: Per condition, the words that may follow it, and what each asks for.
        numbers: The conditions on a number, each named as its column.
        help: What can be typed, for a person.
        shares: The conditions on a share from 0 to 1, each named as its column.
    """

    thing: str
    states: Mapping[str, Mapping[str, State | tuple[str, Bound]]]
    numbers: tuple[str, ...]
    help: str
    shares: tuple[str, ...] = ()

    def parse(self, text: str) -> Filter:
        """Read a filter as a person types it; see `help`.

        Raises:
            UsageError: A condition has a value that it cannot have; or the text is longer
                than `LONGEST_FILTER`.
        """
        if len(text) > LONGEST_FILTER:
            raise UsageError(
                f"{len(text):,} characters are too many for a filter",
                hint=f"at most {LONGEST_FILTER:,}",
            )
        found = Filter()
        for word in _split(text):
            name, colon, value = fold(word).partition(":")
            if not colon or name not in self._names:
                found = replace(found, words=(*found.words, fold(word)))
                continue
            try:
                found = self._with_condition(found, name, value)
            except UsageError as error:
                error.source = name
                raise
        return found

    def doubt_about(self, text: str) -> str:
        """What a person may have meant otherwise, as a sentence; empty if nothing.

        A word such as `depht:3` is sought in the texts. A person who misspelt a condition
        has to learn that.
        """
        for word in _split(text):
            name, colon, value = fold(word).partition(":")
            if colon and name not in self._names and _NAME.fullmatch(name):
                near = get_close_matches(name, self._names, n=1, cutoff=0.7)
                meant = f"; did you mean {near[0]}:{one_line(value, 20)}?" if near else ""
                return f"{one_line(word, 30)} is taken as words{meant}"
        return ""

    @property
    def _names(self) -> tuple[str, ...]:
        return (*self.states, *self.numbers, *self.shares, "id")

    def _with_condition(self, found: Filter, name: str, value: str) -> Filter:
        if name == "id":
            return replace(found, id=_longer_id(found.id, value))
        if name in self.numbers:
            return _with_bound(found, name, Bound.parse(value))
        if name in self.shares:
            return _with_bound(found, name, Bound.of_share(value))
        word = _chosen(value, self.states[name])
        column, asked = self.states[name][word]
        if isinstance(asked, Bound):
            return _with_bound(found, column, asked)
        before, known = found.states.get(column, (word, asked))
        both = tuple(each for each in asked if each in known)
        if not both:
            raise UsageError(f"no {self.thing} is both {before} and {word}")
        return replace(found, states={**found.states, column: (word, both)})


def _split(text: str) -> Sequence[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quotation mark that is still open while it is typed
        return text.replace('"', " ").replace("'", " ").split()


def _with_bound(found: Filter, name: str, bound: Bound) -> Filter:
    known = found.bounds.get(name)
    both = known.and_also(bound) if known else bound
    return replace(found, bounds={**found.bounds, name: both})


def _longer_id(known: str, wanted: str) -> str:
    """What an id begins with that begins with both."""
    if not _ID.fullmatch(wanted):
        raise UsageError(
            f"{one_line(wanted, 20)!r} is not the beginning of one",
            hint="up to 16 of the digits 0-9 and a-f",
        )
    shorter, longer = sorted((known, wanted), key=len)
    if not longer.startswith(shorter):
        raise UsageError(f"no id begins with {shorter} and with {longer}")
    return longer


def _chosen(value: str, words: Mapping[str, object]) -> str:
    """The word that was typed, or the beginning of it."""
    known = [word for word in words if value and word.startswith(value)]
    if len(known) == 1:
        return known[0]
    if known:
        message = f"{one_line(value, 20)!r} may be more than one"
    else:
        message = f"there is no {one_line(value, 20)!r}" if value else "which one?"
    *others, last = known or words
    raise UsageError(message, hint=f"{', '.join(others)} or {last}")
