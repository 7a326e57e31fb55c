"""Which of a bank's commits an undo takes back: the last of its kind that still stands.

An undo is a commit of its own, which names the one that it took back; a redo is one that names an
undo, and lets what that took back stand again. The journal is read from
its end, without the writer's lock. Who then holds the lock looks at what came meanwhile alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
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
REDO = "redo"
"""What it calls one that did again what an undo had taken back."""


def commits_since(bank: Bank, sequence: int) -> Iterator[Commit]:
    """The commits behind the one of this sequence, up to the one that the bank shows."""
    shown = bank.commit.sequence
    commits = bank.journal.newest_first() if bank.journal.exists else iter(())
    newer = takewhile(lambda commit: commit.sequence > sequence, commits)
    return (commit for commit in newer if commit.sequence <= shown)


def last_not_undone(bank: Bank, is_one: Callable[[Commit], bool]) -> Commit | None:
    """The last commit of some kind, up to the one that the bank shows, that was not undone.

    `is_one` is called with every commit that is neither undo nor redo and was not undone, newest
    first, until it is true.

    Raises:
        BankCorruptError: A line of the journal is not a commit.
    """
    undone: set[int] = set()
    redone: set[int] = set()
    for commit in commits_since(bank, -1):
        if commit.event == REDO:
            redone.add(_named(commit, "redoes"))
        elif commit.event == UNDO:
            if commit.sequence not in redone:
                undone.add(_named(commit, "undoes"))
        elif commit.sequence not in undone and is_one(commit):
            return commit
    return None


def last_not_redone(bank: Bank, kinds: Collection[str]) -> tuple[Commit, Commit] | None:
    """The last undo that was not redone, and the commit that it took back.

    Args:
        bank: The bank.
        kinds: What the commit that was taken back may be. One of these that came after the undo
            and stands ends what can be redone.

    Raises:
        BankCorruptError: A line of the journal is not a commit.
    """
    redone: set[int] = set()
    undo: Commit | None = None
    for commit in commits_since(bank, -1):
        if undo is not None:
            if commit.sequence <= _named(undo, "undoes"):
                return (undo, commit) if commit.event in kinds else None
        elif commit.event == REDO:
            redone.add(_named(commit, "redoes"))
        elif commit.event == UNDO and commit.detail.get("what") in kinds:
            undo = None if commit.sequence in redone else commit
        elif commit.event in kinds:
            return None
    return None


def _named(commit: Commit, how: str) -> int:
    """The number of the commit that an undo or a redo names; -1 if it names none."""
    number = commit.detail.get(how)
    return number if isinstance(number, int) else -1


def version_before(tree: Tree, node_id: str, revision: int, commit: Commit) -> tuple[Node, int]:
    """A node as it was before a change, and its row; only if nothing came after the change.

    `revision` is the one that it had before.

    Raises:
        BankError: The node was changed again since, or its earlier lines are gone.
    """
    found = _versions(tree, node_id)
    return _unless_changed(found, node_id, revision + 1, revision, f"{_of(commit)} undone")


def version_after(tree: Tree, node_id: str, revision: int, commit: Commit) -> tuple[Node, int]:
    """A node as it was after a change that was undone; only if nothing came after the undo.

    `revision` is the one that it had before the change.

    Raises:
        BankError: The node was changed again since, or its earlier lines are gone.
    """
    found = _versions(tree, node_id)
    return _unless_changed(found, node_id, revision, revision + 1, f"{_of(commit)} redone")


def _of(commit: Commit) -> str:
    return f"the {commit.event} of {commit.time} cannot be"


def _versions(tree: Tree, node_id: str) -> dict[int, tuple[Node, int]]:
    """All lines of a node with their rows, by revision."""
    rows = np.flatnonzero(tree.snapshot.index["id"] == node_id.encode()).tolist()
    found = [(tree.node_at(row), row) for row in rows]
    return {node.revision: (node, row) for node, row in found}


def _unless_changed(
    versions: dict[int, tuple[Node, int]], node_id: str, now: int, wanted: int, refused: str
) -> tuple[Node, int]:
    """One of a node's versions, if what it says is still another one."""
    if now not in versions or wanted not in versions:
        reason = "its earlier lines are gone"
    elif _without_revision(versions[max(versions)]) != _without_revision(versions[now]):
        reason = "it was changed again since"
    else:
        return versions[wanted]
    raise BankError(f"{refused}: {reason}", source=node_id)


def _without_revision(version: tuple[Node, int]) -> Node:
    return structs.replace(version[0], revision=0)
