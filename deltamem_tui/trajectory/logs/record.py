"""What a log is made of: JSON values, parsed or not, lines of text, and how it begins."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Struct

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.layout import Layout


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
