"""Earlier versions of nodes, and undoing the last change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import takewhile

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.journal import Commit
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.errors import BankError


def moments(bank: Bank) -> list[Commit]:
    """Return the commits since which the bank's files have only grown, oldest first."""
    last = bank.commit.generation
    same = takewhile(lambda commit: commit.generation == last, commits_since(bank, -1))
    return [*same][::-1]


def sizes_after(tree: Tree, commits: Sequence[Commit]) -> NDArray[np.int64]:
    """Return how many nodes a tree had after each of its bank's `moments`. int64 [commits]."""
    index = tree.snapshot.index
    order = np.argsort(index["first"], kind="stable")  # a node's lines, oldest first
    first, lives = index["first"][order], (~index["deleted"][order]).astype(np.int64)
    grows = lives.copy()
    grows[1:] -= np.where(first[1:] == first[:-1], lives[:-1], 0)
    sizes = np.zeros(len(index) + 1, dtype=np.int64)
    sizes[order + 1] = grows
    stops = [commit.extent(tree.name).rows for commit in commits]
    return np.cumsum(sizes)[np.array(stops, dtype=np.intp)]


UNDO = "undo"
"""The journal's name for a commit that undid another."""
REDO = "redo"
"""Its name for one that redid an undone change."""


def commits_since(bank: Bank, sequence: int) -> Iterator[Commit]:
    """Yield the commits behind the one of this sequence, up to the one that the bank shows."""
    shown = bank.commit.sequence
    commits = bank.journal.newest_first() if bank.journal.exists else iter(())
    newer = takewhile(lambda commit: commit.sequence > sequence, commits)
    return (commit for commit in newer if commit.sequence <= shown)


def last_not_undone(bank: Bank, is_one: Callable[[Commit], bool]) -> Commit | None:
    """Return the last commit of some kind, up to the one that the bank shows, that was not undone.

    `is_one` is called with every commit that is neither undo nor redo and was not undone, newest
    first, until it is true.
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
    """Return the last undo that was not redone, and the commit that it took back.

    Args:
        bank: The bank.
        kinds: What the commit that was taken back may be. One of these that came after the undo
            and stands ends what can be redone.
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
    """Return the number of the commit that an undo or a redo names; -1 if it names none."""
    number = commit.detail.get(how)
    return number if isinstance(number, int) else -1


def version(
    tree: Tree, node_id: str, revision: int, commit: Commit, *, redone: bool = False
) -> tuple[Node, int]:
    """Return a node as it was before a change, and its row; only if nothing came after the change.

    `revision` is the one that it had before. Of a change that is `redone`, as it was after it, if
    nothing came after its undo.
    """
    now, wanted = (revision, revision + 1) if redone else (revision + 1, revision)
    how = "redone" if redone else "undone"
    refused = f"the {commit.event} of {commit.time} cannot be {how}"
    rows = np.flatnonzero(tree.snapshot.index["id"] == node_id.encode()).tolist()
    nodes = [tree.node_at(row) for row in rows]
    versions = {node.revision: (node, row) for node, row in zip(nodes, rows, strict=True)}
    if now not in versions or wanted not in versions:
        raise BankError(f"{refused}: its earlier lines are gone", source=node_id)
    last, expected = versions[max(versions)][0], versions[now][0]
    if structs.replace(last, revision=0) != structs.replace(expected, revision=0):
        raise BankError(f"{refused}: it was changed again since", source=node_id)
    return versions[wanted]
