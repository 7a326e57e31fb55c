"""A table: one line file and the arrays beside it, row for line.

A bank has one for each collection, and `trajectories`, `origins` and `credit`. Each keeps its
records as JSON lines, an index to find a line without parsing the file, and counters that change
in place; the collections also a vector per line. A record is changed by adding a line with the
same id; its first line keeps its place and its counters, its last line says what it is now.

The index is derived from the lines. It may be deleted at any time and is made again.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank import journal
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.journal import Commit, Extent
from deltamem_tui.bank.node import Collection, Node, from_line, payload_of, read_lines
from deltamem_tui.errors import BankCorruptError, BankError, StorageError

COUNTER = np.dtype("<u4")
VECTOR = np.dtype("<f4")
UNIT_TOLERANCE = 1e-3  # How far from 1 a vector's length may be and still count as unit length.
LINE_LIMIT = 32 * 1024 * 1024
_ROWS = re.compile(rb"'shape': \((\d{1,18}),")

Rows = NDArray[np.int64]
Value = TypeVar("Value")
Lines = Iterator[tuple[int, int, bytes]]
"""Lines without their newline, each with its row and its offset in bytes."""
IndexBuilder = Callable[["Table", Lines, int], NDArray[Any]]
"""Makes an index row per line, in order; BankCorruptError at a line that breaks the format."""


@lru_cache(maxsize=256)
def _header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer,
        {
            "descr": np.lib.format.dtype_to_descr(dtype),
            "fortran_order": False,
            "shape": shape,
        },
    )
    return buffer.getvalue()


@dataclass(frozen=True, slots=True)
class NpyFile:
    """One array on disk that grows in place: rows are appended, the header follows when they count.

    numpy leaves room in the header of every array for the first axis to grow (NEP 1), so the row
    count can be rewritten without moving a byte of data. A `width` of 0 is one dimension.
    """

    path: Path
    dtype: np.dtype[Any]
    width: int = 0

    @property
    def row_bytes(self) -> int:
        """Bytes of one row."""
        return self.dtype.itemsize * max(self.width, 1)

    def shape(self, rows: int) -> tuple[int, ...]:
        """Return the array's shape with `rows` rows."""
        return (rows, self.width) if self.width else (rows,)

    def header(self, rows: int) -> bytes:
        """Return the file's header for `rows` rows; its length does not depend on `rows`."""
        return _header(self.dtype, self.shape(rows))

    def position(self, row: int) -> int:
        """Return the byte at which a row begins."""
        return len(self.header(0)) + row * self.row_bytes

    def create(self) -> None:
        """Write an empty array."""
        files.replace(self.path, self.header(0))

    def rows(self) -> int:
        """Return the row count that the header states."""
        if not files.exists(self.path):
            raise files.corrupt(self.path, "is missing")
        length = min(len(self.header(0)), files.size(self.path))
        found = bytes(files.mapped(self.path, length))
        stated = _ROWS.search(found)
        if stated and found == self.header(int(stated[1])):
            return int(stated[1])
        shape = " × ".join(map(str, ("rows", *self.shape(0)[1:])))
        kind = "numbers" if self.dtype.names else self.dtype
        raise files.corrupt(self.path, f"not an array of {kind}, {shape}, as numpy writes it")

    def load(self, rows: int) -> NDArray[Any]:
        """Map the first `rows` rows into memory, read-only; nothing is read before it is used."""
        self.rows()
        region = files.find(self.path)
        length = region.length if region else 0
        found = (length - self.position(0)) // self.row_bytes
        if found < rows:
            raise files.corrupt(
                self.path, f"holds {found} rows where {rows} were written: it was cut short"
            )
        if rows == 0 or region is None:
            return np.zeros(self.shape(0), dtype=self.dtype)
        with files.storage_errors(self.path):
            try:
                return np.memmap(
                    region.path,
                    dtype=self.dtype,
                    mode="r",
                    offset=region.start + self.position(0),
                    shape=self.shape(rows),
                )
            except ValueError as error:  # a shorter file took its place since the look above
                raise files.corrupt(self.path, "was cut short") from error

    def write_rows(self, row: int, values: NDArray[Any]) -> None:
        """Write rows from `row` on; the header is not touched."""
        array = np.ascontiguousarray(values, dtype=self.dtype)
        files.write_at(self.path, self.position(row), array.tobytes())

    def write_whole(self, values: NDArray[Any]) -> None:
        """Replace the whole array in one step."""
        array = np.ascontiguousarray(values, dtype=self.dtype)
        files.replace(self.path, self.header(len(array)) + array.tobytes())

    def write_header(self, rows: int) -> None:
        """State the row count, unless the header states it already."""
        if self.rows() != rows:
            files.write_at(self.path, 0, self.header(rows))


