"""Verification of a bank against every promise of its format, and the repair of a torn journal.

Verification reads everything and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank import journal, ledger, manifest
from deltamem_tui.bank.bank import Bank, writers_turn
from deltamem_tui.bank.disk import archive, files
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.journal import Commit, Journal
from deltamem_tui.bank.table import TableSnapshot, first_rows, last_rows, wrong_lengths
from deltamem_tui.bank.tree import NO_PARENT, read_lines
from deltamem_tui.errors import BankCorruptError, BankError, BankFrozenError, Remedy
from deltamem_tui.text import one_line

_CHUNK_ROWS = 16_384
_SHOWN = 10
_BEGINNINGS = {"init", "compact"}  # commits before which nothing was counted
_NONE = np.zeros((0, 0), dtype=np.uint32)
_ELSEWHERE = "get it again from where it came from"
_IF_MEANT = (
    "restore the bank from a copy; if you changed it yourself, `deltamem bank unfreeze` and "
    "`deltamem bank freeze` state it as it is"
)


@dataclass(frozen=True, slots=True)
class Flaw:
    """One broken promise of a file; the hint is what to do, if not to restore it from a copy."""

    message: str
    source: str
    position: str | None = None
    hint: str | None = None


def verify(bank: Bank) -> list[Flaw]:
    """Check a bank: digests if it is frozen, then every line, tree, vector and counter.

    Returns:
        The flaws found, of the lines of each file the first; none for a sound bank.
    """
    found = [*_file_flaws(bank), *flaws_of(bank)]
    return list(dict.fromkeys(found))


def repair(path: Path) -> bytes:
    """Cut the journal of the bank in a folder back to its last whole commit.

    What a power cut left behind that commit was never acknowledged. A line that commits follow
    is not cut: they were.

    Returns:
        What was cut off; nothing if the journal ends with a whole commit.
    """
    if files.is_archive(path) or manifest.read(path).frozen:
        raise BankFrozenError(
            "a frozen bank is never written", source=str(path), hint=Remedy.ALLOW_WRITING
        )
    history = Journal(path / journal.FILE_NAME)
    if not history.exists:
        return b""
    with writers_turn(path):
        return history.cut_torn_end()


def flaws_of(bank: Bank) -> Iterator[Flaw]:
    """Yield what breaks the rules of the format, as it is found.

    The same flaw may come twice: who reads a stranger's bank can stop at the first.
    """
    for snapshot in bank.snapshots.values():
        yield from _table_flaws(snapshot)
    for check in (_state_flaws, _share_flaws, _journal_flaws):
        yield from check(bank)


def require_sound(bank: Bank) -> None:
    """See that a bank that others take from breaks no rule of the format."""
    for flaw in flaws_of(bank):
        source = one_line(str(bank.path / flaw.source))
        raise BankCorruptError(flaw.message, source=source, position=flaw.position, hint=flaw.hint)


def is_proved(bank: Bank) -> bool:
    """Return whether the journal begins with the bank, so that counts were checked against it."""
    with suppress(BankError):
        first = next(bank.journal.commits(), None) if bank.journal.exists else None
        return first is not None and first.event in _BEGINNINGS
    return False


def _file_flaws(bank: Bank) -> Iterator[Flaw]:
    """Yield the files of a frozen bank that were changed, and the links in any other."""
    if bank.frozen:
        for name, message in manifest.broken_promises(bank.path, bank.manifest):
            yield Flaw(message, name, hint=_ELSEWHERE if bank.archived else _IF_MEANT)
    elif not bank.archived:
        for name in files.names(bank.path):
            if archive.FILE_NAME.fullmatch(name) and (bank.path / name).is_symlink():
                yield Flaw("is not a plain file", name, hint="put the file itself in its place")


def _table_flaws(snapshot: TableSnapshot) -> Iterator[Flaw]:
    """Yield faults in a table's lines, its index and its vectors."""
    table, extent = snapshot.table, snapshot.extent
    lines = table.lines(extent)
    altered: list[int] = []
    try:
        if table.nodes is None:
            built = table.build_index(table, lines, extent.rows)
        else:
            built, altered = read_lines(table, lines, extent.rows, born=True)
    except BankError as error:
        yield Flaw(error.message, table.lines_name, error.position)
    else:
        if table.nodes is not None:
            yield from _forest_flaws(table.lines_name, built)
        for row in altered:
            message = f"node {_id(built, row)} does not say what its id was made from"
            yield Flaw(message, table.lines_name, f"line {row + 1}")
        yield from _index_flaws(snapshot, built)
    yield from _vector_flaws(snapshot)


