"""Which of a bank's commits an undo takes back: the last of its kind that still stands.

An undo is a commit of its own, which names the one that it took back. The journal is read from
its end, without the writer's lock. Who then holds the lock looks at what came meanwhile alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import takewhile

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.journal import Commit

UNDO = "undo"
"""What the journal calls a commit that took another back."""


def commits_since(bank: Bank, sequence: int) -> Iterator[Commit]:
    """The commits behind the one of this sequence, up to the one that the bank shows."""
    shown = bank.commit.sequence
    commits = bank.journal.newest_first() if bank.journal.exists else iter(())
    newer = takewhile(lambda commit: commit.sequence > sequence, commits)
    return (commit for commit in newer if commit.sequence <= shown)


def last_not_undone(bank: Bank, is_one: Callable[[Commit], bool]) -> Commit | None:
    """The last commit of some kind, up to the one that the bank shows, that was not undone.

    `is_one` is called with every commit that is not an undo and was not undone, newest first,
    until it is true.

    Raises:
        BankCorruptError: A line of the journal is not a commit.
    """
    undone: set[int] = set()
    for commit in commits_since(bank, -1):
        if commit.event == UNDO:
            taken_back = commit.detail.get("undoes")
            if isinstance(taken_back, int):
                undone.add(taken_back)
        elif commit.sequence not in undone and is_one(commit):
            return commit
    return None
