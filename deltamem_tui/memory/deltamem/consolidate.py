"""Consolidation: often-hit chains become new roots (equation 8). Nothing is deleted.

A node whose text is at the same place already is not written again, here and in `write`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node, Origin, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError, NodeNotFoundError
from deltamem_tui.memory.deltamem.definition import COLLECTIONS, OPTIONAL, TreeParameters
from deltamem_tui.memory.method import cleaned
from deltamem_tui.memory.plan import Add, Change, Due, MaintenanceResult, Plan, Revise
from deltamem_tui.memory.settings import Settings
from deltamem_tui.memory.vectors.exact import SAME_TEXT
from deltamem_tui.memory.writers.extraction import Call, Extraction, FailedCallError
from deltamem_tui.memory.writers.writer import Writer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PIECE_ROWS = 4096


def is_due(node: Node, hits: int, parameters: TreeParameters) -> bool:
    """Return whether a node with that many hits is a residual whose chain is to be fused."""
    return (
        parameters.k_cons is not None
        and node.kind == "residual"
        and not node.consolidated
        and hits >= parameters.k_cons
    )


def due_rows(tree: Tree, settings: Settings) -> NDArray[np.bool_]:
    """Return the residuals of a tree whose chains equation 8 wants fused. bool [rows]."""
    import numpy as np

    parameters: TreeParameters = settings.of(tree.name)
    index = tree.snapshot.index
    if parameters.k_cons is None or not parameters.enabled or not len(index):
        return np.zeros(len(index), dtype=np.bool_)
    hits = tree.snapshot.counters[tree.birth, 0]
    due: NDArray[np.bool_] = (
        ~tree.dead & index["residual"] & ~index["consolidated"] & (hits >= parameters.k_cons)
    )
    return due


def maintain(
    bank: Bank, due: Due, writer: Writer, embedder: Embedder
) -> Plan[MaintenanceResult] | None:
    """Fuse a chain; None if another process deleted its node or fused it meanwhile."""
    tree = bank.tree(due.collection)
    try:
        chain = tree.chain(due.nodes[-1].id)
    except NodeNotFoundError:
        return None
    return None if chain[-1].consolidated else fuse(tree, chain, writer, embedder)


def fuse(
    tree: Tree, chain: tuple[Node, ...], writer: Writer, embedder: Embedder
) -> Plan[MaintenanceResult]:
    """Return the plan that makes a chain a root, and marks its last node as consolidated."""
    name = tree.name
    calls: tuple[Call, ...] = ()
    try:
        extraction = writer.write(f"{name}_consolidation", None, chain)
        calls = extraction.calls("fuse", name)
        root = fused_root(name, chain, extraction, writer.name)
    except FailedCallError as error:
        return Plan(MaintenanceResult(name, chain, None, str(error), (error.call,)))
    except ExtractionError as error:
        return Plan(MaintenanceResult(name, chain, None, str(error), calls))
    vector = embedder.embed_passages([root.payload["activation_condition"]])[0]
    changes: tuple[Change, ...] = (Revise(name, structs.replace(chain[-1], consolidated=True)),)
    if same := duplicate_of(tree, root, vector):
        return Plan(MaintenanceResult(name, chain, same.node, same.reason, calls), changes)
    result = MaintenanceResult(name, chain, root, extraction.reason, calls, written=True)
    return Plan(result, (Add(name, root, vector), *changes))


def fused_root(name: str, chain: Sequence[Node], extraction: Extraction, writer: str) -> Node:
    """Return the new root of a fused chain. It is a failure only if the whole chain is.

    It comes from the chain's nodes and from no episode, so that it has the same id whether
    it is made while learning or later.

    Raises:
        ExtractionError: The writer gave nothing to write.
    """
    if extraction.payload is None:
        raise ExtractionError(f"nothing was fused: {extraction.reason}")
    label: Label = "failure" if all(node.label == "failure" for node in chain) else "success"
    origin = Origin(
        extractor=writer,
        model=extraction.model,
        prompt=extraction.prompt,
        nodes=tuple(node.id for node in chain),
    )
    return born(
        name, None, label, cleaned(extraction.payload, COLLECTIONS[name].fields, OPTIONAL), origin
    )


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
