"""Parts of a log: JSON values, parsed or not, lines of text, and how it begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal, TypeVar

from msgspec import Struct

from deltamem_tui.errors import RecordError, on_one_line

Layout = Literal["lines", "array", "values", "text", "tables", "binary", "empty"]


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice of what is left out of a log by design. It is not an error and rejects nothing.

    It has the fields of a `RecordError`; `source`, the log, is None until it is known.
    """

    message: str
    source: str | None = None
    position: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        return on_one_line(self.message, self.source, self.position, self.hint)


Remark = RecordError | Notice
"""Reports about a log beside its episodes."""
_R = TypeVar("_R", bound=RecordError | Notice)


def located(remark: _R, source: str, position: str | None = None) -> _R:
    """Return the same error or notice with its file and position, where it did not know them."""
    source, position = remark.source or source, remark.position or position
    if isinstance(remark, Notice):
        return replace(remark, source=source, position=position)
    found = copy(remark)
    found.source, found.position = source, position
    return found


class ReadProgress:
    """Counts the bytes of logs; `advance` is called with what was read since its last call."""

    def __init__(self) -> None:
        self.total = 0
        self.advance: Callable[[int], object] = lambda _: None
        self._left = 0

    def expect(self, size: int) -> None:
        """There is a log of this size to be read."""
        self.total += size

    def begin(self, size: int) -> None:
        """Note that another log, of this size, is read from now on."""
        self._left = size

    def read(self, count: int) -> None:
        """So many more bytes of the log at hand were read, for the first time or again."""
        more = min(count, self._left)
        if more:
            self._left -= more
            self.advance(more)

    def finish(self) -> None:
        """Note that the log is done, read to its end or not."""
        self.read(self._left)


@dataclass(frozen=True, slots=True)
class LogLimits:
    """Sizes beyond which a log or a part of it is refused.

    Attributes:
        record_bytes: The longest line, or JSON value, that is held in memory at once.
        session_bytes: How much of a log is held in memory where records belong together.
        piped_bytes: How much of a pipe is copied to the disk.
        field_characters: The longest single text of an episode (an observation, a thought, …).
        nesting: How deep JSON values may be nested: half of what Python's own stack bears.
        expansion: How many times larger than its file a compressed log may become …
        expansion_free_bytes: … once this many bytes have come out of it.
    """

    record_bytes: int = 64 * 1024 * 1024
    session_bytes: int = 512 * 1024 * 1024
    piped_bytes: int = 8 * 1024 * 1024 * 1024
    field_characters: int = 4_000_000
    nesting: int = 500
    expansion: int = 200
    expansion_free_bytes: int = 64 * 1024 * 1024


DEFAULT_LIMITS = LogLimits()


def human_size(count: int) -> str:
    """Return a number of bytes as people write it: `64 MB`, `900 bytes`."""
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"


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
    """One line of a text log, and where it is (`line 3`)."""

    text: str
    position: str


@dataclass(frozen=True, slots=True)
class Preview:
    """The view of a log for a reader that is asked how sure it is.

    `head` is the first 64 KB as text; `records` are the
    first few JSON values, and `refusals` those of them that cannot be read. `tables` are the
    columns of a database's tables, by name.
    """

    layout: Layout
    head: str
    records: tuple[object, ...] = ()
    refusals: tuple[RecordError, ...] = ()
    tables: Mapping[str, list[str]] = field(default_factory=dict)


def sampled(value: object) -> object:
    """Cut a value's wide objects and lists to their first entries, upper levels first."""
    top: list[Any] = [value]
    waiting: list[Any] = [top]
    left = _ENTRIES_IN_ALL
    for container in waiting:  # grows while it is walked
        pairs = [*container.items()] if isinstance(container, dict) else enumerate(container)
        for key, inner in pairs:
            if type(inner) is not dict and type(inner) is not list:
                continue
            count = min(len(inner), left, _ENTRIES_EACH)
            left -= count
            if count < len(inner):
                some = islice(inner.items(), count) if isinstance(inner, dict) else inner[:count]
                container[key] = type(inner)(some)
            waiting.append(container[key])
    return top[0]
