"""How a batch reaches a bank's files: appended beyond what counts, then redone in place.

Nothing that is appended is seen before a line of the journal says that it counts; until then it
can be cut off again. A line of the journal carries absolute numbers: how much of every file counts,
and the new value of every counter that it changed. So the next writer can do in place again what
the last line states, whatever the last writer was doing when it stopped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from deltamem_tui.bank.commits.journal import Commit, Extent, Tail
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.table import COUNTER, Rows, Table, TableSnapshot, wrong_lengths
from deltamem_tui.errors import BankCorruptError, DeltaMemError

_CHUNK_ROWS = 16_384
# Small enough for the processor's own memory; to join all lines takes longer than to write them.
_PIECE_BYTES = 1 << 18


@dataclass(frozen=True, slots=True)
class VectorRows:
    """Some rows, in order, of an array that lies elsewhere: they are read when they are written."""

    matrix: NDArray[np.float32]
    rows: Rows

    def pieces(self) -> Iterator[NDArray[np.float32]]:
        """Yield the rows, some at a time."""
        for start in range(0, len(self.rows), _CHUNK_ROWS):
            yield np.asarray(self.matrix[self.rows[start : start + _CHUNK_ROWS]])


@dataclass(slots=True)
class Addition:
    """What a batch adds to one table.

    Attributes:
        snapshot: The table as it counts so far.
        lines: New lines, newlines included, in pieces of any number of lines.
        index: Their index rows in pieces, of the table's `index_type`.
        vectors: Their vectors in pieces, float32 [rows, dimensions]; none on most tables.
        cells: Per row whose counters change, all their new values.
        births: Per record that has a new line, the row of its first line.
        added_rows: How many lines are new.
        added_bytes: How long they are together.
    """

    snapshot: TableSnapshot
    lines: list[bytes | memoryview] = field(default_factory=list)
    index: list[NDArray[Any]] = field(default_factory=list)
    vectors: list[NDArray[np.float32] | VectorRows] = field(default_factory=list)
    cells: dict[int, list[int]] = field(default_factory=dict)
    births: dict[str, int] = field(default_factory=dict)
    added_rows: int = 0
    added_bytes: int = 0

    @property
    def table(self) -> Table:
        """The table's files."""
        return self.snapshot.table

    @property
    def next_row(self) -> int:
        """The row that the next line will have."""
        return self.snapshot.extent.rows + self.added_rows

    @property
    def next_offset(self) -> int:
        """The byte at which the next line will begin."""
        return self.snapshot.extent.bytes + self.added_bytes

    @property
    def extent(self) -> Extent:
        """How much of the table will count."""
        return Extent(self.next_row, self.next_offset)

    def first_row(self, record_id: str) -> int | None:
        """Return the row of a record's first line, old or new; None if there is no such record."""
        added = self.births.get(record_id)
        return self.snapshot.first_row(record_id) if added is None else added

    def append(self, record_id: str, first: int, index: tuple[Any, ...], line: bytes) -> None:
        """Add a line whose record has its first line at row `first`."""
        self.births.setdefault(record_id, first)
        self.index.append(np.array([index], dtype=self.table.index_type))
        self.lines.append(line)
        self.added_rows += 1
        self.added_bytes += len(line)

    def extend(
        self,
        index: NDArray[Any],
        lines: Sequence[bytes | memoryview],
        sizes: NDArray[np.int64] | None = None,
    ) -> None:
        """Add many lines at once; `index` and `sizes` are as `Batch.extend` has them."""
        if sizes is None:
            sizes = np.array([len(line) for line in lines], dtype=np.int64)
        placed = index.copy()
        placed["offset"] = self.next_offset + np.cumsum(sizes) - sizes
        for record_id, first in zip(index["id"].tolist(), index["first"].tolist(), strict=True):
            self.births.setdefault(record_id.decode(), first)
        self.index.append(placed)
        self.lines.extend(lines)
        self.added_rows += len(index)
        self.added_bytes += int(sizes.sum())

    def cell(self, row: int) -> list[int]:
        """Return the counters of a row, to be changed."""
        if row not in self.cells:
            known = row < self.snapshot.extent.rows
            self.cells[row] = (
                [int(value) for value in self.snapshot.counters[row]]
                if known
                else [0] * self.table.counters
            )
        return self.cells[row]


def append_all(additions: Collection[Addition]) -> None:
    """Step 1 of a commit: write what was gathered behind what counts, and sync it.

    Raises:
        StorageError: The disk refused; all files are as long as they were.
    """
    try:
        for addition in additions:
            if addition.lines:
                _write(addition)
    except DeltaMemError:
        take_back(additions)
        raise


def take_back(additions: Collection[Addition]) -> None:
    """Cut off what was written and will not count, as far as the disk lets us."""
    for addition in additions:
        if addition.lines:
            with suppress(DeltaMemError):
                cut(addition.table, addition.snapshot.extent)


