"""Nodes whose key is exactly a text: those of one kind, where the kind is the key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.vectors.search import any_scan_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SAME_TEXT = 1.0 - 1e-3
"""The least similarity of a text to itself: in another batch its vector differs by 1e-6 at most."""


def nodes_with_key(tree: Tree, text: str, vector: NDArray[np.float32]) -> list[Node]:
    """Return the living nodes of a collection whose key is this text, in order of birth.

    `vector` is the text's as a passage, float32 [dimensions], of unit length: only nodes with the
    same vector are read.
    """
    key = tree.snapshot.table.collection.key
    rows = any_scan_of(tree).alike(vector[None], SAME_TEXT)
    rows = rows[tree.birth[rows].argsort(kind="stable")]
    nodes = (tree.node_at(int(row)) for row in rows)
    return [node for node in nodes if node.payload[key] == text]
