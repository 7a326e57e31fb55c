"""Synapse's recall: the exemplars whose tasks are nearest, as many as the token budget holds.

There is no threshold. Of equal scores the exemplar comes first that was shown to more episodes
which then succeeded, then the newer one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Weighting
from deltamem_tui.memory.recall_result import CollectionRecall
from deltamem_tui.memory.synapse.settings import SynapseNumbers
from deltamem_tui.memory.vectors.search import Candidate, scan_by_use
from deltamem_tui.text import count_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

NEAREST = "nearest"
_NO_THRESHOLD = -1.0


def recall_exemplars(
    tree: Tree,
    text: str,
    vector: Vector,
    numbers: SynapseNumbers,
    weighting: Weighting,
    count: int = 1,
) -> CollectionRecall:
    """The exemplars for a task, best first, and as many candidates as are asked for at least.

    `vector` is the task's, float32 [dimensions], of unit length. Each recalled exemplar is a
    chain of its own.
    """
    best = scan_by_use(tree, weighting).best(vector, 0.0, max(numbers.k, count))
    found = tuple(
        Candidate(tree.node_at(row), similarity, 0.0, score, NEAREST)
        for row, similarity, score in best
    )
    kept = within_budget([each.node for each in found[: numbers.k]], numbers.budget)
    chains = tuple((node,) for node in kept)
    return CollectionRecall(tree.name, text, _NO_THRESHOLD, found, chains, NEAREST)


def within_budget(exemplars: list[Node], budget: int | None) -> list[Node]:
    """The exemplars that a budget of tokens holds, the first ones first, each whole."""
    if budget is None:
        return exemplars
    kept = []
    for each in exemplars:
        budget -= count_tokens(each.text)
        if budget < 0:
            break
        kept.append(each)
    return kept
