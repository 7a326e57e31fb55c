"""A log, opened: what it looks like, and its lines or JSON records one at a time.

What a log is, its content says, never its name: `.jsonl` files hold indented JSON,
`.json` files hold lines, and any of them may be gzip.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.trajectory.logs.archive import member_names, members
from deltamem_tui.trajectory.logs.content import HEAD_BYTES, Content
from deltamem_tui.trajectory.logs.json_text import junk_reason, parse_json
from deltamem_tui.trajectory.logs.layout import (
    begins_array,
    binary_kind,
    layout_of,
    output_lines,
)
from deltamem_tui.trajectory.logs.record import (
    DEFAULT_LIMITS,
    Layout,
    LogLimits,
    Preview,
    ReadProgress,
    Record,
    TextLine,
    Value,
    located,
    sampled,
)
from deltamem_tui.trajectory.logs.streams import is_gzip
from deltamem_tui.trajectory.secrets.redaction import quoted

_PREVIEW_RECORDS = 8
_LARGE = 1 << 20  # bytes that take too long to be parsed once more


@dataclass(frozen=True)
class Log:
    """One log, which can be read from its start any number of times.

    Attributes:
        name: What it is called in reports: a file name, or a path inside the folder given.
        path: Where its bytes are.
        limits: What it may hold.
        keep: Whatever must live as long as the log, such as the copy of standard input.
        progress: Notes how far its lines or records were read.
    """

    name: str
    path: Path
    limits: LogLimits = DEFAULT_LIMITS
    keep: object = field(default=None, repr=False, compare=False)
    progress: ReadProgress | None = field(default=None, repr=False, compare=False)
    # A large value that was read ahead, by its bytes, until it is read.
    _ahead: dict[bytes, list[Record | RecordError]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @cached_property
    def _content(self) -> Content:
        return Content(self.name, self.path, self.limits, self.progress)

    @cached_property
    def layout(self) -> Layout:
        """How the content is laid out.

        `lines` (one JSON value a line), `array` (the records are the elements of one array),
        `values` (indented JSON, one value after another), `text`, `notebook` (whose cells'
        outputs are text), `zip`, `binary` or `empty`.

        Raises:
            TrajectoryError: The file cannot be opened, or its compression is damaged.
        """
        if self.path.exists() and not self.path.is_file():  # opening it might never end
            raise TrajectoryError(
                "a pipe or a device, and no file",
                source=self.name,
                hint="leave it out, or name a pipe by itself",
            )
        return layout_of(self._content.head())

    def preview(self) -> Preview:
        """Return the beginning of the log, for detection.

        Raises:
            TrajectoryError: The file cannot be opened, or its compression is damaged.
        """
        if self.layout == "zip":
            return self._zip_preview()
        if self.layout == "notebook":
            return Preview("text", self._printed_head())
        is_json = self.layout in ("lines", "array", "values")
        first = self.first_records(_PREVIEW_RECORDS) if is_json else []
        records = tuple(sampled(item.value) for item in first if isinstance(item, Record))
        refusals = tuple(item for item in first if isinstance(item, RecordError))
        head = self._content.head()[:HEAD_BYTES].decode("utf-8", "replace")
        return Preview(self.layout, head, records, refusals)

    def first_records(self, count: int) -> list[Record | RecordError]:
        """Return the first records, read ahead and so not counted as progress."""
        return list(islice(self._first_records(), count))

    def _first_records(self) -> Iterator[Record | RecordError]:
        for item in self.noting(None).values():
            if isinstance(item, RecordError):
                yield item
                continue
            found = self._ahead.get(item.data) or list(self._parsed(item))
            if len(item.data) > _LARGE and not self._ahead:
                self._ahead[item.data] = found
            yield from found

    def noting(self, progress: ReadProgress | None) -> Log:
        """Return the same log, of which `progress` notes how far it was read."""
        log = replace(self, progress=progress)
        if "layout" in self.__dict__:  # which need not be found out again
            log.__dict__["layout"] = self.layout
        return log

    @property
    def is_text(self) -> bool:
        """True if it is read line by line, as text is and what a notebook printed."""
        return self.layout in ("text", "notebook")

    @property
    def problem(self) -> str:
        """Why the log cannot be read at all; empty if it can."""
        if self.layout == "empty":
            return "the file is empty"
        if self.layout == "binary":
            return f"not a text log but {binary_kind(self._content.head())}"
        if self.layout == "zip":
            if is_gzip(self.path):
                return "a zip archive inside gzip data; unpack it first"
            try:
                self.member_names()
            except RecordError as error:
                return error.message
        return ""

    def records(self) -> Iterator[Record | RecordError]:
        """Yield the JSON records in order, or an error where one cannot be read."""
        for item in self.values():
            if isinstance(item, RecordError):
                yield item
            else:
                yield from self.parsed(item)

    def values(self) -> Iterator[Value | RecordError]:
        """Yield the same, for a reader that parses by itself what it can."""
        _ = self._content.size_before
        if self.layout == "lines":
            return self._content.line_values()
        if self.layout in ("array", "values"):
            return self._content.cut_values(in_array=self.layout == "array")
        if self.layout == "text":
            return self._content.no_values()
        shapes = {"zip": "a zip archive", "notebook": "a notebook, which is read as text"}
        reason = self.problem or shapes.get(self.layout, "not JSON")
        return iter([RecordError(reason, source=self.name)])

    def parsed(self, value: Value) -> Iterator[Record | RecordError]:
        """Yield one value, also if other bytes stand before it on its line."""
        known = self._ahead.pop(value.data, None) if self._ahead else None
        yield from known or self._parsed(value)

    def _parsed(self, value: Value) -> Iterator[Record | RecordError]:
        data, position = value.data, value.position
        try:
            yield Record(parse_json(data, self.limits.nesting), position)
            return
        except RecordError as error:
            refusal = self._content.refused(located(error, self.name, position))
        start = data.find(b"{")
        if start > 0 and not begins_array(data):
            try:
                record = Record(parse_json(data[start:], self.limits.nesting), position)
            except RecordError:
                pass
            else:
                reason = junk_reason(data[: min(start, 1024)], start)
                yield RecordError(reason, source=self.name, position=position)
                yield record
                return
        yield refusal

    def members(self, names: list[str]) -> Iterator[Record | RecordError]:
        """Members of a zip archive, each parsed as JSON only when it is its turn."""
        for name, data in zip(names, members(self.path, names, self.limits), strict=True):
            if isinstance(data, RecordError):
                yield located(data, self.name)
            else:
                yield from self.parsed(Value(data, quoted(name, 200)))

    def member_names(self) -> list[str]:
        """Return the names of a zip archive's members; a damaged archive raises `RecordError`."""
        return member_names(self.path)

    def document(self) -> object:
        """Return the whole log as one JSON value.

        Raises:
            RecordError: It is not one JSON value, or larger than a record may be.
        """
        return parse_json(self._content.whole(), self.limits.nesting)

    def lines(self) -> Iterator[TextLine | RecordError]:
        """Yield the lines of a text log; bytes that are not UTF-8 are replaced and reported."""
        if self.problem or self.layout == "zip":
            yield RecordError(self.problem or "a zip archive", source=self.name)
            return
        if self.layout == "notebook":
            yield from self._printed_lines()
            return
        for number, data in self._content.lines():
            if isinstance(data, RecordError):
                yield data
                continue
            try:
                yield TextLine(number, data.decode("utf-8"))
            except UnicodeDecodeError as error:
                yield RecordError(
                    f"byte {error.start + 1} of the line is not valid UTF-8 and was replaced",
                    source=self.name,
                    position=f"line {number}",
                )
                yield TextLine(number, data.decode("utf-8", "replace"))

    def _zip_preview(self) -> Preview:
        try:
            names = "\n".join(self.member_names())
        except RecordError as error:
            return Preview("zip", "", refusals=(located(error, self.name),))
        unknown = RecordError(
            "a zip archive of no format that comes as one",
            source=self.name,
            hint="unpack it and import the folder",
        )
        return Preview("zip", names[:HEAD_BYTES], refusals=(unknown,))

    def _printed_lines(self) -> Iterator[TextLine]:
        for cell, number, text in output_lines(self.document()):
            yield TextLine(number, text, f"cell {cell}")

    def _printed_head(self) -> str:
        size = 0
        lines: list[str] = []
        with suppress(RecordError):  # said when it is read
            for line in self._printed_lines():
                lines.append(line.text)
                size += len(line.text)
                if size > HEAD_BYTES:
                    break
        return "\n".join(lines)
