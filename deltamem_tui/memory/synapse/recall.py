"""Synapse's recall: the exemplars whose tasks are nearest, as many as the token budget holds.

There is no threshold. Of equal scores the exemplar comes first that was shown to more episodes
which then succeeded, then the newer one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.context import fenced
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.synapse.definition import EXEMPLARS, NEAREST, SynapseNumbers
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.search import Candidate, scan_by_use
from deltamem_tui.memory.work_context import context_of
from deltamem_tui.text import clean, count_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def recall(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """Recall the nearest exemplars, as dialogues, best first."""
    task = clean(query.task).strip()
    if not task:
        return RecallResult({EXEMPLARS: None}, "")
    vector = embedder.embed_queries([task])[0]
    found = rank(bank, EXEMPLARS, task, vector, query.count, query.settings)
    shown = [(each.node, each.similarity) for each in found.candidates if found.matches(each)]
    return RecallResult({EXEMPLARS: found}, context_of(bank, query, shown, _entries))


def rank(
    bank: Bank,
    collection: str,
    text: str,
    vector: NDArray[np.float32],
    count: int,
    settings: Settings | None = None,
) -> CollectionRecall:
    """Return the nearest exemplars, each a chain of its own; see `Method.rank`."""
    numbers = of_bank(bank, SynapseNumbers, settings)
    tree = bank.tree(collection)
    scan = scan_by_use(tree, weighting_of(bank), lambda tree: tree.failure)
    found = tuple(
        Candidate(tree.node_at(row), similarity, 0.0, score, NEAREST)
        for row, similarity, score in scan.best(vector, 0.0, max(numbers.k, count))
    )
    kept = _within([each.node for each in found[: numbers.k]], numbers.budget)
    return CollectionRecall(collection, text, -1.0, found, tuple((node,) for node in kept), NEAREST)


def _within(exemplars: list[Node], budget: int | None) -> list[Node]:
    """Return the exemplars that a budget of tokens holds, the first ones first, each whole."""
    if budget is None:
        return exemplars
    kept = []
    for each in exemplars:
        budget -= count_tokens(each.text)
        if budget < 0:
            break
        kept.append(each)
    return kept


def _entries(exemplars: Sequence[Node]) -> list[str]:
    """Return exemplars as they stand in a prompt: a task, and the turns of its dialogue."""
    return [
        f"### Exemplar\nTask: {fenced(each.payload['task'])}\n{fenced(each.payload['dialogue'])}"
        for each in exemplars
    ]
