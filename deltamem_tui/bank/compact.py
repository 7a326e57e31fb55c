"""Compaction: a bank without what it holds only because files grow.

Every change of a node leaves the line it had before, with its vector; every commit leaves a
line in the journal. Here each record keeps its last line alone, at the place of its first;
a deleted node keeps its id, so that no merge brings it back, but not its text; and the journal
becomes one line that sums it up. What a bank knows and counts stays exactly as it was. What
goes is the way back: earlier revisions, and the decisions that the journal held.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import pieces
from deltamem_tui.bank.disk import archive, files
from deltamem_tui.bank.journal import Cells, Extent
from deltamem_tui.bank.node import to_line
from deltamem_tui.bank.table import Lines, NpyFile, Rows, TableSnapshot, first_rows, last_rows
from deltamem_tui.bank.tree import NO_PARENT, Tree, displaced_rows

_PIECE_ROWS = 16_384


@dataclass(frozen=True, slots=True)
class Compaction:
    """The result of a compaction; nothing is saved if there was nothing to save.

    Attributes:
        bytes_saved: Bytes that are gone from all files together. Less than 0 where the journal's
            one line says more than all that it stands for.
        rows_saved: Lines that are gone from the line files, the journal's not counted.
        commits: How many commits the journal's one line stands for.
    """

    bytes_saved: int = 0
    rows_saved: int = 0
    commits: int = 0


def compact(bank: Bank) -> Compaction:
    """Let a bank hold nothing but what it knows, in one commit.

    Returns:
        What was saved; if there was nothing to save, the bank is as it was.

    Raises:
        BankFrozenError: The bank is frozen.
        BankCorruptError: It breaks the rules of the format; nothing is written.
        BankError: What it counts does not fit one line of the journal; nothing is written.
    """
    with bank.writing() as batch:
        commits = sum(1 for _ in bank.journal.commits()) if bank.journal.exists else 0
        tables = [_CompactTable(each) for each in bank.snapshots.values()]
        if not any(each.changed for each in tables) and commits < 2:
            return Compaction()
        before = _bytes_of(bank.path)
        batch.log("compact", {"commits": commits})
        for table in tables:
            batch.compact(table.name, table.extent, table.cells)
            for name in table.names():
                batch.write_file(bank.path / name, table.content(name))
    rows = sum(each.rows_saved for each in tables)
    return Compaction(before - _bytes_of(bank.path), rows, commits)


def _bytes_of(folder: Path) -> int:
    found = filter(archive.FILE_NAME.fullmatch, files.names(folder))
    return sum(files.size(folder / name) for name in found)


class _CompactTable:
    """A table as it will be: which of its lines stay, and in which order."""

    def __init__(self, snapshot: TableSnapshot) -> None:
        self.name = snapshot.table.name
        self._snapshot = snapshot
        self._table = snapshot.table
        # Not the stored index: what it gets wrong would become the truth.
        index = self._table.build_index(
            self._table, self._table.lines(snapshot.extent), snapshot.extent.rows
        )
        current = last_rows(index["first"])
        births = first_rows(index["first"])
        if self._table.nodes is not None:
            births = _parents_first(births, index["parent"][current])
        self._rows: Rows = current[births]
        self._counters = snapshot.counters[births]
        self._starts = index["offset"].astype(np.int64)
        self._lengths = np.diff(self._starts, append=snapshot.extent.bytes)
        self._tombstones = dict(self._short_tombstones(index))
        for row, line in self._tombstones.items():
            self._lengths[row] = len(line)
        self.extent = Extent(len(self._rows), int(self._lengths[self._rows].sum()))
        self.changed = self.extent != snapshot.extent
        self.rows_saved = snapshot.extent.rows - self.extent.rows
        self._matrices = {each.path.name: each for each in self._table.matrices}

    @property
    def cells(self) -> Cells:
        """All counters that are not zero, by their new row."""
        counted = np.flatnonzero(self._counters.any(axis=1))
        return dict(zip(counted.tolist(), self._counters[counted].tolist(), strict=True))

    def names(self) -> list[str]:
        """Return the files that will be replaced: the counters too, as the new journal states
        all counts, which then need not be written one by one.
        """
        return [self._table.lines_name, *self._matrices] if len(self._starts) else []

    def content(self, name: str) -> Iterator[bytes]:
        """Yield a new file's bytes, in pieces."""
        if name == self._table.lines_name:
            return pieces(line + b"\n" for _, _, line in self._lines())
        matrix = self._matrices[name]
        rows = np.arange(len(self._rows))
        if name == self._table.counters_name:
            return _array_pieces(matrix, self._counters, rows)
        if matrix == self._table.index_file:
            # Read again from what is going to be written: a last look before it counts.
            index = self._table.build_index(self._table, self._lines(), len(rows))
            return _array_pieces(matrix, index, rows)
        return _array_pieces(matrix, self._snapshot.vectors, self._rows)

    def _lines(self) -> Lines:
        """Yield the lines that stay, as (new row, new offset, line without newline)."""
        offset, text = 0, self._snapshot.text
        for number, row in enumerate(self._rows.tolist()):
            line = self._tombstones.get(row)
            if line is None:
                start = int(self._starts[row])
                line = bytes(text[start : start + int(self._lengths[row])])
            yield number, offset, line[:-1]
            offset += len(line)

    def _short_tombstones(self, index: NDArray[Any]) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of deleted nodes without their text, by their row."""
        if self._table.nodes is None:
            return
        found = Tree(self.name, self._snapshot)
        empty = dict.fromkeys(self._table.collection.fields, "")
        deleted = self._rows[index["deleted"][self._rows]]
        # What a merge put there lives again when what is above it does, and needs its text.
        for row in deleted[~np.isin(deleted, displaced_rows(self._snapshot))].tolist():
            yield row, to_line(msgspec.structs.replace(found.node_at(row), payload=empty))


def _parents_first(births: Rows, parents: NDArray[np.int64]) -> Rows:
    """Return first lines in their order, but none before its parent's, which may be younger."""
    if np.all(parents[births] < births):
        return births
    placed: dict[int, None] = {}
    for birth in births.tolist():
        way: list[int] = []
        above = birth
        # No way is longer than all nodes, unless a bank is broken: building its index will show.
        while above not in placed and above != NO_PARENT and len(way) <= len(births):
            way.append(above)
            above = int(parents[above])
        placed.update(dict.fromkeys(reversed(way)))
    return np.fromiter(placed, dtype=np.int64, count=len(placed))


def _array_pieces(matrix: NpyFile, values: NDArray[Any], rows: Rows) -> Iterator[bytes]:
    """Yield an array file with some rows of `values`: its header, then the rows."""
    yield matrix.header(len(rows))
    for start in range(0, len(rows), _PIECE_ROWS):
        piece = values[rows[start : start + _PIECE_ROWS]]
        yield np.ascontiguousarray(piece, dtype=matrix.dtype).tobytes()
