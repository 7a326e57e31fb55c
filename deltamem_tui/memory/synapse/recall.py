"""Synapse's recall: the exemplars whose tasks are nearest, as many as the token budget holds.

There is no threshold. Of equal scores the exemplar comes first that was shown to more episodes
which then succeeded, then the newer one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.context import compose, fenced
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.synapse.definition import EXEMPLARS, NEAREST, SynapseNumbers
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.search import Candidate, scan_by_use
from deltamem_tui.text import clean, count_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NO_THRESHOLD = -1.0


def recall(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """Recall the nearest exemplars, as dialogues, best first."""
    numbers = of_bank(bank, SynapseNumbers, query.settings)
    found = recall_exemplars(bank, query.task, numbers, embedder, query.count)
    entries = [_entry(chain[0]) for chain in found.chains] if found else []
    return RecallResult({EXEMPLARS: found}, compose(bank.manifest.domain, entries, query.folders))


def recall_exemplars(
    bank: Bank, task: str, numbers: SynapseNumbers, embedder: Embedder, count: int = 1
) -> CollectionRecall | None:
    """Return the exemplars for a task; None if there is no task to compare."""
    task = clean(task).strip()
    if not task:
        return None
    return rank(bank, EXEMPLARS, task, embedder.embed_queries([task])[0], count, numbers)


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
    best = scan_by_use(tree, weighting_of(bank)).best(vector, 0.0, max(numbers.k, count))
    found = tuple(
        Candidate(tree.node_at(row), similarity, 0.0, score, NEAREST)
        for row, similarity, score in best
    )
    kept = within_budget([each.node for each in found[: numbers.k]], numbers.budget)
    chains = tuple((node,) for node in kept)
    return CollectionRecall(collection, text, _NO_THRESHOLD, found, chains, NEAREST)


def within_budget(exemplars: list[Node], budget: int | None) -> list[Node]:
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


def _entry(node: Node) -> str:
    """Return an exemplar as it stands in a prompt: a task, and the turns of its dialogue."""
    return f"### Exemplar\nTask: {fenced(node.payload['task'])}\n{fenced(node.payload['dialogue'])}"
