"""Which of a bank's commits an undo takes back: the last of its kind that still stands.

An undo is a commit of its own, which names the one that it took back. The journal is read from
its end, without the writer's lock. Who then holds the lock looks at what came meanwhile alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import takewhile

import numpy as np
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.journal import Commit
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.errors import BankError

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


def version_before(tree: Tree, node_id: str, revision: int, commit: Commit) -> tuple[Node, int]:
    """A node as it was before a change, and its row; only if nothing came after the change.

    `revision` is the one that it had before.

    Raises:
        BankError: The node was changed again since, or its earlier lines are gone.
    """
    index = tree.snapshot.index
    rows = np.flatnonzero(index["id"] == node_id.encode())
    found = [(tree.node_at(int(row)), int(row)) for row in rows]
    versions = {node.revision: (node, row) for node, row in found}
    last = versions[max(versions)][0] if versions else None
    after = versions.get(revision + 1)
    before = versions.get(revision)
    if last is None or after is None or before is None:
        reason = "its earlier lines are gone"
    elif structs.replace(last, revision=0) != structs.replace(after[0], revision=0):
        reason = "it was changed again since"
    else:
        return before
    raise BankError(
        f"the {commit.event} of {commit.time} cannot be undone: {reason}", source=node_id
    )
