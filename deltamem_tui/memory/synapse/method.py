"""Synapse as a memory method: each success is an exemplar, and the nearest is the demonstration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.context import compose, fenced
from deltamem_tui.memory.learn_result import CollectionResult, LearnResult
from deltamem_tui.memory.method import Method
from deltamem_tui.memory.plan import Change, Count, Plan
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.record_sets import addition
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.synapse.collections import COLLECTIONS, DISPLAY, EXEMPLARS
from deltamem_tui.memory.synapse.dialogue import dialogue_of
from deltamem_tui.memory.synapse.recall import NEAREST, recall_exemplars
from deltamem_tui.memory.synapse.settings import SynapseNumbers
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Synapse(Method):
    """Successes are kept as they went, with short observations. It asks no writer for anything."""

    name = "synapse"
    title = "the nearest successes as demonstrations"
    good_when = "rooms and pages stay as they are, and no model is wanted for learning"
    collections = COLLECTIONS
    display = DISPLAY
    decisions = {  # noqa: RUF012 - a constant of the class
        "exemplar": "the success became an exemplar",
        "skip": "it demonstrates nothing",
    }
    ranking = "the k nearest exemplars are recalled, as many as the budget holds"
    rules = {NEAREST: "a score is the similarity of the tasks"}  # noqa: RUF012
    settings = SynapseNumbers

    def recall(self, bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
        """The nearest exemplars, as dialogues, best first."""
        numbers = of_bank(bank, SynapseNumbers, query.settings)
        found = _recalled(bank, query.task, numbers, embedder, query.count)
        entries = [_entry(chain[0]) for chain in found.chains] if found else []
        context = compose(bank.manifest.domain, entries, query.folders)
        return RecallResult({EXEMPLARS: found}, context)

    def rank(
        self,
        bank: Bank,
        collection: str,
        text: str,
        vector: NDArray[np.float32],
        count: int,
        settings: Settings | None = None,
    ) -> CollectionRecall:
        """The nearest exemplars."""
        numbers = of_bank(bank, SynapseNumbers, settings)
        tree = bank.tree(collection)
        return recall_exemplars(tree, text, vector, numbers, weighting_of(bank), count)

    def plan(
        self,
        bank: Bank,
        episode: Trajectory,
        writer: Writer,  # noqa: ARG002 - the observations are abstracted by rules alone
        embedder: Embedder,
    ) -> Plan[LearnResult]:
        """Count what the episode would be shown; append it if it succeeded."""
        found = _recalled(bank, episode.task, of_bank(bank, SynapseNumbers), embedder)
        success = bool(episode.outcome.success)
        shown = [chain[0] for chain in found.chains] if found else []
        changes: list[Change] = [
            Count(EXEMPLARS, each.id, success and each is shown[0], 1, success) for each in shown
        ]
        node, reason = _exemplar(episode)
        if node:
            vector = embedder.embed_passages([node.payload["task"]])[0]
            changes.insert(0, addition(bank.tree(EXEMPLARS), node, vector))
        result = CollectionResult(
            EXEMPLARS,
            "exemplar" if node else "skip",
            reason,
            node,
            match=shown[0].id if shown else None,
            score=found.candidates[0].score if found and found.candidates else None,
        )
        return Plan(LearnResult(episode.id, True, {EXEMPLARS: result}), tuple(changes))

    def placement(
        self,
        collection: str,  # noqa: ARG002 - there is one
        found: CollectionRecall | None,
        settings: Settings,  # noqa: ARG002 - it does not depend on them
    ) -> str:
        """A success is always added."""
        return "would become another exemplar if it succeeds" if found else "not asked"


def _recalled(
    bank: Bank, task: str, numbers: SynapseNumbers, embedder: Embedder, count: int = 1
) -> CollectionRecall | None:
    """The exemplars for a task; None if there is no task to compare."""
    task = clean(task).strip()
    if not task:
        return None
    vector = embedder.embed_queries([task])[0]
    tree = bank.tree(EXEMPLARS)
    return recall_exemplars(tree, task, vector, numbers, weighting_of(bank), count)


def _exemplar(episode: Trajectory) -> tuple[Node | None, str]:
    """The exemplar that an episode becomes, or None, and why."""
    if not episode.outcome.success:
        return None, "the episode failed"
    payload = {"task": clean(episode.task).strip(), "dialogue": dialogue_of(episode)}
    if not all(payload.values()):
        return None, "the episode has no task" if payload["dialogue"] else "nothing was done"
    origin = Origin(trajectory=episode.id, outcome_source=episode.outcome.source)
    return born(EXEMPLARS, None, "success", payload, origin), "a success"


def _entry(node: Node) -> str:
    """An exemplar as it stands in a prompt: a task, and the turns of its dialogue."""
    return f"### Exemplar\nTask: {fenced(node.payload['task'])}\n{fenced(node.payload['dialogue'])}"
