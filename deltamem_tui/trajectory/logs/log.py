"""A log, opened: what it looks like, and its lines, rows or JSON records one at a time."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import BufferedReader
from itertools import chain, islice
from pathlib import Path

from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs import tables
from deltamem_tui.trajectory.logs.content import CHUNK, held, opened, too_long, unreadable
from deltamem_tui.trajectory.logs.json_text import cut_json, junk_reason, parse_json
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

HEAD_BYTES = 64 * 1024
"""How much of a log is looked at to tell what it is."""

_NUL = b"\x00"
_SNIFFED_LINES = 20
_OBJECT_START = re.compile(rb'\s*\{\s*["}]')
_ARRAY_START = re.compile(rb"\s*\[\s*[\[{\]]")
# Files that are not text, by their first bytes: what to report.
_BINARY_KINDS = (
    (b"\x1f\x8b", "gzip data inside gzip data; unpack it first"),
    (b"PK\x03\x04", "a zip archive; unpack it first (one of Inspect: `inspect log dump`)"),
    (b"\xfd7zXZ", "xz data; unpack it first"),
    (b"BZh", "bzip2 data; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "zstandard data; unpack it first"),
    (b"PAR1", "a Parquet file; export it as JSONL"),
    (b"\x80", "perhaps a pickle, and those are never opened; export it as JSONL"),
)


def layout_of(head: bytes) -> Layout:
    """Return the layout of a log."""
    if not head.strip():
        return "empty"
    if head.startswith(tables.MAGIC):
        return "tables"
    if head.startswith(tuple(magic for magic, _ in _BINARY_KINDS)):
        return "binary"
    if _NUL in head:
        # A crash leaves a hole of them in a log; among them a program's own data has no JSON.
        layout = layout_of(head.replace(_NUL, b""))
        return layout if layout in ("lines", "array", "values") else "binary"
    lines = [line for line in head.splitlines() if line.strip()][:_SNIFFED_LINES]
    if _ARRAY_START.match(head):
        more = len(lines) > 1 and lines[1].lstrip()[:1] in (b"{", b"[")
        return "lines" if more and _is_container(lines[0]) else "array"
    if _OBJECT_START.match(head):
        return "lines" if any(map(_is_container, lines)) else "values"
    return _layout_after_garbage(lines)


def _layout_after_garbage(lines: list[bytes]) -> Layout:
    """Return the layout of JSON behind a few strange lines, or of plain text."""
    first = next((i for i, line in enumerate(lines) if line.startswith(b"{")), len(lines))
    rest = lines[first:]
    if any(line.startswith((b"<!--", b"```")) for line in lines[:first]):
        return "text"  # Markdown, with JSON in a block
    # The last line may be cut by the end of the head, so how it begins must do.
    if all(line.startswith(b"{") for line in rest) and any(map(_is_container, rest[:2])):
        return "lines"
    is_indented = len(rest) > 1 and rest[1].lstrip().startswith(b'"')
    return "values" if is_indented and rest[0].strip() == b"{" else "text"


def _is_container(line: bytes) -> bool:
    if line[:1] not in (b"{", b"["):
        return False
    try:
        value = parse_json(line.decode("utf-8", "replace").encode())
    except RecordError:
        return False
    return isinstance(value, dict | list) and bool(value)


_PREVIEW_RECORDS = 8
_JSON = ("lines", "array", "values")


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

    def head(self) -> bytes:
        """Return the first 64 KB, or the whole first line where that is longer."""
        head = b""
        try:
            with self._open(None) as stream:
                while len(head) < HEAD_BYTES and (data := stream.read1(HEAD_BYTES - len(head))):
                    head += data
                if b"\n" not in head:
                    head += stream.readline(self.limits.record_bytes)
        except RecordError as error:
            if not head.strip():
                raise located(error, self.name) from error
        except OSError as error:
            raise unreadable(error, self.name) from error
        return head

    def whole(self) -> bytes:
        """Return all of it."""
        with self._open(self.progress) as stream:
            data = stream.read(self.limits.record_bytes + 1)
        if len(data) > self.limits.record_bytes:
            raise located(too_long(self.limits, None), self.name)
        return data

    def byte_lines(self) -> Iterator[Value | RecordError]:
        """Lines without their line break; overlong ones are passed over unread."""
        most = self.limits.record_bytes
        number = 1
        try:
            with self._open(self.progress) as stream:
                while data := stream.readline(most + 1):
                    if len(data) > most and not data.endswith(b"\n"):
                        while (rest := stream.readline(CHUNK)) and not rest.endswith(b"\n"):
                            pass
                        yield located(too_long(self.limits, f"line {number}"), self.name)
                    else:
                        yield Value(data.rstrip(b"\r\n"), f"line {number}")
                    number += 1
        except (RecordError, OSError) as error:
            yield self._stopped(error, f"line {number}")

    def _open(self, progress: ReadProgress | None) -> BufferedReader:
        return opened(self.path, self.name, self.limits, progress)

    def _stopped(self, error: RecordError | OSError, position: str) -> RecordError:
        if isinstance(error, OSError):
            error = RecordError(f"cannot be read on: {error.strerror or error}")
        return located(error, self.name, position)

    def _cut_values(self) -> Iterator[Value | RecordError]:
        """Values one after another, however they are broken into lines."""
        chunks, problem, count = list[bytes](), None, 0
        try:
            with self._open(self.progress) as stream:
                chunks.extend(held(stream, self.limits))
        except (RecordError, OSError) as error:
            problem = error
        for cut in cut_json(b"".join(chunks), self.limits, in_array=self.layout == "array"):
            position = f"record {count + 1}"
            if cut.kind == "value":
                yield Value(cut.data, position)
            else:
                where = position if cut.kind == "refused" else f"before {position}"
                yield RecordError(cut.reason, source=self.name, position=where)
            count += cut.kind != "junk"
        if problem:
            yield self._stopped(problem, f"record {count + 1}")

    @cached_property
    def layout(self) -> Layout:
        """How the content is laid out: records in `lines`, an `array`, or indented `values`."""
        if self.path.exists() and not self.path.is_file():  # opening it might never end
            raise TrajectoryError(
                "a pipe or a device, and no file",
                source=self.name,
                hint="leave it out, or name a pipe by itself",
            )
        return layout_of(self.head())

    @property
    def problem(self) -> str:
        """Why the log cannot be read at all; empty if it can."""
        if self.layout == "empty":
            return "the file is empty"
        if self.layout == "binary":
            head, unknown = self.head(), "binary data; if it holds a log, export it as JSONL"
            kinds = (kind for magic, kind in _BINARY_KINDS if head.startswith(magic))
            return f"not a text log but {next(kinds, unknown)}"
        return ""

    def noting(self, progress: ReadProgress | None) -> Log:
        """Return the same log, of which `progress` notes how far it was read."""
        log = replace(self, progress=progress)
        if "layout" in self.__dict__:  # which need not be found out again
            log.__dict__["layout"] = self.layout
        return log

    def preview(self) -> Preview:
        """Return the beginning of the log, for detection."""
        if self.layout == "tables":
            return Preview("tables", "", tables=tables.columns_in(self.path, self.limits))
        ahead = self.noting(None).records() if self.layout in _JSON else iter(())
        first = [*islice(ahead, _PREVIEW_RECORDS)]
        records = tuple(sampled(item.value) for item in first if isinstance(item, Record))
        refusals = tuple(item for item in first if isinstance(item, RecordError))
        head = self.head()[:HEAD_BYTES].decode("utf-8", "replace")
        return Preview(self.layout, head, records, refusals)

    def records(self) -> Iterator[Record | RecordError]:
        """Yield the JSON records in order, or an error where one cannot be read."""
        for item in self.values():
            if isinstance(item, RecordError):
                yield item
            else:
                yield from self.parsed(item)

    def values(self) -> Iterator[Value | RecordError]:
        """Yield the records not parsed yet, for a reader that parses by itself what it can."""
        if self.layout == "lines":
            lines = self.byte_lines()
            return (each for each in lines if isinstance(each, RecordError) or each.data.strip())
        if self.layout in ("array", "values"):
            return self._cut_values()
        reason = self.problem or ("a database" if self.layout == "tables" else "not JSON")
        return iter([RecordError(reason, source=self.name)])

    def rows(self, of: Mapping[str, tables.StoredTable]) -> Iterator[Record | RecordError]:
        """Yield the rows of a database, or an error where one cannot be read."""
        for item in tables.rows_in(self.path, of, self.limits):
            yield located(item, self.name) if isinstance(item, RecordError) else item

    def parsed(self, value: Value) -> Iterator[Record | RecordError]:
        """Yield one value, also if other bytes are before it on its line."""
        data, position = value.data, value.position
        try:
            yield Record(parse_json(data, self.limits.nesting), position)
            return
        except RecordError as error:
            refusal = located(error, self.name, position)
        start = data.find(b"{")
        if start > 0 and not _ARRAY_START.match(data):
            with suppress(RecordError):
                record = Record(parse_json(data[start:], self.limits.nesting), position)
                reason = junk_reason(data[: min(start, 1024)], start)
                yield RecordError(reason, source=self.name, position=position)
                yield record
                return
        yield refusal

    def lines(self) -> Iterator[TextLine | RecordError]:
        """Yield the lines of a text log; bytes that are not UTF-8 are replaced and reported."""
        if self.problem:
            yield RecordError(self.problem, source=self.name)
            return
        for line in self.byte_lines():
            if isinstance(line, RecordError):
                yield line
                continue
            try:
                yield TextLine(line.data.decode("utf-8"), line.position)
            except UnicodeDecodeError as error:
                reason = f"byte {error.start + 1} of the line is not valid UTF-8 and was replaced"
                yield RecordError(reason, source=self.name, position=line.position)
                yield TextLine(line.data.decode("utf-8", "replace"), line.position)


def rows_of(lines: Iterable[str]) -> Iterator[tuple[list[str], str]]:
    """Yield the cells of each row of a table that has some, and the line on which it ends.

    Raises:
        RecordError: The rest is not a table.
    """
    plain = (line.replace("\r", " ").replace("\0", " ").lstrip("\ufeff") for line in lines)
    begun = []
    for line in plain:
        begun.append(line)
        if line.strip(",;\t "):  # the first row with something in it shows what is between cells
            break
    # A cell in quotation marks may have line breaks in it.
    text = (f"{line}\n" for line in chain(begun, plain))
    reader = csv.reader(text, delimiter=max(",;\t", key="".join(begun[-1:]).count))
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield cells, f"line {reader.line_num}"
    except csv.Error as error:
        raise RecordError(
            f"a row that is not a row of a table: {one_line(str(error), 120)}",
            position=f"line {reader.line_num}",
            hint="leave out long columns, and look for a quotation mark without its partner",
        ) from error
