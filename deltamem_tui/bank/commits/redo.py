"""Settling: doing in place what the journal's last line states, as often as need be.

A line of the journal carries absolute numbers: how much of every file counts, and the new
value of every counter that it changed. So whoever comes next can do the same again, whatever
the last writer was doing when it stopped, and cut off what nobody counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from deltamem_tui.bank.commits.journal import Commit, Extent, Tail
from deltamem_tui.bank.commits.table import COUNTER, UNIT_TOLERANCE, Shelf, ShelfSnapshot
from deltamem_tui.bank.disk import files
from deltamem_tui.errors import BankCorruptError


def apply(commit: Commit, shelves: Iterable[Shelf]) -> None:
    """Step 3: do in place what the commit states. Doing it again changes nothing."""
    for shelf in shelves:
        if shelf.counters_name in commit.replaces:
            continue  # the new files hold what the commit states, and are on the disk
        for row, block in _runs(commit.cells.get(shelf.name, {})):
            shelf.counters_file.write_rows(row, block)
        for matrix in shelf.matrices:
            matrix.write_header(commit.extent(shelf.name).rows)


def _runs(cells: Mapping[int, Sequence[int]]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Cells as (row, values of this row and those right behind it)."""
    rows = sorted(cells)
    starts = [i for i, row in enumerate(rows) if not i or row != rows[i - 1] + 1]
    for start, stop in zip(starts, [*starts[1:], len(rows)], strict=False):
        yield rows[start], np.array([cells[row] for row in rows[start:stop]], dtype=COUNTER)


def cut(shelf: Shelf, extent: Extent) -> None:
    """Remove what lies beyond what counts: the remains of a batch that never was."""
    files.truncate(shelf.lines_path, extent.bytes)
    for matrix in shelf.matrices:
        files.truncate(matrix.path, matrix.position(extent.rows))


def settle(tail: Tail | None, shelves: list[Shelf]) -> None:
    """Bring the files to what the last commit states, whatever the last writer was doing.

    Raises:
        BankCorruptError: A file is shorter than what was acknowledged.
    """
    commit = tail.commit if tail else whole(shelves)
    for shelf in shelves:
        extent = commit.extent(shelf.name)
        if not extent.rows:
            shelf.create()
        shelf.require(extent)
        _restore_index(shelf, commit)
        _require_sound_end(shelf, commit)
        cut(shelf, extent)
    apply(commit, shelves)


def whole(shelves: Iterable[Shelf]) -> Commit:
    """The commit of a bank that is shipped without its journal: it counts as it lies there."""
    return Commit(extents={shelf.name: shelf.whole_extent() for shelf in shelves})


def _require_sound_end(shelf: Shelf, commit: Commit) -> None:
    """See that what a writer would build on is whole, as far as one look at the end can tell.

    Raises:
        BankCorruptError: The last line, its index row or its vector is not what was written.
    """
    snapshot = ShelfSnapshot(shelf, commit)
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
        raise _broken(shelf.lines_path.name, shelf, f"line {last + 1} is not what was written")
    if shelf.vectors_file:
        length = float(np.linalg.norm(snapshot.vectors[last].astype(np.float64)))
        if not abs(length - 1.0) < UNIT_TOLERANCE:
            name = shelf.vectors_file.path.name
            raise _broken(name, shelf, f"the vector at row {last} has length {length:.4g}, not 1")


def _broken(name: str, shelf: Shelf, message: str) -> BankCorruptError:
    return BankCorruptError(
        message,
        source=str(shelf.folder / name),
        hint="nothing was written; `deltamem verify` lists all that is broken",
    )


def _restore_index(shelf: Shelf, commit: Commit) -> None:
    """Write the derived index anew where it is missing or does not fit."""
    snapshot = ShelfSnapshot(shelf, commit)
    if snapshot.stored_index() is None:
        shelf.index_file.write_whole(snapshot.index)