@dataclass(frozen=True, slots=True)
class Table:
    """The files of one table.

    Attributes:
        name: A collection's name, `trajectories`, `origins` or `credit`.
        counters: Counters per row.
        index_type: The structured type of an index row; holds at least `id`, `offset` and `first`.
        dimensions: Width of the vectors, or 0 for none.
        commit: The commit whose files are meant; it may have replaced them.
        nodes: What the nodes consist of, if the records are nodes.
    """

    folder: Path
    name: str
    lines_name: str
    counters_name: str
    counters: int
    index_type: np.dtype[Any]
    build_index: IndexBuilder
    dimensions: int = 0
    commit: Commit = field(default_factory=Commit)
    nodes: Collection | None = None

    @property
    def collection(self) -> Collection:
        """The collection definition of the nodes."""
        if self.nodes is None:
            raise ValueError(f"the {self.name} table keeps no nodes")
        return self.nodes

    @property
    def lines_path(self) -> Path:
        """The line file."""
        return self._path(self.lines_name)

    @property
    def index_file(self) -> NpyFile:
        """`<name>.index.npy`, derived from the lines."""
        return NpyFile(self._path(f"{self.name}.index.npy"), self.index_type)

    @property
    def counters_file(self) -> NpyFile:
        """The counters, uint32 [rows, counters]; a record's are at the row of its first line."""
        return NpyFile(self._path(self.counters_name), COUNTER, self.counters)

    @property
    def vectors_file(self) -> NpyFile | None:
        """`<name>.embeddings.npy`, float32 [rows, dimensions]; row i embeds line i."""
        if not self.dimensions:
            return None
        return NpyFile(self._path(f"{self.name}.embeddings.npy"), VECTOR, self.dimensions)

    @property
    def matrices(self) -> tuple[NpyFile, ...]:
        """All arrays of the table."""
        vectors = self.vectors_file
        return (self.index_file, self.counters_file, *((vectors,) if vectors else ()))

    def _path(self, name: str) -> Path:
        return journal.present(self.folder / name, self.commit)

    def create(self) -> None:
        """Write the files of an empty table that are not there."""
        if not self.lines_path.exists():
            files.replace(self.lines_path, b"")
        for matrix in self.matrices:
            if not matrix.path.exists():
                matrix.create()

    def redo(self, commit: Commit) -> None:
        """Bring the files to what the last commit states, whatever the last writer was doing."""
        extent = commit.extent(self.name)
        if not extent.rows:
            self.create()
        if files.size(self.lines_path) < extent.bytes:
            raise self.corrupt("the file is missing or was cut short")
        for matrix in self.matrices[1:]:
            matrix.load(extent.rows)
        snapshot = TableSnapshot(self, commit)
        if snapshot.stored_index() is None:  # it is derived: written anew where it does not fit
            self.index_file.write_whole(snapshot.index)
        self.cut(extent)
        self.apply(commit)

    def cut(self, extent: Extent) -> None:
        """Remove what is beyond what counts: the remains of a batch that never was."""
        files.truncate(self.lines_path, extent.bytes)
        for matrix in self.matrices:
            files.truncate(matrix.path, matrix.position(extent.rows))

    def apply(self, commit: Commit) -> None:
        """Do in place what a commit states. Doing it again changes nothing."""
        if self.counters_name in commit.replaces:
            return  # the new files hold what the commit states, and are on the disk
        cells = commit.cells.get(self.name, {})
        rows = np.array(sorted(cells), dtype=np.int64)
        for run in np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1) if len(rows) else ():
            values = np.array([cells[row] for row in run.tolist()], dtype=COUNTER)
            self.counters_file.write_rows(int(run[0]), values)
        for matrix in self.matrices:
            matrix.write_header(commit.extent(self.name).rows)

    def whole_extent(self) -> Extent:
        """Return the extent of a table that is shipped without a journal: all that is there."""
        length = files.size(self.lines_path)
        known = length or files.exists(self.counters_file.path)
        rows = self.counters_file.rows() if known else 0
        if rows and not length:
            raise self.corrupt("the file is missing or empty, but its counts are there")
        if length and files.mapped(self.lines_path, length)[-1] != ord("\n"):
            raise self.corrupt("the last line was cut short")
        return Extent(rows, length)

    def lines(self, extent: Extent) -> Lines:
        """Yield all lines that count, as (row, offset in bytes, line without newline)."""
        row, offset = 0, 0
        for line in files.forwards(self.lines_path, LINE_LIMIT) if extent.bytes else ():
            if offset + len(line) > extent.bytes:
                break
            yield row, offset, line[:-1]
            row, offset = row + 1, offset + len(line)
            if offset == extent.bytes:
                return
        if extent.bytes:
            raise self.corrupt("the line was cut short", f"line {row + 1}")

    def exactly(self, lines: Lines, rows: int) -> Lines:
        """Yield some lines, of which there must be so many."""
        count = 0
        for count, line in enumerate(lines, start=1):
            if count > rows:
                raise self.corrupt("more lines than the journal states", f"line {count}")
            yield line
        if count != rows:
            raise self.corrupt(f"holds {count} lines where {rows} were written: it was cut short")

    def corrupt(self, message: str, position: str | None = None) -> BankCorruptError:
        """Return the error for a line file that breaks the format."""
        return files.corrupt(self.lines_path, message, position)