def _write(addition: Addition) -> None:
    """Write what is added to one table."""
    table, before = addition.table, addition.snapshot.extent
    position = before.bytes
    for piece in pieces(addition.lines):
        files.write_at(table.lines_path, position, piece)
        position += len(piece)
    table.index_file.write_rows(before.rows, np.concatenate(addition.index))
    zeros = np.zeros((addition.added_rows, table.counters), dtype=COUNTER)
    table.counters_file.write_rows(before.rows, zeros)
    if table.vectors_file:
        row = before.rows
        for block in _blocks(addition.vectors):
            table.vectors_file.write_rows(row, block)
            row += len(block)
    for path in (table.lines_path, *(matrix.path for matrix in table.matrices)):
        files.sync(path)


def pieces(lines: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    """Lines together, a quarter of a megabyte at a time."""
    gathered: list[bytes | memoryview] = []
    size = 0
    for line in lines:
        gathered.append(line)
        size += len(line)
        if size >= _PIECE_BYTES:
            yield b"".join(gathered)
            gathered, size = [], 0
    if gathered:
        yield b"".join(gathered)


def _blocks(vectors: Iterable[NDArray[np.float32] | VectorRows]) -> Iterator[NDArray[np.float32]]:
    """Vectors in as few pieces as fit into memory."""
    alone: list[NDArray[np.float32]] = []
    for each in vectors:
        if isinstance(each, VectorRows):
            if alone:
                yield np.concatenate(alone)
                alone = []
            yield from each.pieces()
        else:
            alone.append(each)
    if alone:
        yield np.concatenate(alone)


def apply(commit: Commit, tables: Iterable[Table]) -> None:
    """Step 3: do in place what the commit states. Doing it again changes nothing."""
    for table in tables:
        if table.counters_name in commit.replaces:
            continue  # the new files hold what the commit states, and are on the disk
        for row, block in _runs(commit.cells.get(table.name, {})):
            table.counters_file.write_rows(row, block)
        for matrix in table.matrices:
            matrix.write_header(commit.extent(table.name).rows)


def sync_counters(before: Commit, tables: Iterable[Table]) -> None:
    """See that the counters that a commit changed are on the disk before another follows it.

    Only its own line could restore them, and only while it is the last.
    """
    for table in tables:
        if table.name in before.cells:
            files.sync(table.counters_file.path)


def _runs(cells: Mapping[int, Sequence[int]]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Cells as (row, values of this row and those right behind it)."""
    rows = sorted(cells)
    starts = [i for i, row in enumerate(rows) if not i or row != rows[i - 1] + 1]
    for start, stop in zip(starts, [*starts[1:], len(rows)], strict=False):
        yield rows[start], np.array([cells[row] for row in rows[start:stop]], dtype=COUNTER)


def cut(table: Table, extent: Extent) -> None:
    """Remove what lies beyond what counts: the remains of a batch that never was."""
    files.truncate(table.lines_path, extent.bytes)
    for matrix in table.matrices:
        files.truncate(matrix.path, matrix.position(extent.rows))


def redo(tail: Tail | None, tables: list[Table]) -> None:
    """Bring the files to what the last commit states, whatever the last writer was doing.

    Raises:
        BankCorruptError: A file is shorter than what was acknowledged.
    """
    commit = tail.commit if tail else whole(tables)
    for table in tables:
        extent = commit.extent(table.name)
        if not extent.rows:
            table.create()
        table.require(extent)
        _restore_index(table, commit)
        _require_sound_end(table, commit)
        cut(table, extent)
    apply(commit, tables)


def whole(tables: Iterable[Table]) -> Commit:
    """Return the commit of a bank that is shipped without its journal: it counts as it lies
    there.
    """
    return Commit(extents={table.name: table.whole_extent() for table in tables})


def _require_sound_end(table: Table, commit: Commit) -> None:
    """See that what a writer would build on is whole, as far as one look at the end can show."""
    snapshot = TableSnapshot(table, commit)
    last = snapshot.extent.rows - 1
    if last < 0:
        return
    record = snapshot.index[last]
    end = bytes(snapshot.text[max(int(record["offset"]) - 1, 0) :])
    line = end[1:] if record["offset"] else end
    alone = end[:1] == b"\n" or not record["offset"]
    try:
        named = orjson.loads(line)["id"].encode() == record["id"]
    except (ValueError, TypeError, KeyError, AttributeError):
        named = False
    if not (alone and named and line.find(b"\n") == len(line) - 1):
        raise _broken(table.lines_path.name, table, f"line {last + 1} is not what was written")
    if table.vectors_file:
        for _, length in wrong_lengths(snapshot.vectors[last:]):
            name = table.vectors_file.path.name
            raise _broken(name, table, f"the vector at row {last} has length {length:.4g}, not 1")


def _broken(name: str, table: Table, message: str) -> BankCorruptError:
    return BankCorruptError(
        message,
        source=str(table.folder / name),
        hint="nothing was written; `deltamem verify` lists all that is broken",
    )


def _restore_index(table: Table, commit: Commit) -> None:
    """Write the derived index anew where it is missing or does not fit."""
    snapshot = TableSnapshot(table, commit)
    if snapshot.stored_index() is None:
        table.index_file.write_whole(snapshot.index)