def _forest_flaws(name: str, index: NDArray[Any]) -> Iterator[Flaw]:
    """Yield living nodes whose parent does not live, or not one level above.

    Depths that rise by one from parent to child also rule out every cycle.
    """
    current = last_rows(index["first"])
    living = current[first_rows(index["first"])]
    children = living[(index["parent"][living] != NO_PARENT) & ~index["deleted"][living]]
    parents = current[index["parent"][children]]
    for row in children[index["deleted"][parents]].tolist():
        yield Flaw(f"node {_id(index, row)} has a deleted parent", name, f"line {row + 1}")
    for row in children[index["depth"][parents] + 1 != index["depth"][children]].tolist():
        message = f"node {_id(index, row)} is not one level below its parent"
        yield Flaw(message, name, f"line {row + 1}")


def _id(index: NDArray[Any], row: int) -> str:
    return bytes(index["id"][row]).decode()


def _index_flaws(snapshot: TableSnapshot, built: NDArray[Any]) -> Iterator[Flaw]:
    """Yield where the stored index does not say what the lines say."""
    table = snapshot.table
    name = table.index_file.path.name
    stored = snapshot.stored_index()
    if stored is not None and not np.array_equal(stored, built):
        row = int(np.flatnonzero(stored != built)[0])
        yield Flaw("contradicts the lines; delete it and it is made again", name, f"row {row}")
    elif stored is None and files.exists(table.index_file.path):
        yield Flaw("does not fit the lines; delete it and it is made again", name)
    if not snapshot.extent.rows and files.exists(table.counters_file.path):
        try:
            table.counters_file.rows()  # where nothing counts yet, nothing else opens it
        except BankError as error:
            yield Flaw(error.message, table.counters_name)


def _vector_flaws(snapshot: TableSnapshot) -> Iterator[Flaw]:
    """Yield the vectors of a collection that are not of the length 1."""
    matrix = snapshot.table.vectors_file
    if matrix is None:
        return
    try:
        vectors = snapshot.vectors
    except BankError as error:
        yield Flaw(error.message, matrix.path.name)
        return
    for start in range(0, len(vectors), _CHUNK_ROWS):
        for row, length in islice(wrong_lengths(vectors[start : start + _CHUNK_ROWS]), _SHOWN):
            message = f"the vector has length {length:.4g} instead of 1"
            yield Flaw(message, matrix.path.name, f"row {start + row}")


def _state_flaws(bank: Bank) -> Iterator[Flaw]:
    """Yield the episodes that are in an unknown state."""
    snapshot = bank.episodes.snapshot
    for row in np.flatnonzero(snapshot.counters[:, 0] > max(EpisodeState))[:_SHOWN].tolist():
        state = int(snapshot.counters[row, 0])
        yield Flaw(f"no state {state}", snapshot.table.counters_name, f"row {row}")


def _share_flaws(bank: Bank) -> Iterator[Flaw]:
    """Yield what others counted of nodes that are not there, or more than their totals."""
    table = bank.snapshots[ledger.ORIGINS.name].table
    try:
        for message in ledger.contradictions(bank.snapshots, bank.manifest.counts_as):
            yield Flaw(message, table.counters_name)
    except BankError as error:
        yield Flaw(error.message, table.lines_name, error.position)


def _journal_flaws(bank: Bank) -> Iterator[Flaw]:
    """Yield broken or misplaced commits, and counters that the commits do not add up to."""
    if not bank.journal.exists:
        return
    name = bank.journal.path.name
    stated = {each: np.zeros_like(table.counters) for each, table in bank.snapshots.items()}
    first: Commit | None = None
    before: Commit | None = None
    try:
        for commit in bank.journal.commits():
            if commit.sequence > bank.commit.sequence:
                break
            if before and commit.sequence != before.sequence + 1:
                yield Flaw(f"commit {commit.sequence} follows commit {before.sequence}", name)
            first, before = first or commit, commit
            _count(stated, commit)
    except BankError as error:
        yield Flaw(error.message, name, error.position)
        return
    if first and first.event in _BEGINNINGS:
        for table, counters in stated.items():
            yield from _counter_flaws(bank.snapshots[table], counters)


def _count(stated: Mapping[str, NDArray[np.uint32]], commit: Commit) -> None:
    for table, rows in commit.cells.items():
        here = stated.get(table, _NONE)  # a table may have stayed behind
        for row, values in rows.items():
            if row < len(here) and len(values) == here.shape[1]:
                here[row] = values


def _counter_flaws(snapshot: TableSnapshot, stated: NDArray[np.uint32]) -> Iterator[Flaw]:
    found = snapshot.counters
    for row in np.flatnonzero((found != stated).any(axis=1)).tolist():
        message = f"counts {found[row].tolist()} where the journal states {stated[row].tolist()}"
        yield Flaw(message, snapshot.table.counters_name, f"row {row}")
