"""A recorder: an extractor that remembers what the answers of another one took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from deltamem_tui.bank.node import Node, TreeName
from deltamem_tui.memory.extraction import (
    AskedInVainError,
    Call,
    Extraction,
    Extractor,
    known_calls,
)
from deltamem_tui.memory.lesson import Lesson
from deltamem_tui.trajectory.model import Trajectory


class Recorder:
    """Passes questions on, and remembers what their answers took.

    Attributes:
        calls: The questions so far, those that came to nothing included.
    """

    def __init__(self, extractor: Extractor) -> None:
        """Nothing is remembered yet.

        Args:
            extractor: Who answers.
        """
        self._extractor = extractor
        self._answers: list[Extraction] = []
        self.calls: list[Call] = []

    @property
    def name(self) -> str:
        """The other extractor's name."""
        return self._extractor.name

    def extract(self, tree: TreeName, trajectory: Trajectory, chain: Sequence[Node]) -> Extraction:
        """What the other extractor makes of an episode."""
        try:
            answer = self._extractor.extract(tree, trajectory, chain)
        except AskedInVainError as error:
            self.note_vain(error.call)
            raise
        return self._noted(answer, answer.call("extract", tree))

    def fuse(self, tree: TreeName, chain: Sequence[Node]) -> Extraction:
        """What the other extractor makes of a chain."""
        try:
            answer = self._extractor.fuse(tree, chain)
        except AskedInVainError as error:
            self.note_vain(error.call)
            raise
        return self._noted(answer, answer.call("fuse", tree))

    def note_vain(self, call: Call) -> None:
        """Remember a question that brought nothing; once, however often it comes up."""
        if not any(call is other for other in self.calls):
            self.calls.append(call)

    def _noted(self, answer: Extraction, call: Call | None) -> Extraction:
        # What the same answer took is told once, also if a mark on the chain made it asked twice.
        if not any(answer is other for other in self._answers):
            self._answers.append(answer)
            self.calls += known_calls(call)
        return answer


def besides(calls: Iterable[Call], lesson: Lesson) -> list[Call]:
    """The calls whose answers the lesson did not use, because the bank changed meanwhile."""
    left = list(calls)
    for call in (call for taught in lesson.trees.values() for call in taught.calls):
        if call in left:
            left.remove(call)
    return left
