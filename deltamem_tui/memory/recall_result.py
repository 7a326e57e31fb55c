"""A question to a bank, and what the bank recalls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deltamem_tui.bank.node import Node
from deltamem_tui.memory.settings import Settings
from deltamem_tui.memory.vectors.search import Candidate


@dataclass(frozen=True, slots=True)
class Query:
    """A question to a bank.

    Attributes:
        environment: The scene, without the goal.
        count: The most candidates per collection, those that do not match included.
        settings: Numbers to try in place of the bank's.
        folders: Where the context's header is looked up; the usual places if None.
    """

    task: str
    environment: str = ""
    count: int = 1
    settings: Settings | None = None
    folders: tuple[Path, ...] | None = None


@dataclass(frozen=True, slots=True)
class CollectionRecall:
    """What one collection answered.

    Attributes:
        threshold: The least score of a match; -1 if all match.
        candidates: The best nodes, best first.
        chains: What is recalled, best first: each the nodes root → match.
        rule: Which rule chose the best chain, in the method's words.
        new_kind: Whether the question's kind of goal is understood, and no node is of it.
    """

    collection: str
    query: str
    threshold: float
    candidates: tuple[Candidate, ...]
    chains: tuple[tuple[Node, ...], ...] = ()
    rule: str = "threshold"
    new_kind: bool = False

    @property
    def chain(self) -> tuple[Node, ...]:
        """The best chain; empty if nothing matched."""
        return self.chains[0] if self.chains else ()

    @property
    def match(self) -> Candidate | None:
        """The candidate at the end of the best chain; None if nothing matched."""
        return next((each for each in self.candidates if self.matches(each)), None)

    def matches(self, candidate: Candidate) -> bool:
        """Whether a candidate is recalled."""
        return any(candidate.node.id == chain[-1].id for chain in self.chains)


@dataclass(frozen=True)
class RecallResult:
    """What a bank recalls.

    Attributes:
        collections: Per collection its answer; None if it was not asked.
        context: The text for the agent's prompt; empty if nothing matched.
        receipt: What was shown, to be given back with the episode's log; None if not kept.
    """

    collections: Mapping[str, CollectionRecall | None]
    context: str
    receipt: Mapping[str, Any] | None = None

    def __getitem__(self, collection: str) -> CollectionRecall | None:
        """A collection's answer by its name: `found["task"]`."""
        return self.collections[collection]
