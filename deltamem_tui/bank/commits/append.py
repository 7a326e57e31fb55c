"""What a batch adds to one shelf, and how that is written beyond what counts.

Nothing of it is seen before a line of the journal says that it counts; until then it can be
cut off again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank.commits.journal import Extent
from deltamem_tui.bank.commits.redo import cut
from deltamem_tui.bank.commits.table import COUNTER, Rows, Shelf, ShelfSnapshot
from deltamem_tui.bank.disk import files
from deltamem_tui.errors import DeltaMemError

_CHUNK_ROWS = 16_384
_PIECE_BYTES = 1 << 18  # small enough for the processor's own memory


@dataclass(frozen=True, slots=True)
class Gathered:
    """Rows of an array that lies elsewhere, read when they are written.

    Attributes:
        matrix: float32 [any, dimensions].
        rows: Which of its rows, in order.
    """

    matrix: NDArray[np.float32]
    rows: Rows

    def pieces(self) -> Iterator[NDArray[np.float32]]:
        """The rows, some at a time."""
        for start in range(0, len(self.rows), _CHUNK_ROWS):
            yield np.asarray(self.matrix[self.rows[start : start + _CHUNK_ROWS]])


@dataclass(slots=True)
class Growth:
    """What a batch adds to one shelf.

    Attributes:
        snapshot: The shelf as it counts so far.
        lines: New lines, newlines included, in pieces of any number of lines.
        index: Their index rows in pieces, of the shelf's `index_type`.
        vectors: Their vectors in pieces, float32 [rows, dimensions]; none on most shelves.
        cells: Per row whose counters change, all their new values.
        births: Per record that has a new line, the row of its first line.
        added_rows: How many lines are new.
        added_bytes: How long they are together.
    """

    snapshot: ShelfSnapshot
    lines: list[bytes | memoryview] = field(default_factory=list)
    index: list[NDArray[Any]] = field(default_factory=list)
    vectors: list[NDArray[np.float32] | Gathered] = field(default_factory=list)
    cells: dict[int, list[int]] = field(default_factory=dict)
    births: dict[str, int] = field(default_factory=dict)
    added_rows: int = 0
    added_bytes: int = 0

    @property
    def shelf(self) -> Shelf:
        """The shelf's files."""
        return self.snapshot.shelf

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
        """How much of the shelf will count."""
        return Extent(self.next_row, self.next_offset)

    def first_row(self, record_id: str) -> int | None:
        """The row of a record's first line, old or new; None if there is no such record."""
        added = self.births.get(record_id)
        return self.snapshot.first_row(record_id) if added is None else added

    def append(self, record_id: str, first: int, index: tuple[Any, ...], line: bytes) -> None:
        """Add a line whose record has its first line at row `first`."""
        self.births.setdefault(record_id, first)
        self.index.append(np.array([index], dtype=self.shelf.index_type))
        self.lines.append(line)
        self.added_rows += 1
        self.added_bytes += len(line)

    def extend(self, index: NDArray[Any], lines: Sequence[bytes | memoryview]) -> None:
        """Add many lines at once; `index` is as `Batch.extend` has it."""
        placed = index.copy()
        placed["offset"] += self.next_offset
        for record_id, first in zip(index["id"].tolist(), index["first"].tolist(), strict=True):
            self.births.setdefault(record_id.decode(), first)
        self.index.append(placed)
        self.lines.extend(lines)
        self.added_rows += len(index)
        self.added_bytes += sum(map(len, lines))

    def cell(self, row: int) -> list[int]:
        """The counters of a row, to be changed."""
        if row not in self.cells:
            known = row < self.snapshot.extent.rows
            self.cells[row] = (
                [int(value) for value in self.snapshot.counters[row]]
                if known
                else [0] * self.shelf.counters
            )
        return self.cells[row]


def grow(growths: Collection[Growth]) -> None:
    """Step 1 of a commit: write what was gathered behind what counts, and sync it.

    Raises:
        StorageError: The disk refused; all files are as long as they were.
    """
    try:
        for growth in growths:
            if growth.lines:
                _write(growth)
    except DeltaMemError:
        take_back(growths)
        raise


def take_back(growths: Collection[Growth]) -> None:
    """Cut off what was written and will not count, as far as the disk lets us."""
    for growth in growths:
        if growth.lines:
            with suppress(DeltaMemError):
                cut(growth.shelf, growth.snapshot.extent)


def _write(growth: Growth) -> None:
    """The same for one shelf."""
    shelf, before = growth.shelf, growth.snapshot.extent
    position = before.bytes
    for piece in _pieces(growth.lines):
        files.write_at(shelf.lines_path, position, piece)
        position += len(piece)
    shelf.index_file.write_rows(before.rows, np.concatenate(growth.index))
    zeros = np.zeros((growth.added_rows, shelf.counters), dtype=COUNTER)
    shelf.counters_file.write_rows(before.rows, zeros)
    if shelf.vectors_file:
        row = before.rows
        for block in _blocks(growth.vectors):
            shelf.vectors_file.write_rows(row, block)
            row += len(block)
    for path in (shelf.lines_path, *(matrix.path for matrix in shelf.matrices)):
        files.sync(path)


def _pieces(lines: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    """Lines together, a quarter of a megabyte at a time.

    To join them all would ask the system for as much memory again, which takes longer than to
    write them.
    """
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


def _blocks(vectors: Iterable[NDArray[np.float32] | Gathered]) -> Iterator[NDArray[np.float32]]:
    """Vectors in as few pieces as fit into memory."""
    alone: list[NDArray[np.float32]] = []
    for each in vectors:
        if isinstance(each, Gathered):
            if alone:
                yield np.concatenate(alone)
                alone = []
            yield from each.pieces()
        else:
            alone.append(each)
    if alone:
        yield np.concatenate(alone)
