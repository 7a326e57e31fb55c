"""Plans: what a method wants changed in a bank, and what becomes of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from deltamem_tui.bank.node import Node
from deltamem_tui.memory.learn_result import REASON_WIDTH, LearnResult
from deltamem_tui.memory.writers.extraction import Call
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Add:
    """A new node, with the vector of its key."""

    collection: str
    node: Node
    vector: Vector


@dataclass(frozen=True, slots=True)
class Revise:
    """Another line for a node; a new vector if its key is another. `deleted` forgets it."""

    collection: str
    node: Node
    vector: Vector | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """More to the counts of a node."""

    collection: str
    node: str
    hits: int = 0
    recalls: int = 0
    successes: int = 0


Change = Add | Revise | Count


@dataclass(frozen=True, slots=True)
class Due:
    """Maintenance that is due: a chain to be fused, a group whose insights are to be rewritten.

    Attributes:
        nodes: The nodes concerned; the last one names it.
    """

    collection: str
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class MaintenanceResult:
    """What became of maintenance that was due.

    Attributes:
        root: The node that came of it, new or there already; None if none did.
        reason: Why, in one line.
        written: Whether the node is new.
        done: Whether it was committed, and is due no longer.
    """

    collection: str
    chain: tuple[Node, ...]
    root: Node | None
    reason: str
    calls: tuple[Call, ...] = ()
    written: bool = False
    done: bool = False

    def record(self) -> dict[str, Any]:
        """Return the result as the journal has it."""
        record = {
            "tree": self.collection,
            "root": self.root.id if self.root else None,
            "nodes": [each.id for each in self.chain],
            "reason": one_line(self.reason, REASON_WIDTH),
            "written": self.written if self.root else None,
            "calls": [call.record() for call in self.calls] or None,
        }
        return {key: value for key, value in record.items() if value is not None}


ResultT = TypeVar("ResultT", LearnResult, MaintenanceResult)


@dataclass(frozen=True, slots=True)
class Plan(Generic[ResultT]):
    """What an episode, or maintenance that is due, changes: written whole or not at all.

    Attributes:
        result: What was decided, for callers and the journal. Maintenance without changes stays
            due.
        changes: What is written, in this order.
        episode: The episode as the bank is to keep it, if otherwise than it came: with the same
            id, but with its kinds. None for maintenance.
    """

    result: ResultT
    changes: tuple[Change, ...] = ()
    episode: Trajectory | None = None

    @property
    def written(self) -> dict[str, int]:
        """Per collection, how many nodes are new, those included that come back."""
        brought = (Add, Revise)
        new = [
            each for each in self.changes if isinstance(each, brought) and each.vector is not None
        ]
        return dict(Counter(each.collection for each in new))


@dataclass(frozen=True, slots=True)
class Proposal:
    """What calibration found for one tree.

    Attributes:
        questions: How many episodes were asked.
        scores: How many of them resemble another at all: their best score is not zero.
        compared_with: `nodes`, or `triggers` while the tree is too small: the activation
            conditions that the rules would write for the episodes.
        proposed: τ_base as proposed; None if there is too little to tell.
        reason: Why nothing is proposed; empty if something is.
        matching_now: Share of the questions whose best score reaches the current threshold.
        matching_then: The same for the proposed one.
        bin_edges: Edges of the histogram of best scores, one more than bins.
        bin_counts: Questions per bin.
    """

    tree: str
    questions: int
    scores: int
    compared_with: str
    current: float
    proposed: float | None
    reason: str
    matching_now: float
    matching_then: float | None
    bin_edges: tuple[float, ...]
    bin_counts: tuple[int, ...]
    number: ClassVar[str] = "tau_base"
