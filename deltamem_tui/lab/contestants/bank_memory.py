"""A bank that competes: one that a method fills, or one that is given."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError, TrajectoryError, VectorError
from deltamem_tui.lab.contestants.memory import MemorySize, MemoryText
from deltamem_tui.lab.contestants.seen_games import HiddenGames
from deltamem_tui.lab.environment import Start
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.forgetting import forget_if_due
from deltamem_tui.memory.methods import display_of, method_of
from deltamem_tui.text import count_tokens
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    from deltamem_tui.memory.writers.extraction import Extractor
    from deltamem_tui.memory.writers.writer import Writer


@dataclass(slots=True)
class BankMemory:
    """A bank, and how it learns.

    Attributes:
        writer: What puts experience into words.
        admitted: An episode as it may be learnt; None if it may not.
        hidden: Hides what was learnt from the game that is played; None to hide nothing.
    """

    bank: Bank
    embedder: Embedder
    writer: Writer | Extractor
    admitted: Callable[[Trajectory], Trajectory | None]
    hidden: HiddenGames | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def nodes(self) -> int:
        """How many nodes can be recalled; those that are only keys of others are not counted."""
        depths = method_of(self.bank).key_depths
        return sum(
            int((tree.depth[tree.rows] < depths[name]).sum()) if name in depths else len(tree)
            for name, tree in self.bank.trees.items()
            if display_of(self.bank, name).asked
        )

    def recall(self, start: Start, game: str) -> MemoryText:
        """What the bank recalls for the task and the scene."""
        hidden = self.hidden.without(game) if self.hidden else nullcontext(self.bank)
        with self._lock, hidden as bank:
            found = recall(bank, start.task, start.scene, embedder=self.embedder)
        return MemoryText(found.context, found.receipt)

    def learn(self, episode: Trajectory) -> bool:
        """Learn an episode that is admitted; another, or one nothing comes of, is only kept.

        That it forgets what is due is seen to, should an earlier run have been killed in between.
        """
        with self._lock:
            admitted = self.admitted(episode)
            try:
                if admitted is not None:
                    if not learn(self.bank, admitted, self.writer, embedder=self.embedder).new:
                        forget_if_due(self.bank)
                    return True
            except (ExtractionError, VectorError, TrajectoryError):
                pass
            take_in(self.bank, [episode], redaction="off")
            return False

    def size(self) -> MemorySize:
        """The nodes that can be recalled, and their tokens."""
        depths = method_of(self.bank).key_depths
        found: list[Node] = [
            node
            for name, tree in self.bank.trees.items()
            if display_of(self.bank, name).asked
            for node in tree
            if node.depth < depths.get(name, node.depth + 1)
        ]
        return MemorySize(len(found), sum(count_tokens(each.text) for each in found))
