"""Promotion: a good node below one of little use becomes a root, so that the rest can be deleted.

Its chain is fused, as consolidation does with a chain that is often hit; the new root is tested
anew. No node is hung under another base: a delta means nothing there.
"""

from __future__ import annotations

from collections.abc import Iterable

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import NodeNotFoundError
from deltamem_tui.memory.engine import maintain, writer_of
from deltamem_tui.memory.plan import Due
from deltamem_tui.memory.vectors.embedder import embedder_of
from deltamem_tui.memory.writers.writer import Writer


def promote(
    bank: Bank,
    nodes: Iterable[tuple[str, str]],
    writer: Writer | None = None,
    *,
    embedder: Embedder | None = None,
) -> list[Node]:
    """Fuse the chains of nodes, given by tree and id, one commit each; returns the roots.

    The rules fuse them if no writer is given. One that is gone meanwhile is left out, and so is
    one of which the writer could make nothing.

    Raises:
        LanguageModelError: The writer's model cannot be asked at all.
        BankFrozenError: The bank is frozen.
        StorageError: The disk refused; what was fused before stays.
    """
    writer, embedder = writer_of(bank, writer), embedder_of(bank, embedder)
    roots = []
    for tree, node_id in nodes:
        try:
            chain = bank.chain(tree, node_id)
        except NodeNotFoundError:
            continue
        done = maintain(bank, Due(tree, chain), writer, embedder)
        if done is not None and done.root is not None:
            roots.append(done.root)
    return roots
