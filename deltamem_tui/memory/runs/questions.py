"""Questions to a model: which they are, what was asked for each, and what nobody wants any more."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from deltamem_tui.bank.node import Node
from deltamem_tui.memory.writers.extraction import AskedInVainError, Call, Purpose
from deltamem_tui.trajectory.model import Trajectory

ChainKey = tuple[tuple[str, int], ...]
Key = tuple[str, str, Purpose]
"""An episode, or the last node of a chain; the tree; what for."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question whose turn has come, or will.

    Attributes:
        purpose: What for.
        tree: The tree that it is for.
        trajectory: The episode; None to fuse the chain.
        chain: The chain as it stands; empty where a scene is drawn.
    """

    purpose: Purpose
    tree: str
    trajectory: Trajectory | None
    chain: tuple[Node, ...] = ()

    @classmethod
    def of(cls, tree: str, trajectory: Trajectory | None, chain: Sequence[Node]) -> Question:
        """What an extractor is asked: to distil an episode, or to fuse a chain."""
        purpose: Purpose = "fuse" if trajectory is None else "extract"
        return cls(purpose, tree, trajectory, tuple(chain))

    @property
    def key(self) -> Key:
        """What stays the same when the chain changes."""
        source = self.trajectory.id if self.trajectory else self.chain[-1].id
        return source, self.tree, self.purpose


@dataclass(slots=True)
class Asked:
    """What was asked of one tree for one episode, or for one chain to be fused.

    Attributes:
        prompts: What each chain that was met would have asked; None for nothing.
        answers: What was asked, by prompt.
        used: The prompts whose answers somebody took.
        tries: How often something was sent ahead of its turn.
    """

    prompts: dict[ChainKey, str | None] = field(default_factory=dict)
    answers: dict[str, Future[Any]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    tries: int = 0


@dataclass(frozen=True, slots=True)
class Left:
    """A call that was begun and that nobody wants any more."""

    purpose: Purpose
    tree: str
    future: Future[Any]

    def call(self) -> Call | None:
        """What it took, once it is done; None if it came to no answer."""
        error = self.future.exception()
        if isinstance(error, AskedInVainError):
            return error.call
        if error:
            return None
        call: Call | None = self.future.result().call(self.purpose, self.tree)
        return call
