"""CDMem as a memory method: memories by context, and insights made of them in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.cdmem import insights, rules
from deltamem_tui.memory.cdmem.collections import (
    COLLECTIONS,
    DISPLAY,
    ENV_INSIGHTS,
    ENVIRONMENTS,
    INSIGHTS,
    METHOD,
    TASK_INSIGHTS,
    TASKS,
)
from deltamem_tui.memory.cdmem.context import context_entries
from deltamem_tui.memory.cdmem.index import IndexReader, unread
from deltamem_tui.memory.cdmem.prompt_uses import PROMPTS
from deltamem_tui.memory.cdmem.recall import (
    HERE,
    INSIGHT,
    KIND,
    Recaller,
    env_kind_of,
    kind_of,
    known_kinds,
)
from deltamem_tui.memory.cdmem.settings import ContextNumbers
from deltamem_tui.memory.cdmem.surroundings import of_episode, of_question
from deltamem_tui.memory.cdmem.write import Planner
from deltamem_tui.memory.context import compose
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.kinds import resolve_kinds
from deltamem_tui.memory.learn_result import LearnResult
from deltamem_tui.memory.method import Method
from deltamem_tui.memory.plan import Due, MaintenanceResult, Plan
from deltamem_tui.memory.recall_result import Query, RecallResult
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class CDMem(Method):
    """Each episode is filed by task and environment; insights are made of every B of a kind."""

    name = METHOD
    title = "short-term memories by context, and insights from batches of them"
    good_when = "the same places are visited again, and several tries are allowed"
    collections = COLLECTIONS
    display = DISPLAY
    decisions = {  # noqa: RUF012 - a constant of the class
        "shortcut": "the success was remembered by the actions that it needed",
        "reflection": "the failure was remembered by its type, and what to do next time",
        "functions": "what things did was noted, and where things are",
        "places": "where things are was noted",
        "insights": "a batch was full, and its insights were made anew",
        "waiting": "no batch is full yet",
        "postponed": "nothing came of a full batch, which stays due",
        "skip": "there was nothing to remember",
        "unasked": "the episode says nothing of its environment",
    }
    ranking = "what was learnt of the kind of task, and of this environment, is recalled"
    rules = {  # noqa: RUF012 - a constant of the class
        HERE: "this very task or environment was met before",
        KIND: "the kind of task is known; a score is the similarity of the tasks",
        INSIGHT: "a score is the sum of the similarities to all memories of the kind",
    }
    prompts = PROMPTS
    settings = ContextNumbers

    def recall(self, bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
        """Exemplars, what is known of this environment, insights, the last failures here."""
        index, numbers = IndexReader(bank, embedder), of_bank(bank, ContextNumbers, query.settings)
        place = of_question(bank, query.task, query.environment)
        place = replace(place, kind=kind_of(index, place), env_kind=env_kind_of(index, place))
        found = Recaller(index, place, numbers, query.count).answers()
        entries = context_entries(bank, query.task, found, numbers.budget)
        return RecallResult(found, compose(bank.manifest.domain, entries, query.folders))

    def plan(
        self, bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder
    ) -> Plan[LearnResult]:
        """Its short-term memory, its environment, and the insights that it makes due."""
        index = IndexReader(bank, embedder)
        kinds = resolve_kinds(bank, episode, writer, known_kinds(index))
        place = of_episode(bank, episode, kinds.kinds)
        return Planner(index, kinds, place, of_bank(bank, ContextNumbers), writer).plan()

    def write_by_rules(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        """Expert notes, shortcuts, failures and insights in the rules' words."""
        return rules.write(purpose, episode, notes, inputs)

    def questions(self, episode: Trajectory) -> Mapping[str, str]:
        """The goal for what is filed by task, the scene for what is filed by environment."""
        task, scene = clean(episode.task).strip(), clean(scene_of(episode)).strip()
        return {TASKS: task, ENVIRONMENTS: scene, TASK_INSIGHTS: task, ENV_INSIGHTS: scene}

    def due(self, bank: Bank) -> Sequence[Due]:
        """The lists with a full batch, once for each."""
        size = of_bank(bank, ContextNumbers).batch
        return [
            Due(each.collection, each.nodes)
            for each in super().due(bank)
            for _ in range(len(unread(bank.tree(each.collection), each.nodes[-1])) // size)
        ]

    def maintain(
        self, bank: Bank, due: Due, writer: Writer, embedder: Embedder
    ) -> Plan[MaintenanceResult] | None:
        """Make the insights of one list anew."""
        root, size = due.nodes[-1].id, of_bank(bank, ContextNumbers).batch
        return insights.maintain(bank, due.collection, root, size, writer, embedder)

    def due_rows(self, tree: Tree, settings: Settings) -> NDArray[np.bool_]:
        """The kinds that have a full batch."""
        due = super().due_rows(tree, settings)
        if tree.name in INSIGHTS and isinstance(settings, ContextNumbers):
            for row in tree.child_rows(None):
                due[row] = len(unread(tree, tree.node_at(int(row)))) >= settings.batch
        return due

    def max_depth(self, collection: str, settings: Settings) -> int:  # noqa: ARG002
        """A kind, what belongs to it, and what each episode left there."""
        return COLLECTIONS[collection].depth

    def uses_scene(self, settings: Settings) -> bool:  # noqa: ARG002
        """Environments are told apart by their scenes."""
        return True
