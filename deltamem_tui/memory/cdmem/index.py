"""The context index: two trees, found by the kind at the root and read downwards.

Task-Index[kind][success|failure] is a root of the collection of short-term memories, one for each
label; below it lie the tasks, each with the environment that it was tried in, and below those what
each try left. Env-Index[kind] is a root of the environments; below it lie the exact environments,
and below those what each episode there showed of the things' functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node, Origin, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import NodeNotFoundError
from deltamem_tui.memory.cdmem.definition import COLLECTIONS, DISPLAY
from deltamem_tui.memory.kinds import exact_env
from deltamem_tui.memory.method import cleaned
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

MEMBER = 3
LABELS: tuple[Label, Label] = ("success", "failure")
_NO_EPISODE = Origin()
_WIDTH = 300


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where something belongs in the context index: a task, its environment, and their kinds."""

    task: str
    kind: str
    env: str
    env_kind: str


def env_of(domain: str, scene: str) -> str:
    """Return what an environment is filed by; empty if nothing is known of it."""
    return exact_env(domain, scene) or one_line(scene, _WIDTH)


def filed(
    collection: str,
    parent: Node | None,
    label: Label,
    texts: Mapping[str, str],
    origin: Origin = _NO_EPISODE,
) -> Node:
    """Return a new node. A kind or a place comes from no episode: it has the same id in every
    bank.

    Raises:
        ExtractionError: It says nothing, or far too much.
    """
    fields = COLLECTIONS[collection].fields
    payload = cleaned(texts, fields, DISPLAY[collection].optional)
    return born(collection, parent, label, payload, origin)


@dataclass(frozen=True, slots=True)
class Index:
    """Finds kinds and places in a bank: by their ids, which are digests of what they say."""

    bank: Bank
    embedder: Embedder

    def living(self, collection: str, node: Node) -> Node | None:
        """Return a node as the bank has it now; None if it does not."""
        try:
            return self.bank.tree(collection).node(node.id)
        except NodeNotFoundError:
            return None

    def root(self, collection: str, kind: str, label: Label = "success") -> Node | None:
        """Return the root of a kind; None if the bank has none."""
        return (
            self.living(collection, filed(collection, None, label, {"text": kind}))
            if kind
            else None
        )

    def place(self, collection: str, root: Node | None, text: str, env: str = "") -> Node | None:
        """Return what lies right below a root: a task in an environment, or an environment."""
        texts = {"text": text, "env": env} if env else {"text": text}
        if root is None or not text:
            return None
        return self.living(collection, filed(collection, root, root.label, texts))

    def below(self, collection: str, node: Node | None) -> list[Node]:
        """Return what lies right below a node, in order of birth."""
        return list(self.bank.tree(collection).children(node.id)) if node else []


def members(tree: Tree, root: Node) -> Rows:
    """Return the rows of one list, in order of birth: all that is two levels below its root."""
    index = tree.snapshot.index
    deep = tree.rows[index["depth"][tree.rows] == MEMBER]
    parents = tree.snapshot.current[index["parent"][deep]]
    found: Rows = deep[index["parent"][parents] == tree.birth[tree.row(root.id)]]
    return found
