"""A recorder: an extractor that notes what the answers of another one took."""

from __future__ import annotations

from collections.abc import Sequence

from deltamem_tui.bank.node import Node
from deltamem_tui.memory.runs.account import Entry
from deltamem_tui.memory.writers.extraction import (
    AskedInVainError,
    Call,
    Extraction,
    Extractor,
)
from deltamem_tui.trajectory.model import Trajectory


class Recorder:
    """Passes questions on, and notes what their answers took, those of no use included."""

    def __init__(self, extractor: Extractor, entry: Entry) -> None:
        """Nothing is asked yet.

        Args:
            extractor: Who answers.
            entry: Where it is noted.
        """
        self._extractor = extractor
        self._entry = entry
        self._answers: list[Extraction] = []

    @property
    def name(self) -> str:
        """The other extractor's name."""
        return self._extractor.name

    def extract(self, tree: str, trajectory: Trajectory, chain: Sequence[Node]) -> Extraction:
        """What the other extractor makes of an episode."""
        try:
            answer = self._extractor.extract(tree, trajectory, chain)
        except AskedInVainError as error:
            self._entry.asked(error.call)
            raise
        return self._noted(answer, answer.call("extract", tree))

    def fuse(self, tree: str, chain: Sequence[Node]) -> Extraction:
        """What the other extractor makes of a chain."""
        try:
            answer = self._extractor.fuse(tree, chain)
        except AskedInVainError as error:
            self._entry.asked(error.call)
            raise
        return self._noted(answer, answer.call("fuse", tree))

    def _noted(self, answer: Extraction, call: Call | None) -> Extraction:
        # What the same answer took is told once, also if a mark on the chain made it asked twice.
        if not any(answer is other for other in self._answers):
            self._answers.append(answer)
            self._entry.asked(call)
        return answer
