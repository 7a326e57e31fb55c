"""What a log is made of: JSON values, parsed or not, lines of text, and how it begins."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

from msgspec import Struct

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.layout import Layout

_ENTRIES_EACH = 500
_ENTRIES_IN_ALL = 10_000


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON value of a log, and where a person would look it up (`line 3`, `record 7`)."""

    value: object
    position: str


class Value(Struct, frozen=True, gc=False):
    """One JSON value of a log as its bytes, not parsed yet, and where it begins."""

    data: bytes
    position: str


class TextLine(Struct, frozen=True, gc=False):
    """One line of a text log.

    Attributes:
        number: Counted from 1, in the part of the log named by `within`.
        text: The line without its line break.
        within: The part of the log it stands in (`cell 8`); empty for the whole.
    """

    number: int
    text: str
    within: str = ""

    @property
    def position(self) -> str:
        """Where it stands, as a person would look it up."""
        return f"{self.within}, line {self.number}" if self.within else f"line {self.number}"


@dataclass(frozen=True, slots=True)
class Preview:
    """What a reader sees of a log when asked how sure it is.

    Attributes:
        layout: How the content is laid out.
        head: The first 64 KB as text; of a zip archive the names of its members.
        records: The first few JSON values, if it is JSON; those that do not parse are absent.
        refusals: Those of the first few that cannot be read.
    """

    layout: Layout
    head: str
    records: tuple[object, ...] = ()
    refusals: tuple[RecordError, ...] = ()


def sampled(value: object) -> object:
    """Return a value with the first entries of its wide objects and lists, upper levels first.

    Detection looks at values many times over, so what it looks at is bounded.
    """
    top: list[Any] = [value]
    waiting: list[Any] = [top]
    left, is_cut = _ENTRIES_IN_ALL, False
    for container in waiting:  # grows while it is walked
        entries = container.items() if isinstance(container, dict) else enumerate(container)
        for key, inner in [*entries]:
            if not isinstance(inner, dict | list):
                continue
            count = min(len(inner), left, _ENTRIES_EACH)
            left, is_cut = left - count, is_cut or count < len(inner)
            container[key] = (
                dict(islice(inner.items(), count)) if isinstance(inner, dict) else inner[:count]
            )
            waiting.append(container[key])
    return top[0] if is_cut else value
