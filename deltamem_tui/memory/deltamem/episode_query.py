"""Encounters: an episode meets a bank, and each tree says what it knows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.deltamem.recall import questions_of, recall_tree
from deltamem_tui.memory.deltamem.settings import TreeParameters
from deltamem_tui.memory.method import CollectionRecall
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Encounter:
    """One episode's questions to a bank, each embedded once however often it is asked."""

    def __init__(self, bank: Bank, trajectory: Trajectory, embedder: Embedder) -> None:
        """Nothing is embedded yet.

        Args:
            bank: The bank, as its handle will show it when it is asked.
            trajectory: The episode.
            embedder: The bank's embedder.
        """
        self.trajectory = trajectory
        self._bank = bank
        self._embedder = embedder
        self._questions = questions_of(trajectory)
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def asks(self, name: str) -> bool:
        """Whether the episode has a question for a tree."""
        return bool(self._questions[name])

    def unasked(self, name: str, parameters: TreeParameters) -> str:
        """Why a tree is not asked, in one line; empty if it is."""
        if not parameters.enabled:
            return "the tree is switched off"
        return "" if self.asks(name) else "the episode says nothing of its environment"

    def recall(self, name: str, parameters: TreeParameters) -> CollectionRecall:
        """What a tree of the bank as it stands knows of the episode (equations 6 and 7)."""
        return recall_tree(
            self._bank.tree(name),
            self._questions[name],
            self.vector(name),
            parameters,
            weighting_of(self._bank),
        )

    def vector(self, name: str) -> NDArray[np.float32]:
        """The question's vector, float32 [dimensions], unit length."""
        if name not in self._vectors:
            self._vectors[name] = self._embedder.embed_queries([self._questions[name]])[0]
        return self._vectors[name]