def collection_names(snapshots: Mapping[str, TableSnapshot]) -> list[str]:
    """Return the names of a bank's collections, in the order in which ledgers number them."""
    return [name for name, each in snapshots.items() if each.table.nodes is not None]


def first_rows(first: Rows) -> Rows:
    """Return the rows of all records' first lines, of an index's `first`. int64 [records]."""
    rows: Rows = np.flatnonzero(first == np.arange(len(first)))
    return rows


def last_rows(first: Rows) -> Rows:
    """Per row, the row of its record's last line; meaningful at first lines. int64 [rows]."""
    rows: Rows = np.arange(len(first), dtype=np.int64)
    revised = np.flatnonzero(first != rows)
    np.maximum.at(rows, first[revised], revised)
    return rows


def wrong_lengths(vectors: NDArray[np.float32]) -> Iterator[tuple[int, float]]:
    """Yield the rows whose vectors are not of unit length, and their lengths."""
    with np.errstate(all="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    for row in np.flatnonzero(~(np.abs(lengths - 1.0) < UNIT_TOLERANCE)).tolist():
        yield row, float(lengths[row])


class TableSnapshot:
    """The state of a table at one commit. Later writes do not show in it.

    Attributes:
        derived: What callers worked out of its rows, by names of theirs. Later snapshots of one
            handle share it for as long as the files only grow.
    """

    def __init__(self, table: Table, commit: Commit, derived: dict[str, Any] | None = None) -> None:
        self.table = replace(table, commit=commit)
        self.extent = commit.extent(table.name)
        self.derived: dict[str, Any] = {} if derived is None else derived
        self.counters = self._read_counters(commit)

    def _read_counters(self, commit: Commit) -> NDArray[np.uint32]:
        """Return the counters of this commit: those on disk, and the last commit's own on top."""
        counters: NDArray[np.uint32] = np.zeros((0, self.table.counters), dtype=COUNTER)
        if self.extent.rows:  # else there may be no file yet
            counters = np.array(self.table.counters_file.load(self.extent.rows))
        for row, values in commit.cells.get(self.table.name, {}).items():
            if row >= len(counters) or len(values) != self.table.counters:
                raise self.table.corrupt("the journal counts a row that is not there")
            counters[row] = values
        return counters

    @cached_property
    def index(self) -> NDArray[Any]:
        """The index, one structured row per line; made from the lines where it is missing."""
        return self._reading(self._found_index)

    def _found_index(self) -> NDArray[Any]:
        stored = self.stored_index()
        if stored is not None:
            return stored
        return self.table.build_index(self.table, self.table.lines(self.extent), self.extent.rows)

    def _reading(self, read: Callable[[], Value]) -> Value:
        """Open something late, and see that it is of this commit's files."""
        try:
            found = read()
        except BankError:
            self.require_current()
            if not self.table.commit.replaces:
                raise
            found = read()  # a file may have been renamed to its place at just this moment
        self.require_current()
        return found

    def require_current(self) -> None:
        """See that the files are still those of this commit, or have only grown since."""
        journal.require_current(self.table.folder, self.table.commit)

    def stored_index(self) -> NDArray[Any] | None:
        """Return the index on disk; None if it is missing or cannot be of these lines."""
        try:
            index: NDArray[Any] = np.asarray(self.table.index_file.load(self.extent.rows))
        except (BankCorruptError, StorageError):
            return None
        return index if self._plausible(index) else None

    def _plausible(self, index: NDArray[Any]) -> bool:
        """Return whether every reference of the index stays inside the file and points back."""
        if not len(index):
            return True
        offsets, first = index["offset"], index["first"]
        inside = offsets[0] == 0 and int(offsets[-1]) < self.extent.bytes
        rising = (offsets[1:] > offsets[:-1]).all()
        return bool(inside and rising and ((first >= 0) & (first <= np.arange(len(index)))).all())

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """The vectors, float32 [rows, dimensions], mapped and not read."""

        def found() -> NDArray[np.float32]:
            matrix = self.table.vectors_file  # where it lies now: it may have been renamed
            if matrix is None:
                raise ValueError(f"the {self.table.name} table keeps no vectors")
            return matrix.load(self.extent.rows)

        return self._reading(found)

    @cached_property
    def text(self) -> memoryview:
        """All lines that count, mapped and not read."""

        def found() -> memoryview:
            path = self.table.lines_path
            if files.size(path) < self.extent.bytes:
                raise self.table.corrupt("the file was cut short")
            return files.mapped(path, self.extent.bytes)

        return self._reading(found)

    def line(self, row: int) -> bytes:
        """Return the line at `row`, without its newline."""
        offsets = self.index["offset"]
        start = int(offsets[row])
        end = int(offsets[row + 1]) if row + 1 < len(offsets) else self.extent.bytes
        if not start < end <= self.extent.bytes or end - start > LINE_LIMIT:
            raise self.table.corrupt("the index does not fit the file", position=f"line {row + 1}")
        return bytes(self.text[start : end - 1])

    def node(self, row: int) -> Node:
        """Return the node that the line at `row` holds."""
        source = str(self.table.lines_path)
        return from_line(self.line(row), self.table.collection, source, f"line {row + 1}")

    def payloads(self, rows: Rows) -> list[dict[str, str]]:
        """Return what the lines at many rows say: far quicker than a node at a time."""
        table = self.table
        positions = (f"line {row + 1}" for row in rows.tolist())
        lines = [self.line(row) for row in rows.tolist()]
        records = read_lines(lines, positions, table.collection, str(table.lines_path))
        return [payload_of(record, table.collection) for record in records]

    @cached_property
    def current(self) -> Rows:
        """Per row, the row of its record's last line; meaningful at first lines. int64 [rows]."""
        return last_rows(self.index["first"])

    @cached_property
    def births(self) -> Rows:
        """The rows of all records' first lines, in order. int64 [records]."""
        return first_rows(self.index["first"])

    def first_row(self, record_id: str) -> int | None:
        """Return the row of the record's first line; None if there is no such record.

        The rows are looked up in a table that grows with the bank.
        """
        known: dict[bytes, int] = self.derived.setdefault("first rows", {})
        seen: list[int] = self.derived.setdefault("rows known", [0])
        more = self.index[seen[0] :]
        known.update(zip(more["id"].tolist(), more["first"].tolist(), strict=True))
        seen[0] += len(more)
        row = known.get(record_id.encode())
        return None if row is None or row >= self.extent.rows else row
