"""The context index: two trees, found by the kind at the root and read downwards.

Task-Index[kind][success|failure] is a root of the collection of short-term memories, one for each
label; below it lie the tasks, each with the environment that it was tried in, and below those what
each try left. Env-Index[kind] is a root of the environments; below it lie the exact environments,
and below those what each episode there showed of the things' functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.vectors.exact import nodes_with_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]
    Vector = NDArray[np.float32]

_MEMBER = 3


class IndexReader:
    """Finds what a bank has under a text, and looks for no text twice."""

    def __init__(self, bank: Bank, embedder: Embedder) -> None:
        self.bank = bank
        self.embedder = embedder
        self._found: dict[tuple[str, str], list[Node]] = {}

    def vector(self, text: str) -> Vector:
        """The text as a key. float32 [dimensions], of unit length."""
        vector: Vector = self.embedder.embed_passages([text])[0]
        return vector

    def known(self, collection: str, text: str) -> list[Node]:
        """The nodes of a collection that have this very text as their key."""
        if not text:
            return []
        found = self._found.get((collection, text))
        if found is None:
            found = nodes_with_key(self.bank.tree(collection), text, self.vector(text))
            self._found[collection, text] = found
        return found

    def root(self, collection: str, kind: str, label: Label = "success") -> Node | None:
        """The root of a kind."""
        roots = (each for each in self.known(collection, kind) if each.parent is None)
        return next((each for each in roots if each.label == label), None)

    def place(self, collection: str, root: Node, text: str, env: str = "") -> Node | None:
        """What lies right below a root: a task in an environment, or an environment."""
        below = (each for each in self.known(collection, text) if each.parent == root.id)
        return next((each for each in below if each.payload.get("env", "") == env), None)


def tries(tree: Tree, place: Node) -> Rows:
    """The rows of what each episode left at one task, or environment, in order of birth."""
    return tree.child_rows(tree.row(place.id))


def members(tree: Tree, root: Node) -> Rows:
    """The rows of one list, in order of birth: of all that lies two levels below its root."""
    index = tree.snapshot.index
    deep = tree.rows[index["depth"][tree.rows] == _MEMBER]
    parents = tree.snapshot.current[index["parent"][deep]]
    found: Rows = deep[index["parent"][parents] == tree.birth[tree.row(root.id)]]
    return found


def unread(tree: Tree, root: Node) -> Rows:
    """The rows of one list that its insights were not made from yet, in order of birth."""
    found = members(tree, root)
    read = tree.snapshot.first_row(root.payload["read"]) if root.payload["read"] else None
    return found if read is None else found[tree.birth[found] > read]
