"""Copying a bank: what it learnt always, what it learnt from only when asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from deltamem_tui.bank import episodes, files, journal, manifest
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.journal import Journal
from deltamem_tui.bank.shelf import ShelfSnapshot

_CHUNK_ROWS = 16_384
_CHUNK_BYTES = 16 * 1024 * 1024


def copy_bank(source: Bank, path: Path, *, history: bool = False) -> Bank:
    """Copy the commit that a handle shows into a new folder, which appears whole or not at all.

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
        for name, snapshot in source.snapshots.items():
            if history or name != episodes.NAME:
                _copy_shelf(snapshot, draft)
        if history and source.journal.exists:
            _copy_journal(source, draft)
        copied = replace(source.manifest, name=path.name, frozen=False, digests={})
        manifest.write(draft, copied)
    return Bank.open(path)


def _copy_shelf(snapshot: ShelfSnapshot, folder: Path) -> None:
    """Write what counts of a shelf: its lines, and the arrays as this commit has them."""
    shelf, rows = replace(snapshot.shelf, folder=folder), snapshot.extent.rows
    shelf.create()
    position = 0
    for part in _parts(snapshot.shelf.lines_path, snapshot.extent.bytes):
        files.write_at(shelf.lines_path, position, part)
        position += len(part)
    arrays = [(shelf.index_file, snapshot.index), (shelf.counters_file, snapshot.counters)]
    if shelf.vectors_file:
        arrays.append((shelf.vectors_file, snapshot.vectors))
    for matrix, values in arrays:
        for start in range(0, rows, _CHUNK_ROWS):
            matrix.write_rows(start, values[start : start + _CHUNK_ROWS])
        matrix.write_header(rows)
        files.sync(matrix.path)
    files.sync(shelf.lines_path)


def _copy_journal(source: Bank, folder: Path) -> None:
    """Write the journal up to the commit that the handle shows."""
    copy = Journal(folder / journal.FILE_NAME)
    lines = [each for each in source.journal.commits() if each.sequence <= source.commit.sequence]
    files.replace(copy.path, b"".join(each.line() for each in lines))


def _parts(path: Path, length: int) -> Iterator[bytes]:
    """The first `length` bytes of a file, in pieces."""
    with files.storage_errors(path), path.open("rb") as stream:
        while length:
            part = stream.read(min(length, _CHUNK_BYTES))
            if not part:
                return
            length -= len(part)
            yield part
