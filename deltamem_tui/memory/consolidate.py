"""Consolidation: often-hit chains become new roots (DeltaMem, equation 8). Nothing is deleted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import TREES, Node, TreeName
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError, NodeNotFoundError
from deltamem_tui.memory.extraction import Extractor
from deltamem_tui.memory.learn import fused_root, is_due
from deltamem_tui.memory.parameters import of_bank
from deltamem_tui.memory.recall import embedder_of


@dataclass(frozen=True, slots=True)
class Fusion:
    """A chain that was due, and what became of it.

    Attributes:
        tree: `task` or `env`.
        chain: Root to the residual that was hit often enough.
        root: The new root; None if the extractor could not fuse the chain.
        reason: Why, in one line.
    """

    tree: TreeName
    chain: tuple[Node, ...]
    root: Node | None
    reason: str


def due(bank: Bank) -> list[tuple[TreeName, Node]]:
    """The residuals whose hits reach K_cons and whose chains were not fused yet."""
    parameters = of_bank(bank)
    found: list[tuple[TreeName, Node]] = []
    for name in TREES:
        if not parameters[name].enabled:
            continue
        tree = bank.tree(name)
        hit = tree.rows[tree.snapshot.counters[tree.birth[tree.rows], 0] > 0]
        for row in hit:
            node = tree.node_at(int(row))
            if is_due(node, tree.counts_at(int(row)).hits, parameters[name]):
                found.append((name, node))
    return found


def consolidate(
    bank: Bank, extractor: Extractor, *, embedder: Embedder | None = None
) -> Iterator[Fusion]:
    """Fuse every chain that is due, one commit each.

    Raises:
        BankFrozenError: The bank is frozen.
        StorageError: The disk refused; what was committed before stays.
    """
    loaded = embedder_of(bank, embedder)
    for name, node in due(bank):
        fusion = _consolidate_one(bank, name, node, extractor, loaded)
        if fusion is not None:
            yield fusion


def _consolidate_one(
    bank: Bank, name: TreeName, node: Node, extractor: Extractor, embedder: Embedder
) -> Fusion | None:
    """Fuse one chain outside the lock, and write it if the chain is still the same inside.

    Returns:
        None if another writer deleted the node or fused its chain meanwhile.
    """
    while True:
        try:
            chain = bank.tree(name).chain(node.id)
        except NodeNotFoundError:
            return None
        if chain[-1].consolidated:
            return None
        try:
            extraction = extractor.fuse(name, chain)
            root = fused_root(name, chain, extraction, extractor.name)
        except ExtractionError as error:
            return Fusion(name, chain, None, str(error))
        vector = embedder.embed_passages([root.payload.activation_condition])[0]
        with bank.writing() as batch:
            if not _stands(bank.tree(name), chain):
                continue
            batch.add_node(name, root, np.asarray(vector))
            batch.revise_node(name, replace(chain[-1], consolidated=True))
            batch.log(
                "consolidate",
                {"tree": name, "root": root.id, "nodes": [each.id for each in chain]},
            )
            return Fusion(name, chain, root, extraction.reason)


def _stands(tree: Tree, chain: tuple[Node, ...]) -> bool:
    """Whether the tree still holds the chain as it was."""
    try:
        return tree.chain(chain[-1].id) == chain
    except NodeNotFoundError:
        return False
