"""Forecasts: will a question that is asked now still be the right one when its turn comes?

An earlier episode may write the very node that a later one will match. Whether it is likely is
seen from the episodes' questions: is the earlier one nearer than the best node there is? How
much that means depends on the bank and the order of the episodes, so each tree's forecasts are
corrected by what became of the last few, as processors forecast their branches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.deltamem.episode_query import Encounter
from deltamem_tui.memory.method import CollectionRecall

_MOST = 3
_CONFIDENT = 2


class Forecast:
    """Forecasts for one run."""

    def __init__(self) -> None:
        self._confidence: defaultdict[tuple[str, bool], int] = defaultdict(lambda: _CONFIDENT)

    def holds(self, tree: str, suspected: bool) -> bool:
        """Whether a question will probably stay as it is.

        Args:
            tree: The tree that is asked.
            suspected: Whether an earlier episode is likely to come between; see `suspect`.
        """
        return self._confidence[tree, suspected] >= _CONFIDENT

    def correct(self, tree: str, suspected: bool, held: bool) -> None:
        """Tell what became of a question, whether it was sent or held back."""
        confidence = self._confidence[tree, suspected] + (1 if held else -1)
        self._confidence[tree, suspected] = min(max(confidence, 0), _MOST)


def suspect(
    tree: Tree, asked: Encounter, found: CollectionRecall, earlier: Iterable[Encounter]
) -> bool:
    """Whether an episode whose turn comes earlier is nearer than what the tree has.

    Args:
        tree: The tree.
        asked: The episode.
        found: What the tree knows of it.
        earlier: The episodes before it that are not written yet.
    """
    question = asked.vector(tree.name)
    nearest = found.threshold
    if found.match is not None:
        nearest = float(np.dot(tree.embeddings[tree.row(found.match.node.id)], question))
    return any(
        float(np.dot(other.vector(tree.name), question)) >= nearest
        for other in earlier
        if other.asks(tree.name)
    )
