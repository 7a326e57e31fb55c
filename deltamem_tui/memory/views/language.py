"""What is typed to choose among many things of a kind: words and conditions.

Every condition must hold. So two on the same number become one, and what nothing can fit is
refused with its reason: an empty list would look like an answer.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from deltamem_tui.errors import UsageError
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LONGEST_FILTER = 1_000
"""Characters. To take a line apart takes a time that grows with the square of its length."""

_NUMBER = re.compile(r"(>=|<=|>|<|)(\d{1,9})")
_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})")
_NAME = re.compile(r"[a-z][a-z_-]*")
_ID = re.compile(r"[0-9a-f]{1,16}")
_ID_DIGITS = 4
"""Words of fewer digits are numbers in a text far more often than the beginning of an id."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A condition on a number, as it is typed: `3`, `>2`, `<=5`, `1-4`; several hold together.

    Attributes:
        text: What was typed, a blank between several.

    Raises:
        UsageError: It is not a condition, or no number fits it.
    """

    text: str

    def __post_init__(self) -> None:
        low, high = self._ends()
        if low > high:
            text = one_line(self.text.replace(" ", " and "), 60)
            raise UsageError(f"no number is {text}")

    def and_also(self, other: Bound) -> Bound:
        """Both conditions.

        Raises:
            UsageError: No number fits both.
        """
        return Bound(f"{self.text} {other.text}")

    def holds(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Where the condition holds. bool, in the values' shape."""
        low, high = self._ends()
        inside: NDArray[np.bool_] = (values >= low) & (values <= high)
        return inside

    def _ends(self) -> tuple[int, float]:
        """The least and the greatest number that fits; the numbers are counts."""
        ends = [_ends(part) for part in self.text.split(" ")]
        return max(0, *(low for low, _ in ends)), min(high for _, high in ends)


def _ends(text: str) -> tuple[int, float]:
    if between := _RANGE.fullmatch(text):
        return int(between[1]), int(between[2])
    if (found := _NUMBER.fullmatch(text)) is None:
        raise UsageError(
            f"{one_line(text, 20)!r} is not a condition on a number" if text else "which number?",
            hint="3, >2, <=5 or 1-4",
        )
    sign, number = found[1], int(found[2])
    low = {">": number + 1, ">=": number, "": number}.get(sign, 0)
    high = {"<": number - 1, "<=": number, "": number}.get(sign, math.inf)
    return low, high


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which things of a kind are shown. A kind has conditions of its own beside these.

    Attributes:
        words: Texts that the thing's own text must hold, upper and lower case alike; one of
            four hexadecimal digits or more may as well be the beginning of its id.
        id: The beginning of its id.
    """

    words: tuple[str, ...] = ()
    id: str | None = None

    @property
    def empty(self) -> bool:
        """Whether all are shown."""
        return self == type(self)()


WantedT = TypeVar("WantedT", bound=Wanted)

State = tuple[str, object]
"""An attribute of a filter, and the value that a state gives it."""


@dataclass(frozen=True, slots=True)
class Language(Generic[WantedT]):
    """The conditions that there are on things of one kind.

    Attributes:
        thing: What one of them is called.
        all: The filter that shows all of them.
        states: Per condition, the words that may follow it, and what each asks for. A `Bound`
            joins the other conditions on the number.
        numbers: The conditions on a number; a filter has an attribute of each name.
        help: What can be typed, for a person.
    """

    thing: str
    all: WantedT
    states: Mapping[str, Mapping[str, State]]
    numbers: tuple[str, ...]
    help: str

    def parse(self, text: str) -> WantedT:
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
        found = self.all
        for word in _split(text):
            found = self._with_word(found, word.casefold())
        return found

    def doubt_about(self, text: str) -> str:
        """What a person may have meant otherwise, as a sentence; empty if nothing.

        A word such as `depht:3` is sought in the texts. A person who misspelt a condition
        has to learn that.

        Args:
            text: A filter that can be read.
        """
        for word in _split(text):
            name, colon, value = word.casefold().partition(":")
            if colon and name not in self._names and _NAME.fullmatch(name):
                near = get_close_matches(name, self._names, n=1, cutoff=0.7)
                meant = f"; did you mean {near[0]}:{one_line(value, 20)}?" if near else ""
                return f"{one_line(word, 30)} is taken as words{meant}"
        return ""

    @property
    def _names(self) -> tuple[str, ...]:
        return (*self.states, *self.numbers, "id")

    def _with_word(self, found: WantedT, word: str) -> WantedT:
        name, colon, value = word.partition(":")
        if not colon or name not in self._names:
            return replace(found, words=(*found.words, word))
        if name in self.numbers:
            return _with_bound(found, name, value)
        if name == "id":
            return replace(found, id=_longer_id(found.id, _id(value)))
        return self._with_state(found, name, _state(name, value, self.states[name]))

    def _with_state(self, found: WantedT, name: str, state: str) -> WantedT:
        place, value = self.states[name][state]
        if isinstance(value, Bound):
            return _with_bound(found, place, value.text)
        known = getattr(found, place)
        if known not in (None, value):
            raise UsageError(f"no {self.thing} is both {known} and {state}", source=name)
        state_value: dict[str, Any] = {place: value}
        return replace(found, **state_value)


def _split(text: str) -> Sequence[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quotation mark that is still open while it is typed
        return text.replace('"', " ").replace("'", " ").split()


def _with_bound(found: WantedT, name: str, value: str) -> WantedT:
    try:
        known, bound = getattr(found, name), Bound(value)
        both: dict[str, Any] = {name: known.and_also(bound) if known else bound}
    except UsageError as error:
        error.source = name
        raise
    return replace(found, **both)


def _id(value: str) -> str:
    if not _ID.fullmatch(value):
        raise UsageError(
            f"{one_line(value, 20)!r} is not the beginning of one",
            source="id",
            hint="up to 16 of the digits 0-9 and a-f",
        )
    return value


def _longer_id(known: str | None, wanted: str) -> str:
    """What an id begins with that begins with both."""
    shorter, longer = sorted((known or "", wanted), key=len)
    if not longer.startswith(shorter):
        raise UsageError(f"no id begins with {shorter} and with {longer}", source="id")
    return longer


def _state(name: str, value: str, states: Mapping[str, State]) -> str:
    """The state whose name, or the beginning of it, was typed."""
    known = [state for state in states if value and state.startswith(value)]
    if len(known) != 1:
        message = (
            f"{one_line(value, 20)!r} may be more than one"
            if known
            else (f"there is no {one_line(value, 20)!r}" if value else "which one?")
        )
        *others, last = known or states
        raise UsageError(message, source=name, hint=f"{', '.join(others)} or {last}")
    return known[0]


def may_be_id(word: str) -> bool:
    """Whether a word may as well be the beginning of an id."""
    return len(word) >= _ID_DIGITS and _ID.fullmatch(word) is not None
