"""Lessons: what an episode taught a bank, for callers and for the journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from deltamem_tui.bank.node import Node, TreeName
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.writers.extraction import Call
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

REASON_WIDTH = 400
"""The most characters of a reason in the journal."""

Decision = Literal["root", "residual", "skip", "unasked"]


@dataclass(frozen=True, slots=True)
class TreeLesson:
    """What an episode taught one tree.

    Attributes:
        tree: `task` or `env`.
        decision: A new `root` or `residual`, a `skip` because the chain covers the episode,
            or `unasked` because the tree is switched off or the episode has no question for it.
        reason: Why, in one line.
        node: The new node, if one was written.
        match: Id of the match, if there was one.
        score: The match's score, or the best score if nothing matched.
        consolidated: The new root that the match's chain was fused into, if it was.
        calls: The questions to a language model that it took.
    """

    tree: TreeName
    decision: Decision
    reason: str
    node: Node | None = None
    match: str | None = None
    score: float | None = None
    consolidated: Node | None = None
    calls: tuple[Call, ...] = ()

    @property
    def usage(self) -> Usage:
        """What its questions to a language model took together."""
        return usage_of(self.calls)

    @property
    def cut(self) -> str:
        """What of the episode did not fit the model's window, in one line; empty if all did."""
        return next((call.cut for call in self.calls if call.cut), "")


@dataclass(frozen=True, slots=True)
class Lesson:
    """What an episode taught a bank.

    Attributes:
        trajectory: The episode's id.
        new: Whether the bank had not learnt it before; if it had, nothing was written.
        trees: Per tree, what it was taught; empty if the episode was not new.
    """

    trajectory: str
    new: bool
    trees: Mapping[TreeName, TreeLesson]

    @property
    def usage(self) -> Usage:
        """What its questions to a language model took together."""
        return usage_of(call for taught in self.trees.values() for call in taught.calls)


def usage_of(calls: Iterable[Call]) -> Usage:
    """What some questions took together."""
    return sum((call.usage for call in calls), Usage())


def lesson_record(trajectory: Trajectory, lesson: Lesson) -> dict[str, Any]:
    """What the journal tells of a lesson: every decision and why."""
    return {
        "trajectory": trajectory.id,
        "success": trajectory.outcome.success,
        "outcome_source": trajectory.outcome.source,
        "trees": {name: tree_lesson_record(taught) for name, taught in lesson.trees.items()},
    }


def tree_lesson_record(taught: TreeLesson) -> dict[str, Any]:
    """One tree's decision as data, without what it left empty."""
    record = {
        "decision": taught.decision,
        "reason": one_line(taught.reason, REASON_WIDTH),
        "node": taught.node.id if taught.node else None,
        "parent": taught.node.parent if taught.node else None,
        "match": taught.match,
        "score": taught.score,
        "consolidated": taught.consolidated.id if taught.consolidated else None,
        "calls": [call.record() for call in taught.calls] or None,
    }
    return {key: value for key, value in record.items() if value is not None}
