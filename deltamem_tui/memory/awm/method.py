"""AWM as a memory method: routines that recur in the solved tasks of a kind, recalled together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.awm import groups, recall, rules, write
from deltamem_tui.memory.awm.collections import COLLECTIONS, DISPLAY, SOLVED, WORKFLOWS
from deltamem_tui.memory.awm.prompt_uses import PROMPTS
from deltamem_tui.memory.awm.settings import AwmNumbers
from deltamem_tui.memory.context import compose
from deltamem_tui.memory.learn_result import LearnResult
from deltamem_tui.memory.method import Method
from deltamem_tui.memory.plan import Due, MaintenanceResult, Plan
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Awm(Method):
    """Agent Workflow Memory, online: after each success its kind's workflows are induced anew."""

    name = "awm"
    title = "workflows for each kind of task"
    good_when = "many tasks share the same few routines"
    collections = COLLECTIONS
    display = DISPLAY
    decisions = {  # noqa: RUF012 - a constant of the class
        "induce": "the workflows of its kind were induced anew",
        "keep": "the workflows of its kind came again",
        "wait": "the workflows of its kind are induced later",
        "solved": "the success is kept to induce workflows from",
        "skip": "it teaches nothing",
    }
    ranking = "all workflows of the kind of task are recalled"
    rules = {  # noqa: RUF012 - a constant of the class
        recall.KIND: "all workflows of the task's kind, without any ranking",
        recall.NEAREST: "the kind whose name is nearest; a score is that similarity",
    }
    prompts = PROMPTS
    settings = AwmNumbers

    def recall(self, bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
        """All workflows of the task's kind."""
        found = recall.recall_workflows(bank, query.task, embedder, query.count)
        shown = [chain[0] for chain in found.chains] if found else []
        entries = recall.context_entries(bank.manifest.domain, query.task, shown)
        context = compose(bank.manifest.domain, entries, query.folders)
        return RecallResult({WORKFLOWS: found, SOLVED: None}, context)

    def plan(
        self, bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder
    ) -> Plan[LearnResult]:
        """Credit what was used; keep a success and induce from it."""
        return write.plan(bank, episode, of_bank(bank, AwmNumbers), writer, embedder)

    def write_by_rules(
        self,
        purpose: str,
        episode: Trajectory | None,  # noqa: ARG002 - workflows come from several episodes
        notes: Sequence[Node],  # noqa: ARG002 - what recurs does so without them
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        """Workflows as closed frequent patterns."""
        return rules.write(purpose, inputs)

    def questions(self, episode: Trajectory) -> Mapping[str, str]:
        """The task; solved tasks are not asked for."""
        return {WORKFLOWS: clean(episode.task).strip(), SOLVED: ""}

    def due(self, bank: Bank) -> Sequence[Due]:
        """The kinds whose last induction could not be used, or came of what is lost by now."""
        return write.due(bank, of_bank(bank, AwmNumbers))

    def maintain(
        self, bank: Bank, due: Due, writer: Writer, embedder: Embedder
    ) -> Plan[MaintenanceResult] | None:
        """Induce the workflows of one kind."""
        kind = due.nodes[-1].payload["group"]
        return write.maintain(bank, kind, of_bank(bank, AwmNumbers), writer, embedder)

    def due_rows(self, tree: Tree, settings: Settings) -> NDArray[np.bool_]:
        """The solved tasks that wait for an induction which is due."""
        marked = super().due_rows(tree, settings)
        if tree.name == SOLVED and isinstance(settings, AwmNumbers):
            for rows in groups.due_rows(tree, settings.every).values():
                marked[rows] = True
        return marked

    def placement(self, collection: str, found: CollectionRecall | None, settings: Settings) -> str:  # noqa: ARG002
        """Workflows come from all successes of a kind."""
        if found is None:
            return "not asked"
        new = "no workflow of its kind is known; a" if found.new_kind else "a"
        return f"{new} success would have the workflows of its kind induced anew"
