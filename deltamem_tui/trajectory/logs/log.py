"""A log, opened: what it looks like, and its lines or JSON records one at a time.

What a log is, its content says, never its name: `.jsonl` files hold indented JSON,
`.json` files hold lines, and any of them may be gzip.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple, overload

from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.archive import member_names, members
from deltamem_tui.trajectory.logs.json_text import ValueCutter, junk_reason, parse_json
from deltamem_tui.trajectory.logs.layout import NUL, Layout, begins_array, binary_kind, layout_of
from deltamem_tui.trajectory.logs.limits import DEFAULT_LIMITS, Limits, human_size
from deltamem_tui.trajectory.logs.notebook import output_lines
from deltamem_tui.trajectory.logs.pace import Pace
from deltamem_tui.trajectory.logs.streams import is_gzip, open_utf8
from deltamem_tui.trajectory.notice import Notice, Told

_HEAD_BYTES = 64 * 1024
_CHUNK = 1 << 20
_PREVIEW_RECORDS = 8
_SHOWN_BYTES = 400
_BLANK_RUN = 1000  # no text has more blank lines on end; of those that follow nobody hears


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON value of a log.

    Attributes:
        value: The parsed value.
        position: Where it begins, as a person would look it up (`line 3`, `record 7`).
    """

    value: object
    position: str


class Value(NamedTuple):
    """One JSON value of a log as its bytes, not parsed yet.

    Attributes:
        data: The bytes.
        position: Where it begins, as of a `Record`.
    """

    data: bytes
    position: str


@dataclass(frozen=True, slots=True)
class Line:
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


