"""ReasoningBank as a memory method: lessons from every episode, successes and failures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.context import compose
from deltamem_tui.memory.learn_result import LearnResult
from deltamem_tui.memory.method import Method
from deltamem_tui.memory.plan import Plan
from deltamem_tui.memory.reasoningbank import rules, write
from deltamem_tui.memory.reasoningbank.collections import (
    COLLECTIONS,
    DISPLAY,
    LESSON_DEPTH,
    LESSONS,
)
from deltamem_tui.memory.reasoningbank.context import context_entries
from deltamem_tui.memory.reasoningbank.prompt_uses import PROMPTS
from deltamem_tui.memory.reasoningbank.recall import (
    BY_DESCRIPTION,
    BY_ENTRY,
    BY_LESSON,
    BY_TASK,
    recall_lessons,
)
from deltamem_tui.memory.reasoningbank.settings import ReasoningBankSettings
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class ReasoningBank(Method):
    """Each episode becomes an entry of up to three lessons, found by its task."""

    name = "reasoningbank"
    title = "lessons from successes and failures"
    good_when = "what is to be learnt can be said in a sentence, across tasks"
    collections = COLLECTIONS
    display = DISPLAY
    decisions = {  # noqa: RUF012 - a constant of the class
        "entry": "the episode's lessons were written, with an entry of its own",
        "contrast": "the lessons of all trials of the task took the place of the earlier ones",
        "skip": "it teaches nothing",
    }
    ranking = "the lessons of the k nearest entries are recalled, or the k nearest lessons"
    rules = {  # noqa: RUF012 - a constant of the class
        BY_ENTRY: "an entry's lessons come with it; a score is the similarity of its task",
        BY_LESSON: "a score is the greater similarity, of its entry's task or its description",
        BY_TASK: "the similarity of its entry's task is the greater one",
        BY_DESCRIPTION: "the similarity of its description is the greater one",
    }
    prompts = PROMPTS
    settings = ReasoningBankSettings

    def recall(self, bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
        """The lessons of the nearest entries, or the nearest lessons."""
        task = clean(query.task).strip()
        if not task:
            return RecallResult({LESSONS: None}, "")
        vector = embedder.embed_queries([task])[0]
        found = self.rank(bank, LESSONS, task, vector, query.count, query.settings)
        domain, lessons = bank.manifest.domain, [chain[-1] for chain in found.chains]
        entries = context_entries(domain, task, lessons)
        return RecallResult({LESSONS: found}, compose(domain, entries, query.folders))

    def rank(
        self,
        bank: Bank,
        collection: str,
        text: str,
        vector: NDArray[np.float32],
        count: int,
        settings: Settings | None = None,
    ) -> CollectionRecall:
        """The lessons for a text."""
        numbers = of_bank(bank, ReasoningBankSettings, settings)
        tree, weighting = bank.tree(collection), weighting_of(bank)
        return recall_lessons(tree, text, vector, numbers, weighting, count)

    def plan(
        self, bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder
    ) -> Plan[LearnResult]:
        """An entry with lessons, and credit for the lessons that are recalled."""
        return write.plan(bank, episode, of_bank(bank, ReasoningBankSettings), writer, embedder)

    def write_by_rules(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        """Lessons in the rules' words."""
        return rules.write(purpose, episode, notes, inputs)

    def max_depth(self, collection: str, settings: Settings) -> int:  # noqa: ARG002
        """A lesson lies below its entry."""
        return LESSON_DEPTH

    def placement(
        self,
        collection: str,  # noqa: ARG002 - there is one
        found: CollectionRecall | None,  # noqa: ARG002 - entries do not depend on it
        settings: Settings,
    ) -> str:
        """Each episode has an entry, unless trials are compared."""
        several = isinstance(settings, ReasoningBankSettings) and settings.trials > 1
        shared = ", unless the task was tried here before" if several else ""
        return f"would become an entry with its lessons{shared}"
