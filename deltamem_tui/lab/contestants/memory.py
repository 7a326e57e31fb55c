"""What every contestant's memory can do, whatever it is made of."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from deltamem_tui.lab.environment import Start
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.receipt import Receipt


class MemoryText(Struct, frozen=True):
    """What an agent is handed for a game.

    Attributes:
        text: For its prompt; empty if the memory has nothing to say.
        receipt: What was shown; None where no bank was asked.
    """

    text: str = ""
    receipt: Receipt | None = None


class MemorySize(Struct, frozen=True):
    """How much a memory holds.

    Attributes:
        nodes: Units of memory: nodes that can be recalled, or old episodes.
        tokens: Of all of them together.
    """

    nodes: int = 0
    tokens: int = 0


class Memory(Protocol):
    """A contestant's memory. Several threads may ask it at once."""

    @property
    def nodes(self) -> int:
        """How many units of memory it holds now."""
        ...

    def recall(self, start: Start, game: str) -> MemoryText:
        """What it hands over for a game that begins, which is named in case it is hidden."""
        ...

    def learn(self, episode: Trajectory) -> bool:
        """Learn from an episode, once however often it is given; whether it did.

        Raises:
            LanguageModelError: The writer's model cannot be asked at all.
            StorageError: The disk refused.
        """
        ...

    def size(self) -> MemorySize:
        """How much it holds now."""
        ...
