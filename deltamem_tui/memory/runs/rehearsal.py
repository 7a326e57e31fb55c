"""Rehearsals: what a run will take, found out by doing it without the model.

Every episode is learnt into a copy of the bank that is thrown away. Where the response cache has
the model's answer, that is used; where it has none, the prompt that would be sent is counted and
the rules write in the model's place. They write other words and skip other episodes, so the
chains that later prompts show are only like the real ones: it is an estimate.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node, TreeName
from deltamem_tui.bank.travel.copying import copy_bank
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import BudgetError, ExtractionError, TrajectoryError, VectorError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.encounter import Encounter
from deltamem_tui.memory.extraction import Extraction
from deltamem_tui.memory.learn import as_kept, learn_from
from deltamem_tui.memory.model.extractor import ModelExtractor
from deltamem_tui.memory.rules import RulesExtractor
from deltamem_tui.trajectory.model import Trajectory


def rehearse(
    bank: Bank,
    trajectories: Iterable[Trajectory],
    extractor: ModelExtractor,
    embedder: Embedder,
    *,
    advance: Callable[[], object] = lambda: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Usage:
    """Estimate what learning from episodes will take. Nothing is sent, the bank stays as it is.

    Args:
        bank: The bank.
        trajectories: Episodes whose outcomes are known.
        extractor: Asks through a client with a `NoBudget`, so that nothing can be sent.
        embedder: The bank's embedder.
        advance: Told after each episode.
        stopped: Whether somebody wants to stop; then the estimate is of what was rehearsed.

    Returns:
        Calls to be made with their tokens and cost, and answers that the cache has already.

    Raises:
        LanguageModelError: The extractor's model cannot be asked at all.
        StorageError: There is no room for the copy.
    """
    understudy = _Understudy(extractor)
    with tempfile.TemporaryDirectory(prefix="deltamem-rehearsal-") as folder:
        stage = copy_bank(bank, Path(folder) / bank.path.name)
        for trajectory in trajectories:
            if stopped():
                break
            try:
                kept = as_kept(bank, trajectory)
                learn_from(stage, Encounter(stage, kept, embedder), understudy, embedder)
            except (ExtractionError, TrajectoryError, VectorError):
                pass  # the run will tell
            advance()
    return understudy.usage


def rehearse_fusions(
    bank: Bank, chains: Iterable[tuple[TreeName, Node]], extractor: ModelExtractor
) -> Usage:
    """Estimate what fusing chains will take. Nothing is sent.

    Args:
        bank: The bank that holds them.
        chains: Each chain's tree and last node.
        extractor: Asks for the fusions.
    """
    estimates = (
        extractor.estimate(name, None, bank.tree(name).chain(node.id)) for name, node in chains
    )
    return sum(estimates, Usage())


class _Understudy:
    """Takes the model's place: answers from the cache, else counts and lets the rules write."""

    def __init__(self, extractor: ModelExtractor) -> None:
        self._extractor = extractor
        self._rules = RulesExtractor()
        self.usage = Usage()

    @property
    def name(self) -> str:
        return self._extractor.name

    def extract(self, tree: TreeName, trajectory: Trajectory, chain: Sequence[Node]) -> Extraction:
        try:
            return self._known(self._extractor.extract(tree, trajectory, chain))
        except BudgetError:
            self.usage += self._extractor.estimate(tree, trajectory, chain)
            return self._rules.extract(tree, trajectory, chain)

    def fuse(self, tree: TreeName, chain: Sequence[Node]) -> Extraction:
        try:
            return self._known(self._extractor.fuse(tree, chain))
        except BudgetError:
            self.usage += self._extractor.estimate(tree, None, chain)
            return self._rules.fuse(tree, chain)

    def _known(self, extraction: Extraction) -> Extraction:
        self.usage += extraction.usage
        return extraction
