"""Duplicates: a node whose text stands at the same place already is not written again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.vectors.exact import SAME_TEXT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PIECE_ROWS = 4096


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Why a node need not be written: the living node that says the same; None if deleted."""

    node: Node | None
    reason: str


def duplicate_of(tree: Tree, node: Node, vector: NDArray[np.float32]) -> Duplicate | None:
    """Return what makes a new node needless: its own id, or a sibling with the same label and
    payload.

    The vector is its key's, float32 [dimensions], of unit length.
    """
    first = tree.snapshot.first_row(node.id)
    if first is not None:
        row = int(tree.snapshot.current[first])
        if tree.snapshot.index["deleted"][row]:
            return Duplicate(None, f"this node, {node.id}, was deleted before")
        return Duplicate(tree.node_at(row), f"the tree has this node, {node.id}, already")
    parent = None if node.parent is None else tree.row(node.parent)
    siblings = tree.child_rows(parent)
    for start in range(0, len(siblings), _PIECE_ROWS):
        rows = siblings[start : start + _PIECE_ROWS]
        # Equal texts have equal vectors: only the few rows that are as near are read.
        for row in rows[tree.embeddings[rows] @ vector >= SAME_TEXT]:
            other = tree.node_at(int(row))
            if (other.label, other.payload) == (node.label, node.payload):
                return Duplicate(other, f"node {other.id} says exactly this already")
    return None
