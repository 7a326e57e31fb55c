"""What learning came to: an episode's result per collection, for callers and for the journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from deltamem_tui.bank.node import Node
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.writers.extraction import Call
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

REASON_WIDTH = 400
"""The most characters of a reason in the journal."""


@dataclass(frozen=True, slots=True)
class CollectionResult:
    """What an episode added to one collection.

    Attributes:
        decision: What the method decided, in its own terms: `root`, `residual`, `skip` …
            `Method.decisions` describes them.
        reason: Why, in one line.
        node: The new node, if one was written; the first if there are several.
        match: Id of the match, if there was one.
        score: The match's score, or the best score if nothing matched.
        consolidated: The new root that the match's chain was fused into, if it was.
    """

    tree: str
    decision: str
    reason: str
    node: Node | None = None
    match: str | None = None
    score: float | None = None
    consolidated: Node | None = None
    calls: tuple[Call, ...] = ()

    @property
    def usage(self) -> Usage:
        """What its model calls took together."""
        return usage_of(self.calls)

    @property
    def cut(self) -> str:
        """What of the episode did not fit the model's window, in one line; empty if all did."""
        return next((call.cut for call in self.calls if call.cut), "")

    def record(self) -> dict[str, Any]:
        """Return the result as the journal has it, without what is empty."""
        record = {
            "decision": self.decision,
            "reason": one_line(self.reason, REASON_WIDTH),
            "node": self.node.id if self.node else None,
            "parent": self.node.parent if self.node else None,
            "match": self.match,
            "score": self.score,
            "consolidated": self.consolidated.id if self.consolidated else None,
            "calls": [call.record() for call in self.calls] or None,
        }
        return {key: value for key, value in record.items() if value is not None}


@dataclass(frozen=True, slots=True)
class LearnResult:
    """What a bank learnt from an episode.

    Attributes:
        new: Whether the bank had not learnt it before; if it had, nothing was written.
        trees: Per collection, what was added; empty if the episode was not new.
        written: Per collection, how many nodes are new, those included that came back.
    """

    trajectory: str
    new: bool
    trees: Mapping[str, CollectionResult]
    written: Mapping[str, int] = field(default_factory=dict)

    @property
    def calls(self) -> tuple[Call, ...]:
        """All model calls that it took."""
        return tuple(call for result in self.trees.values() for call in result.calls)

    @property
    def usage(self) -> Usage:
        """What its model calls took together."""
        return usage_of(self.calls)

    def record(self, trajectory: Trajectory) -> dict[str, Any]:
        """Return the result as the journal has it: every decision and why."""
        return {
            "trajectory": trajectory.id,
            "success": trajectory.outcome.success,
            "outcome_source": trajectory.outcome.source,
            "trees": {name: result.record() for name, result in self.trees.items()},
        }


Lesson = LearnResult
"""Its name in the public API."""


def usage_of(calls: Iterable[Call]) -> Usage:
    """Return what some model calls took together."""
    return sum((call.usage for call in calls), Usage())
