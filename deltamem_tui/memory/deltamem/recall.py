"""DeltaMem's recall: a question in, the chain root → match out (equations 6 and 7).

The task tree is asked with the goal, the env tree with the scene. They never see each
other's question, and their chains meet only in the agent's context.

Two rules are this project's own. Scores count to six decimals, so that equal texts score
equally on every machine; τ is compared with those. Of equal scores the shallower node
matches, then the older one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder, Weighting
from deltamem_tui.memory.context import compose
from deltamem_tui.memory.deltamem.context import chain_entries
from deltamem_tui.memory.deltamem.settings import Parameters, TreeParameters
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.method import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.search import ranked
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def questions(task: str, environment: str) -> dict[str, str]:
    """The question to each tree; empty where there is nothing to ask."""
    return {"task": clean(task).strip(), "env": clean(environment).strip()}


def questions_of(episode: Trajectory) -> dict[str, str]:
    """An episode's question to each tree."""
    return questions(episode.task, scene_of(episode))


class Recollection(RecallResult):
    """What both trees recall."""

    def __init__(
        self, task: CollectionRecall | None, env: CollectionRecall | None, context: str
    ) -> None:
        """Join the trees' answers, None for one that was not asked."""
        super().__init__({"task": task, "env": env}, context)


def recall(bank: Bank, query: Query, settings: Parameters, embedder: Embedder) -> Recollection:
    """Ask the trees that are switched on and for which there is a question."""
    texts = questions(query.task, query.environment)
    asked = {name: text for name, text in texts.items() if text and settings[name].enabled}
    vectors = embedder.embed_queries(list(asked.values())) if asked else ()
    weighting = weighting_of(bank)
    found = {
        name: recall_tree(bank.tree(name), text, vector, settings[name], weighting, query.count)
        for (name, text), vector in zip(asked.items(), vectors, strict=True)
    }
    entries = [each for name in found for each in chain_entries(name, found[name].chain)]
    context = compose(bank.manifest.domain, entries, query.folders)
    return Recollection(found.get("task"), found.get("env"), context)


def recall_tree(
    tree: Tree,
    query: str,
    vector: NDArray[np.float32],
    parameters: TreeParameters,
    weighting: Weighting,
    count: int = 1,
) -> CollectionRecall:
    """Ask one tree (equations 6 and 7) with a vector, float32 [dimensions], of unit length."""
    found = ranked(tree, vector, weighting, parameters.failure_penalty, count)
    matched = bool(found) and found[0][1].score >= parameters.tau_base
    chains = (tree.chain_at(found[0][0]),) if matched else ()
    candidates = tuple(candidate for _, candidate in found)
    return CollectionRecall(tree.name, query, parameters.tau_base, candidates, chains)
