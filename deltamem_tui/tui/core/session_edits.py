"""The edits that were made in this browser, as opposed to those of other processes."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.journal import Commit


class SessionEdits:
    """The edits that this browser wrote since it was opened; threads note them."""

    def __init__(self) -> None:
        self._made: set[tuple[Path, int, str]] = set()

    def note(self, bank: Bank) -> None:
        """The commit that a handle shows right after it wrote was made here.

        It must have written: a handle that found nothing to write shows the commit of another.
        """
        self._made.add(_mark(bank, bank.commit))

    def has(self, bank: Bank, commit: Commit) -> bool:
        """Whether a commit of a bank was made here."""
        return _mark(bank, commit) in self._made


def _mark(bank: Bank, commit: Commit) -> tuple[Path, int, str]:
    # The time tells a bank from another that was put in its place.
    return bank.path.resolve(), commit.sequence, commit.time
