"""Copying a bank: what it learnt always, what it learnt from only when asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from deltamem_tui.bank import episodes, manifest, replicas, usage_log
from deltamem_tui.bank.append import apply
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.commits import file_swap, journal
from deltamem_tui.bank.commits.journal import Commit, Journal
from deltamem_tui.bank.disk import archive_view, files
from deltamem_tui.bank.table import TableSnapshot

_CHUNK_ROWS = 16_384
_CHUNK_BYTES = 16 * 1024 * 1024


def copy_bank(source: Bank, path: Path, *, history: bool = False) -> Bank:
    """Copy the commit that a handle shows into a new folder, which appears whole or not at all.

    The copy counts for itself from now on: it has an origin of its own, and what was counted
    so far stays booked under that of the source.

    Args:
        source: The bank; it may go on being written meanwhile.
        path: The new bank's folder; its last part is the new name.
        history: Whether the episodes and the journal go along.

    Returns:
        The copy, not frozen.

    Raises:
        BankExistsError: Something is at `path` already.
        StorageError: The disk refused; nothing is left behind.
    """
    with files.new_folder(path) as draft:
        copy = copy_into(draft, source, name=path.name, history=history)
        _book(copy, source.manifest.counts_as)
    return Bank.open(path)


def copy_into(draft: Path, source: Bank, *, name: str, history: bool, learnt: bool = False) -> Bank:
    """Copy a bank into a folder that no other process sees yet, under a new origin; book nothing.

    Args:
        draft: An empty folder.
        source: The bank.
        name: The copy's name.
        history: Whether the episodes and the journal go along.
        learnt: Whether the episodes go along, even without the journal.
    """
    for table, snapshot in source.snapshots.items():
        if history or learnt or table != episodes.NAME:
            _copy_table(snapshot, draft)
    if history and source.journal.exists:
        _copy_journal(source, draft)
    copied = replace(
        source.manifest.upgraded, name=name, frozen=False, digests={}, replica=replicas.drawn()
    )
    manifest.write(draft, copied)
    return Bank.open(draft)


def _book(copy: Bank, origin: str) -> None:
    """Write down which of a copy's counts are those of another origin."""
    batch = Batch(copy.tail, copy.snapshots)
    batch.log("copy", {"origin": origin})
    booked = replicas.book(batch, copy.snapshots, origin)
    if copy.tail is None:
        batch.write_unseen()
    elif booked:
        tables = [snapshot.table for snapshot in copy.snapshots.values()]
        apply(batch.commit(copy.journal).commit, tables)


def _copy_table(snapshot: TableSnapshot, folder: Path) -> None:
    """Write what counts of a table: its lines, and the arrays as this commit has them."""
    table = replace(snapshot.table, folder=folder, commit=Commit())
    rows = snapshot.extent.rows
    table.create()
    position = 0
    for part in archive_view.pieces(snapshot.text, _CHUNK_BYTES):
        files.write_at(table.lines_path, position, part)
        position += len(part)
    arrays = [(table.index_file, snapshot.index), (table.counters_file, snapshot.counters)]
    if table.vectors_file:
        arrays.append((table.vectors_file, snapshot.vectors))
    for matrix, values in arrays:
        for start in range(0, rows, _CHUNK_ROWS):
            matrix.write_rows(start, values[start : start + _CHUNK_ROWS])
        matrix.write_header(rows)
        files.sync(matrix.path)
    files.sync(table.lines_path)


def _copy_journal(source: Bank, folder: Path) -> None:
    """Write the journal up to the commit that the handle shows."""
    copy = Journal(folder / journal.FILE_NAME)
    lines = [each for each in source.journal.commits() if each.sequence <= source.commit.sequence]
    file_swap.require_current(source.path, source.commit)  # or the history was folded meanwhile
    files.replace(copy.path, b"".join(each.line() for each in lines))
    bill = source.path / usage_log.FILE_NAME
    if length := archive_view.size(bill):
        files.replace(folder / usage_log.FILE_NAME, bytes(archive_view.mapped(bill, length)))
