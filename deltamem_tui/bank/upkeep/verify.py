"""Verification: does a bank keep every promise of its format? Reads everything, changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.table import ShelfSnapshot
from deltamem_tui.bank.disk import archive_view
from deltamem_tui.bank.upkeep import checks
from deltamem_tui.bank.upkeep.checks import Between, Flaw
from deltamem_tui.errors import BankError


def verify(bank: Bank, between: Between = lambda: None) -> list[Flaw]:
    """Check a bank: digests if it is frozen, then every line, tree, vector and counter.

    Args:
        bank: The bank.
        between: Called before each piece of the work. What it raises ends the check.

    Returns:
        Every flaw found; none for a sound bank.
    """
    found = chain(
        checks.digest_flaws(bank, between), line_flaws(bank, between), vector_flaws(bank, between)
    )
    return list(dict.fromkeys(found))


def line_flaws(bank: Bank, between: Between = lambda: None) -> Iterator[Flaw]:
    """Check every line, tree and counter of a bank; no vector's file need be there yet.

    Flaws are told as they are found, and the same one may be told twice: who reads a
    stranger's bank can stop at the first.

    Args:
        bank: The bank.
        between: Called before each piece of the work. What it raises ends the check.
    """
    for tree in bank.trees.values():
        yield from checks.shelf_flaws(tree.snapshot, between)
    for check in (checks.episode_flaws, checks.origin_flaws, checks.journal_flaws):
        between()
        yield from check(bank)


def vector_flaws(bank: Bank, between: Between = lambda: None) -> Iterator[Flaw]:
    """Check every vector of a bank; flaws are told as they are found.

    Args:
        bank: The bank.
        between: Called before each piece of the work. What it raises ends the check.
    """
    for tree in bank.trees.values():
        yield from checks.vector_flaws(tree.snapshot, between)


def unchecked(bank: Bank) -> list[str]:
    """What nobody could check here, because the bank came without what would prove it.

    Returns:
        One line each; none for a bank whose journal tells of every commit.
    """
    missing = [
        f"the last {length} bytes of {name} belong to no commit, and go with the next"
        for snapshot in bank.snapshots.values()
        for name, length in _unclaimed(snapshot)
    ]
    if not bank.journal.exists:
        missing.append("there is no journal: neither the counts nor the history can be proved")
    elif not _tells_all(bank):
        missing.append("the journal begins later than the bank: earlier counts cannot be proved")
    if not len(bank.episodes):
        missing.append("there are no episodes: what the nodes were learnt from cannot be looked up")
    return missing


def _unclaimed(snapshot: ShelfSnapshot) -> Iterator[tuple[str, int]]:
    """Files that hold more than counts, as a writer leaves them that was stopped, and how much."""
    shelf, extent = snapshot.shelf, snapshot.extent
    counted = {shelf.lines_path: extent.bytes}
    counted |= {matrix.path: matrix.position(extent.rows) for matrix in shelf.matrices}
    for path, length in counted.items():
        if (more := archive_view.size(path) - length) > 0:
            yield path.name, more


def _tells_all(bank: Bank) -> bool:
    """Whether the journal states every count: from the bank's beginning, or summed up."""
    try:
        first = next(bank.journal.commits(), None)
    except BankError:
        return False
    return first is not None and first.event in {"init", "compact"}
