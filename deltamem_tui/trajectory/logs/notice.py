"""What a reader reports beside episodes: why a record is refused, what is left out by design."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import overload

from deltamem_tui.errors import RecordError, on_one_line


@dataclass(frozen=True, slots=True)
class Notice:
    """The word about what is left out of a log by design. It is no error and rejects nothing.

    Attributes:
        message: What is left out, and why, without a final full stop.
        source: The log; None until it is known.
        position: Where in the log it begins (`line 3`), if known.
        hint: What else there is to know of it.
    """

    message: str
    source: str | None = None
    position: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        """The whole notice on one line, as errors are: `source, position: message (hint)`."""
        return on_one_line(self.message, self.source, self.position, self.hint)

    def located(self, source: str, position: str | None = None) -> Notice:
        """The same notice with its log and position, where it did not know them."""
        return replace(self, source=self.source or source, position=self.position or position)


Told = RecordError | Notice
"""What is told of a log beside its episodes."""


@overload
def located(told: RecordError, source: str, position: str | None = None) -> RecordError: ...
@overload
def located(told: Notice, source: str, position: str | None = None) -> Notice: ...
def located(told: Told, source: str, position: str | None = None) -> Told:
    """The same error or notice with its file and position, where it did not know them."""
    if isinstance(told, Notice):
        return told.located(source, position)
    found = RecordError(
        told.message,
        source=told.source or source,
        position=told.position or position,
        hint=told.hint,
    )
    found.format = told.format
    return found
