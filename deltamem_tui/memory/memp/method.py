"""MemP as a memory method: whole procedures, credited for each use and repaired where they fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.context import compose
from deltamem_tui.memory.learn_result import LearnResult
from deltamem_tui.memory.memp import plans, rules
from deltamem_tui.memory.memp.collections import COLLECTIONS, DISPLAY, PROCEDURES, WAITING
from deltamem_tui.memory.memp.context import context_entries
from deltamem_tui.memory.memp.prompt_uses import PROMPTS
from deltamem_tui.memory.memp.recall import by_query, recalled
from deltamem_tui.memory.memp.settings import MempNumbers
from deltamem_tui.memory.method import Method
from deltamem_tui.memory.plan import Due, MaintenanceResult, Plan
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


class Memp(Method):
    """Each success is a procedure; a failure repairs the one that it was shown."""

    name = "memp"
    title = "procedures of whole episodes, repaired where they fail"
    good_when = "tasks are long and come again nearly as they were"
    collections = COLLECTIONS
    display = DISPLAY
    key_depths = {PROCEDURES: 2}  # noqa: RUF012 - a constant of the class
    decisions = {  # noqa: RUF012 - a constant of the class
        "record": "the episode became a record",
        "repair": "the record that the failure was shown was rewritten",
        "wait": "it waits for the next update",
        "skip": "it teaches nothing",
    }
    ranking = "the k best procedures are recalled, from tau up"
    rules = {  # noqa: RUF012 - a constant of the class
        "random": "drawn by chance; scores say nothing",
        "query": "a score is the similarity of the tasks",
        "avefact": "a score is the mean similarity of the facts that both tasks have",
    }
    prompts = PROMPTS
    settings = MempNumbers

    def recall(self, bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
        """The k records that fit best, by the bank's key."""
        numbers = of_bank(bank, MempNumbers, query.settings)
        found = recalled(bank, query.task, numbers, embedder, query.count)
        records = [chain[0] for chain in found.chains] if found else []
        entries = context_entries(bank.manifest.domain, query.task, records)
        context = compose(bank.manifest.domain, entries, query.folders)
        return RecallResult({PROCEDURES: found, WAITING: None}, context)

    def rank(
        self,
        bank: Bank,
        collection: str,
        text: str,
        vector: NDArray[np.float32],
        count: int,
        settings: Settings | None = None,
    ) -> CollectionRecall:
        """Records by the similarity of their tasks, whatever the bank's key is."""
        if collection != PROCEDURES:
            return super().rank(bank, collection, text, vector, count, settings)
        numbers = of_bank(bank, MempNumbers, settings)
        return by_query(bank.tree(collection), text, vector, numbers, weighting_of(bank), count)

    def plan(
        self, bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder
    ) -> Plan[LearnResult]:
        """Credit what was shown; then a record, a repair, or nothing."""
        return plans.plan(bank, episode, of_bank(bank, MempNumbers), writer, embedder)

    def write_by_rules(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,  # noqa: ARG002 - the rules have the names of facts themselves
    ) -> Extraction:
        """Scripts, facts and repairs in the rules' words."""
        return rules.write(purpose, episode, notes)

    def questions(self, episode: Trajectory) -> Mapping[str, str]:
        """The task; episodes that wait are not asked for."""
        return {PROCEDURES: clean(episode.task).strip(), WAITING: ""}

    def due(self, bank: Bank) -> Sequence[Due]:
        """An update that could not be finished."""
        return plans.due(bank, of_bank(bank, MempNumbers))

    def maintain(
        self,
        bank: Bank,
        due: Due,  # noqa: ARG002 - there is one update at most
        writer: Writer,
        embedder: Embedder,
    ) -> Plan[MaintenanceResult] | None:
        """Take up the episodes that wait."""
        return plans.maintain(bank, of_bank(bank, MempNumbers), writer, embedder)

    def max_depth(self, collection: str, settings: Settings) -> int:  # noqa: ARG002
        """2 for procedures: facts lie below their record."""
        return COLLECTIONS[collection].depth

    def placement(self, collection: str, found: CollectionRecall | None, settings: Settings) -> str:
        """What an episode with this question would come to."""
        if collection != PROCEDURES or not isinstance(settings, MempNumbers):
            return ""
        if settings.update == "vanilla":
            return "would become a record"
        if settings.update == "validation" or found is None or not found.chain:
            return "a success would become a record"
        best = found.chain[0].id[:8]
        return f"a success would become a record, a failure would rewrite {best}"
