"""Sets of nodes that a rule replaces as a whole, such as workflows that are induced anew.

What persists keeps its node, and with it id and counts; the rest goes and comes in one commit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.plan import Add, Revise

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Payload = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SetChange:
    """What becomes of a set of nodes.

    Attributes:
        kept: The nodes that stay as they are.
        removed: The nodes that go.
        added: What has to be written, in the order in which it was wanted.
    """

    kept: tuple[Node, ...]
    removed: tuple[Node, ...]
    added: tuple[Payload, ...]

    def deletions(self, collection: str) -> tuple[Revise, ...]:
        """Return the changes that remove what goes."""
        return tuple(Revise(collection, replace(node, deleted=True)) for node in self.removed)


def normal_text(payload: Payload) -> str:
    """Return a payload's texts without regard to capitals and white space."""
    return "\n".join(" ".join(text.casefold().split()) for text in payload.values())


def set_change(
    present: Sequence[Node],
    wanted: Sequence[Payload],
    same_as: Callable[[Payload], str] = normal_text,
) -> SetChange:
    """Return how the nodes that are there become the payloads that are wanted.

    Two payloads are the same if `same_as` makes one text of them; of equal ones the first counts.
    Where nothing is wanted, nothing changes: an empty answer does not delete anything.
    """
    if not wanted:
        return SetChange(tuple(present), (), ())
    first: dict[str, Payload] = {}
    for payload in wanted:
        first.setdefault(same_as(payload), payload)
    kept: dict[str, Node] = {}
    removed = []
    for node in present:
        name = same_as(node.payload)
        if name in first and name not in kept:
            kept[name] = node
        else:
            removed.append(node)
    added = tuple(payload for name, payload in first.items() if name not in kept)
    return SetChange(tuple(kept.values()), tuple(removed), added)


def addition(tree: Tree, node: Node, vector: NDArray[np.float32]) -> Add | Revise:
    """Return the change that adds a node to a collection, or brings back a deleted one.

    A node's id is a digest of what it says and comes from, so what comes back has its old id,
    and its counts again. `vector` is its key's, float32 [dimensions], of unit length.
    """
    known = tree.snapshot.first_row(node.id) is not None
    return (Revise if known else Add)(tree.name, node, vector)