@dataclass(frozen=True)
class Log:
    """One log, which can be read from its start any number of times.

    Attributes:
        name: What it is called in reports: a file name, or a path inside the folder given.
        path: Where its bytes are.
        limits: What it may hold.
        keep: Whatever must live as long as the log, such as the copy of standard input.
        pace: Told how far its lines or records were read.
    """

    name: str
    path: Path
    limits: Limits = DEFAULT_LIMITS
    keep: object = field(default=None, repr=False, compare=False)
    pace: Pace | None = field(default=None, repr=False, compare=False)

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
        return layout_of(self._read_head())

    def preview(self) -> Preview:
        """The beginning of the log, for detection.

        Raises:
            TrajectoryError: The file cannot be opened, or its compression is damaged.
        """
        if self.layout == "zip":
            return self._zip_preview()
        if self.layout == "notebook":
            return Preview("text", self._printed_head())
        is_json = self.layout in ("lines", "array", "values")
        first = list(islice(self.records(), _PREVIEW_RECORDS)) if is_json else []
        records = tuple(item.value for item in first if isinstance(item, Record))
        refusals = tuple(item for item in first if isinstance(item, RecordError))
        head = self._read_head()[:_HEAD_BYTES].decode("utf-8", "replace")
        return Preview(self.layout, head, records, refusals)

    @property
    def is_text(self) -> bool:
        """Whether it is read line by line, as text is and what a notebook printed."""
        return self.layout in ("text", "notebook")

    @property
    def problem(self) -> str:
        """Why the log cannot be read at all; empty if it can."""
        if self.layout == "empty":
            return "the file is empty"
        if self.layout == "binary":
            return f"not a text log but {binary_kind(self._read_head())}"
        if self.layout == "zip":
            if is_gzip(self.path):
                return "a zip archive inside gzip data; unpack it first"
            try:
                self.member_names()
            except RecordError as error:
                return error.message
        return ""

    def records(self) -> Iterator[Record | RecordError]:
        """The JSON records in order, each parsed only when it is its turn.

        What cannot be read comes as an error in its place, and the records after it follow.
        """
        for item in self.values():
            if isinstance(item, RecordError):
                yield item
            else:
                yield from self.parsed(item)

    def values(self) -> Iterator[Value | RecordError]:
        """The same, for a reader that parses by itself what it can."""
        _ = self._size_before
        if self.layout == "lines":
            return self._line_values()
        if self.layout in ("array", "values"):
            return self._cut_values(in_array=self.layout == "array")
        if self.layout == "text":
            return self._no_values()
        shapes = {"zip": "a zip archive", "notebook": "a notebook, which is read as text"}
        reason = self.problem or shapes.get(self.layout, "not JSON")
        return iter([RecordError(reason, source=self.name)])

    def parsed(self, value: Value) -> Iterator[Record | RecordError]:
        """One value, also if other bytes stand before it on its line."""
        data, position = value
        try:
            yield Record(parse_json(data, self.limits.nesting), position)
            return
        except RecordError as error:
            refusal = self._refused(located(error, self.name, position))
        start = data.find(b"{")
        if start > 0 and not begins_array(data):
            try:
                record = Record(parse_json(data[start:], self.limits.nesting), position)
            except RecordError:
                pass
            else:
                reason = junk_reason(data[: min(start, 80)], start)
                yield RecordError(reason, source=self.name, position=position)
                yield record
                return
        yield refusal

    def members(self, names: list[str]) -> Iterator[Record | RecordError]:
        """Members of a zip archive, each parsed as JSON only when it is its turn.

        Args:
            names: Which, in this order; each becomes the position of its record.
        """
        for name, data in zip(names, members(self.path, names, self.limits), strict=True):
            if isinstance(data, RecordError):
                yield located(data, self.name)
            else:
                yield from self.parsed(Value(data, one_line(name, 200)))

    def member_names(self) -> list[str]:
        """The names of a zip archive's members.

        Raises:
            RecordError: It is damaged.
        """
        return member_names(self.path)

    def document(self) -> object:
        """The whole log as one JSON value.

        Raises:
            RecordError: It is not one JSON value, or larger than a record may be.
        """
        with open_utf8(self.path, self.limits, self.pace) as stream:
            data = stream.read(self.limits.record_bytes + 1)
        if len(data) > self.limits.record_bytes:
            raise self._too_long(None)
        return parse_json(data, self.limits.nesting)

    def lines(self) -> Iterator[Line | RecordError]:
        """The lines of a text log; bytes that are not UTF-8 are replaced and reported."""
        if self.problem or self.layout == "zip":
            yield RecordError(self.problem or "a zip archive", source=self.name)
            return
        if self.layout == "notebook":
            yield from self._printed_lines()
            return
        for number, data in self._byte_lines():
            if isinstance(data, RecordError):
                yield data
                continue
            try:
                yield Line(number, data.decode("utf-8"))
            except UnicodeDecodeError as error:
                yield RecordError(
                    f"byte {error.start + 1} of the line is not valid UTF-8 and was replaced",
                    source=self.name,
                    position=f"line {number}",
                )
                yield Line(number, data.decode("utf-8", "replace"))

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
        return Preview("zip", names[:_HEAD_BYTES], refusals=(unknown,))

    def _printed_lines(self) -> Iterator[Line]:
        for cell, number, text in output_lines(self.document()):
            yield Line(number, text, f"cell {cell}")

    def _printed_head(self) -> str:
        size = 0
        lines: list[str] = []
        with suppress(RecordError):  # said when it is read
            for line in self._printed_lines():
                lines.append(line.text)
                size += len(line.text)
                if size > _HEAD_BYTES:
                    break
        return "\n".join(lines)

    def _read_head(self) -> bytes:
        """The first 64 KB, or the whole first line where that is longer.

        Compressed data that is cut short before is what there is; that it is cut is told when
        it is read.
        """
        head = b""
        try:
            with open_utf8(self.path, self.limits) as stream:
                while len(head) < _HEAD_BYTES and (data := stream.read1(_HEAD_BYTES - len(head))):
                    head += data
                if b"\n" not in head:
                    head += stream.readline(self.limits.record_bytes)
        except RecordError as error:
            if not head.strip():
                raise located(error, self.name) from error
        except OSError as error:
            reason = f"cannot be read: {error.strerror or error}"
            raise TrajectoryError(reason, source=self.name) from error
        return head

    def _byte_lines(self) -> Iterator[tuple[int, bytes | RecordError]]:
        """Numbered lines without their line break; overlong ones are passed over unread."""
        most = self.limits.record_bytes
        number = blanks = 0
        try:
            with open_utf8(self.path, self.limits, self.pace) as stream:
                while data := stream.readline(most + 1):
                    number += 1
                    blanks = blanks + 1 if data.isspace() else 0
                    if blanks > _BLANK_RUN:
                        number += _pass_blank_lines(stream)
                        continue
                    if len(data) > most and not data.endswith(b"\n"):
                        while (rest := stream.readline(_CHUNK)) and not rest.endswith(b"\n"):
                            pass
                        yield number, self._too_long(f"line {number}")
                        continue
                    line = data.rstrip(b"\r\n")
                    told = line.strip(NUL)
                    if number > 1 and len(told) < len(line):
                        yield number, self._hole(f"line {number}")
                    yield number, told
        except RecordError as error:
            yield number + 1, located(error, self.name, f"line {number + 1}")
        except OSError as error:
            reason = f"cannot be read on: {error.strerror or error}"
            yield number + 1, RecordError(reason, source=self.name, position=f"line {number + 1}")

    def _no_values(self) -> Iterator[RecordError]:
        """Where text begins that was to be JSON."""
        for number, data in self._byte_lines():
            if isinstance(data, RecordError):
                yield data
                return
            if data.strip():
                shown = one_line(data[:_SHOWN_BYTES].decode("utf-8", "replace"), 60)
                reason = f"not JSON: {shown}"
                yield RecordError(reason, source=self.name, position=f"line {number}")
                return

    def _line_values(self) -> Iterator[Value | RecordError]:
        for number, data in self._byte_lines():
            if isinstance(data, RecordError):
                yield data
            elif data and not data.isspace():
                yield Value(data, f"line {number}")

    def _cut_values(self, *, in_array: bool) -> Iterator[Value | RecordError]:
        count = 0
        cutter = ValueCutter(self.limits, in_array=in_array)
        try:
            with open_utf8(self.path, self.limits, self.pace) as stream:
                ended = False
                while not ended:
                    chunk = stream.read1(_CHUNK)
                    ended = not chunk
                    for cut in cutter.finish() if ended else cutter.feed(chunk):
                        position = f"record {count + 1}"
                        if cut.kind == "value":
                            yield Value(cut.data, position)
                        else:
                            where = position if cut.kind == "refused" else f"before {position}"
                            error = RecordError(cut.reason, source=self.name, position=where)
                            yield self._refused(error) if ended else error
                        count += cut.kind != "junk"
        except RecordError as error:
            yield located(error, self.name, f"record {count + 1}")
        except OSError as error:
            reason = f"cannot be read on: {error.strerror or error}"
            yield RecordError(reason, source=self.name, position=f"record {count + 1}")

    @cached_property
    def _size_before(self) -> int:
        """How long the file was when it was first looked at."""
        with suppress(OSError):
            return self.path.stat().st_size
        return 0

    def _refused(self, error: RecordError) -> RecordError:
        """A refusal, with what is most likely behind it if the file is not what it was."""
        with suppress(OSError):
            if self.path.stat().st_size < self._size_before:
                error.hint = "the file became shorter while it was read: import it again"
        return error

    def _hole(self, position: str) -> RecordError:
        return RecordError(
            "a hole of NUL bytes, as a crash leaves one: something may be lost here",
            source=self.name,
            position=position,
        )

    def _too_long(self, position: str | None) -> RecordError:
        return RecordError(
            f"a record of more than {human_size(self.limits.record_bytes)}",
            source=self.name,
            position=position,
            hint="split it, or leave out what no one will read",
        )


def _pass_blank_lines(stream: io.BufferedReader) -> int:
    """Read on to the next line that says something, and count the lines passed."""
    count = 0
    while ahead := stream.peek(1):
        blank = len(ahead) - len(ahead.lstrip())
        end = ahead.rfind(b"\n", 0, blank) + 1
        if not end:
            break
        count += stream.read(end).count(b"\n")
    return count


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
