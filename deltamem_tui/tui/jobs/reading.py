"""Opening a bank beside the screen, and telling whether another process wrote to it."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.tui.messages import BankRead

Stamp = tuple[int, ...]


def read_bank(path: Path) -> BankRead:
    """Open the bank at `path`, its indexes read.

    Raises:
        BankError: It cannot be opened.
    """
    stamp = stamp_of(path)
    bank = Bank.open(path)
    for tree in bank.trees.values():
        len(tree)  # reads the index here, not on the screen's thread
        _ = tree.snapshot.text, tree.snapshot.vectors  # maps them: a file may have been cut short
    return BankRead(bank, stamp)


def stamp_of(path: Path) -> Stamp:
    """What the two files look like that every commit changes."""
    numbers: list[int] = []
    for name in ("journal.jsonl", "bank.json"):
        try:
            found = (path / name).stat()
        except OSError:
            continue
        numbers += [found.st_ino, found.st_mtime_ns, found.st_size]
    return tuple(numbers)
