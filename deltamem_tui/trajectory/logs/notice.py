"""What a reader reports beside episodes: why a record is refused, what is left out by design."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import overload

from deltamem_tui.errors import RecordError, on_one_line


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice of what is left out of a log by design. It is not an error and rejects nothing.

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


Remark = RecordError | Notice
"""What is reported of a log beside its episodes."""


@overload
def located(remark: RecordError, source: str, position: str | None = None) -> RecordError: ...
@overload
def located(remark: Notice, source: str, position: str | None = None) -> Notice: ...
def located(remark: Remark, source: str, position: str | None = None) -> Remark:
    """The same error or notice with its file and position, where it did not know them."""
    if isinstance(remark, Notice):
        return remark.located(source, position)
    found = RecordError(
        remark.message,
        source=remark.source or source,
        position=remark.position or position,
        hint=remark.hint,
    )
    found.format = remark.format
    return found
