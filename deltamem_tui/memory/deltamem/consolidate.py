"""Consolidation: often-hit chains become new roots (equation 8). Nothing is deleted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node, Origin, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError, NodeNotFoundError
from deltamem_tui.memory.deltamem.definition import COLLECTIONS, OPTIONAL, TreeParameters
from deltamem_tui.memory.deltamem.duplicates import duplicate_of
from deltamem_tui.memory.method import cleaned
from deltamem_tui.memory.plan import Add, Change, Due, MaintenanceResult, Plan, Revise
from deltamem_tui.memory.settings import Settings
from deltamem_tui.memory.writers.extraction import Call, Extraction, FailedCallError
from deltamem_tui.memory.writers.writer import Writer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def is_due(node: Node, hits: int, parameters: TreeParameters) -> bool:
    """Whether a node with that many hits is a residual whose chain is to be fused."""
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
