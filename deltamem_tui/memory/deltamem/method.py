"""DeltaMem as a memory method: residual experience in a task tree and an env tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.deltamem import calibrate, consolidate, recall, rules, write
from deltamem_tui.memory.deltamem.collections import COLLECTIONS, DISPLAY
from deltamem_tui.memory.deltamem.prompt_uses import PROMPTS
from deltamem_tui.memory.deltamem.settings import Parameters
from deltamem_tui.memory.learn_result import LearnResult
from deltamem_tui.memory.method import Method
from deltamem_tui.memory.plan import Due, MaintenanceResult, Plan
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.threshold_proposal import Proposal
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class DeltaMem(Method):
    """New experience is stored as what it adds to what is known."""

    name = "deltamem"
    title = "residual experience in two trees"
    good_when = (
        "tasks of a kind come again with other things and places, and the prompt is to stay short"
    )
    collections = COLLECTIONS
    display = DISPLAY
    decisions = {  # noqa: RUF012 - a constant of the class
        "root": "nothing like it was known",
        "residual": "what the match lacks was added below it",
        "skip": "the match covers it",
        "unasked": "the tree had no question",
    }
    ranking = (
        "score = similarity − failure penalty (for failures) · the best node is the "
        "match if it reaches the threshold (tau_base)"
    )
    rules = {  # noqa: RUF012 - a constant of the class
        "kind": "the kind of goal is known; a score is the similarity of names within it",
    }
    prompts = PROMPTS
    settings = Parameters

    def recall(self, bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
        """Equations 6 and 7 in each tree that has a question."""
        return recall.recall(bank, query, of_bank(bank, Parameters, query.settings), embedder)

    def rank(
        self,
        bank: Bank,
        collection: str,
        text: str,
        vector: NDArray[np.float32],
        count: int,
        settings: Settings | None = None,
    ) -> CollectionRecall:
        """Equations 6 and 7 in one tree."""
        numbers = of_bank(bank, Parameters, settings)[collection]
        weighting = weighting_of(bank)
        question = recall.TreeQuestion(text, vector)
        return recall.recall_tree(bank.tree(collection), question, numbers, weighting, count)

    def plan(
        self, bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder
    ) -> Plan[LearnResult]:
        """Equations 4 and 5, and 8 where a chain is due."""
        return write.plan(bank, episode, of_bank(bank, Parameters), writer, embedder)

    def write_by_rules(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,  # noqa: ARG002 - DeltaMem writes from episodes and chains
    ) -> Extraction:
        """Skills and knowledge in the rules' words."""
        return rules.write(purpose, episode, notes)

    def questions(self, episode: Trajectory) -> Mapping[str, str]:
        """The goal for the task tree, the scene for the env tree."""
        return recall.questions_of(episode)

    def maintain(
        self, bank: Bank, due: Due, writer: Writer, embedder: Embedder
    ) -> Plan[MaintenanceResult] | None:
        """Fuse one chain."""
        return consolidate.maintain(bank, due, writer, embedder)

    def due_rows(self, tree: Tree, settings: Settings) -> NDArray[np.bool_]:
        """The residuals whose chains equation 8 wants fused."""
        return consolidate.due_rows(tree, settings.of(tree.name))

    def max_depth(self, collection: str, settings: Settings) -> int:
        """D_max."""
        deepest: int = settings.of(collection).d_max
        return deepest

    def placement(self, collection: str, found: CollectionRecall | None, settings: Settings) -> str:
        """Where equations 4 and 5 would put an episode with this question."""
        return write.placement(found, settings.of(collection))

    def calibrate(
        self, bank: Bank, writer: Writer, embedder: Embedder, between: Callable[[], None]
    ) -> list[Proposal]:
        """τ_base per tree."""
        return calibrate.calibrate(bank, writer=writer, embedder=embedder, between=between)

    def first_thresholds(self, bank: Bank, writer: Writer, embedder: Embedder) -> list[Proposal]:
        """τ_base of the trees that still have the preset's."""
        return calibrate.first_thresholds(bank, writer=writer, embedder=embedder)

    def uses_scene(self, settings: Settings) -> bool:
        """The env tree is asked with the scene alone."""
        enabled: bool = settings.of("env").enabled
        return enabled
