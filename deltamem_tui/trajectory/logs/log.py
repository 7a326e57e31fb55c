"""A log, opened: what it looks like, and its lines or JSON records one at a time.

What a log is, its content says, never its name: `.jsonl` files hold indented JSON,
`.json` files hold lines, and any of them may be gzip.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.trajectory.logs.content import HEAD_BYTES, Content
from deltamem_tui.trajectory.logs.json_text import junk_reason, parse_json
from deltamem_tui.trajectory.logs.layout import (
    begins_array,
    binary_kind,
    layout_of,
    output_lines,
)
from deltamem_tui.trajectory.logs.record import (
    Layout,
    Preview,
    ReadProgress,
    Record,
    TextLine,
    Value,
    located,
    sampled,
)

_PREVIEW_RECORDS = 8
_JSON = ("lines", "array", "values")


@dataclass(frozen=True)
class Log(Content):
    """One log, which can be read from its start any number of times."""

    @cached_property
    def layout(self) -> Layout:
        """How the content is laid out: records as `lines`, in an `array`, or as indented `values`.

        Raises:
            TrajectoryError: The file cannot be opened, or its compression is damaged.
        """
        if self.path.exists() and not self.path.is_file():  # opening it might never end
            raise TrajectoryError(
                "a pipe or a device, and no file",
                source=self.name,
                hint="leave it out, or name a pipe by itself",
            )
        return layout_of(self.head())

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
            return f"not a text log but {binary_kind(self.head())}"
        if self.layout == "zip":
            if self.is_gzip:
                return "a zip archive inside gzip data; unpack it first"
            try:
                self.member_names()
            except RecordError as error:
                return error.message
        return ""

    def noting(self, progress: ReadProgress | None) -> Log:
        """Return the same log, of which `progress` notes how far it was read."""
        log = replace(self, progress=progress)
        if "layout" in self.__dict__:  # which need not be found out again
            log.__dict__["layout"] = self.layout
        return log

    def preview(self) -> Preview:
        """Return the beginning of the log, for detection.

        Raises:
            TrajectoryError: The file cannot be opened, or its compression is damaged.
        """
        if self.layout == "zip":
            return self._zip_preview()
        if self.layout == "notebook":
            return Preview("text", self._printed_head())
        first = self.first_records(_PREVIEW_RECORDS) if self.layout in _JSON else []
        records = tuple(sampled(item.value) for item in first if isinstance(item, Record))
        refusals = tuple(item for item in first if isinstance(item, RecordError))
        head = self.head()[:HEAD_BYTES].decode("utf-8", "replace")
        return Preview(self.layout, head, records, refusals)

    def _zip_preview(self) -> Preview:
        try:
            names = "\n".join(self.member_names())
        except RecordError as error:
            return Preview("zip", "", refusals=(located(error, self.name),))
        reason, hint = "a zip archive of an unknown format", "unpack it and import the folder"
        unknown = RecordError(reason, source=self.name, hint=hint)
        return Preview("zip", names[:HEAD_BYTES], refusals=(unknown,))

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

    def _printed_lines(self) -> Iterator[TextLine]:
        for cell, number, text in output_lines(self.document()):
            yield TextLine(number, text, f"cell {cell}")

    def first_records(self, count: int) -> list[Record | RecordError]:
        """Return the first records, read ahead and so not counted as progress."""
        return list(islice(self.noting(None).records(), count))

    def records(self) -> Iterator[Record | RecordError]:
        """Yield the JSON records in order, or an error where one cannot be read."""
        yield from self._each_parsed(self.values())

    def members(self, names: list[str]) -> Iterator[Record | RecordError]:
        """Yield members of a zip archive, each parsed as JSON only when it is its turn."""
        yield from self._each_parsed(self.member_values(names))

    def _each_parsed(self, values: Iterator[Value | RecordError]) -> Iterator[Record | RecordError]:
        for item in values:
            if isinstance(item, RecordError):
                yield item
            else:
                yield from self.parsed(item)

    def values(self) -> Iterator[Value | RecordError]:
        """Yield the records not parsed yet, for a reader that parses by itself what it can."""
        if self.layout == "lines":
            return self.line_values()
        if self.layout in ("array", "values"):
            return self.cut_values(in_array=self.layout == "array")
        if self.layout == "text":
            return self.no_values()
        shapes = {"zip": "a zip archive", "notebook": "a notebook, which is read as text"}
        reason = self.problem or shapes.get(self.layout, "not JSON")
        return iter([RecordError(reason, source=self.name)])

    def parsed(self, value: Value) -> Iterator[Record | RecordError]:
        """Yield one value, also if other bytes are before it on its line."""
        data, position = value.data, value.position
        try:
            yield Record(parse_json(data, self.limits.nesting), position)
            return
        except RecordError as error:
            refusal = located(error, self.name, position)
        start = data.find(b"{")
        if start > 0 and not begins_array(data):
            with suppress(RecordError):
                record = Record(parse_json(data[start:], self.limits.nesting), position)
                reason = junk_reason(data[: min(start, 1024)], start)
                yield RecordError(reason, source=self.name, position=position)
                yield record
                return
        yield refusal

    def document(self) -> object:
        """Return the whole log as one JSON value.

        Raises:
            RecordError: It is not one JSON value, or larger than a record may be.
        """
        return parse_json(self.whole(), self.limits.nesting)

    def lines(self) -> Iterator[TextLine | RecordError]:
        """Yield the lines of a text log; bytes that are not UTF-8 are replaced and reported."""
        if self.problem or self.layout == "zip":
            yield RecordError(self.problem or "a zip archive", source=self.name)
            return
        if self.layout == "notebook":
            yield from self._printed_lines()
            return
        for number, data in self.byte_lines():
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
