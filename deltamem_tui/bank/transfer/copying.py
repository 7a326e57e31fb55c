"""Copying a bank: what it learnt always, what it learnt from only when asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from deltamem_tui.bank import manifest, replicas
from deltamem_tui.bank.append import apply
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.transfer import package


def copy_bank(source: Bank, path: Path, *, history: bool = False) -> Bank:
    """Copy the commit that a handle shows into a new folder, which appears whole or not at all.

    The copy counts for itself from now on: it has an origin of its own, and what was counted
    so far stays booked under that of the source.

    Args:
        source: The bank; it may go on being written meanwhile.
        path: The new bank's folder; its last part is the new name.
        history: Whether the episodes and the journal go along.

    Raises:
        BankExistsError: Something is at `path` already.
        StorageError: The disk refused; nothing is left behind.
    """
    with files.new_folder(path) as draft:
        copy = copy_into(draft, source, name=path.name, history=history)
        _book(copy, source.manifest.counts_as)
    return Bank.open(path)


def copy_into(draft: Path, source: Bank, *, name: str, history: bool, learnt: bool = False) -> Bank:
    """Copy a bank into a folder that only this process sees, under a new origin; book nothing."""
    for member in package.members_of(source, episodes=history or learnt, history=history):
        files.sync(member.write(draft))
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
        for table in tables:
            table.create()
        apply(batch.commit(copy.journal).commit, tables)
