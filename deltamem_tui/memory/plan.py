"""Plans: what a method wants changed in a bank, and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec.structs import replace

from deltamem_tui.bank.node import Node
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.writers.extraction import Call
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from deltamem_tui.bank.tree import Tree
    from deltamem_tui.embedding.protocol import Embedder
    from deltamem_tui.memory.recall_result import CollectionRecall

    Vector = NDArray[np.float32]

REASON_WIDTH = 400
"""The most characters of a reason in the journal."""


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


def addition(tree: Tree, node: Node, embedder: Embedder) -> Change:
    """Return the change that adds a node to a collection, or brings back a deleted one.

    A node's id is a digest of what it says and comes from, so what comes back has its old id,
    and its counts again. One that lives was edited by hand, and stays as it is.
    """
    known = tree.snapshot.first_row(node.id)
    if known is not None and not tree.dead[tree.snapshot.current[known]]:
        return Count(tree.name, node.id)
    # One by one: a vector's last bits depend on the texts that are embedded beside it.
    key = node.payload[tree.snapshot.table.collection.key]
    return (Add if known is None else Revise)(tree.name, node, embedder.embed_passages([key])[0])


def deletion(collection: str, node: Node) -> Revise:
    """Return the change that forgets a node."""
    return Revise(collection, replace(node, deleted=True))


def credited(answer: CollectionRecall | None, *, success: bool) -> list[Change]:
    """Return what an episode counts for: each node that it would be shown, once.

    A success is a hit of the nodes at the ends of the chains.
    """
    if answer is None:
        return []
    ends = {chain[-1].id for chain in answer.chains}
    return [
        Count(answer.collection, each.node, success and each.node in ends, 1, success)
        for each in answer.shown
    ]


Payload = Mapping[str, str]


def normal_text(payload: Payload) -> str:
    """Return a payload's texts without regard to capitals and white space."""
    return "\n".join(" ".join(text.casefold().split()) for text in payload.values())


def set_change(
    present: Sequence[Node],
    wanted: Sequence[Payload],
    same_as: Callable[[Payload], str] = normal_text,
) -> tuple[list[Node], list[Payload]]:
    """Return which of the present nodes go, and which payloads come, in their order.

    Two payloads are the same if `same_as` makes one text of them; of equal ones the first counts,
    and a node that says what is wanted stays, with id and counts. Where nothing is wanted, nothing
    changes: an empty answer does not delete anything.
    """
    new: dict[str, Payload] = {}
    for payload in wanted:
        new.setdefault(same_as(payload), payload)
    stays = [bool(new.pop(same_as(node.payload), None)) for node in present]
    gone = [node for node, stay in zip(present, stays, strict=True) if wanted and not stay]
    return gone, list(new.values())


@dataclass(frozen=True, slots=True)
class CollectionResult:
    """An episode's addition to one collection.

    Attributes:
        decision: What the method decided, in its own terms: `root`, `residual`, `skip` …
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

    def record(self) -> dict[str, Any]:
        """Return the result as the journal has it, without what is empty."""
        return _without_none(
            decision=self.decision,
            reason=one_line(self.reason, REASON_WIDTH),
            node=self.node.id if self.node else None,
            parent=self.node.parent if self.node else None,
            match=self.match,
            score=self.score,
            consolidated=self.consolidated.id if self.consolidated else None,
            calls=[call.record() for call in self.calls] or None,
        )


@dataclass(frozen=True, slots=True)
class LearnResult:
    """A bank's gain from an episode.

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
        """The usage of its model calls together."""
        return sum((call.usage for call in self.calls), Usage())

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
    """The result of maintenance that was due.

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
        return _without_none(
            tree=self.collection,
            root=self.root.id if self.root else None,
            nodes=[each.id for each in self.chain],
            reason=one_line(self.reason, REASON_WIDTH),
            written=self.written if self.root else None,
            calls=[call.record() for call in self.calls] or None,
        )


def _without_none(**record: Any) -> dict[str, Any]:
    return {key: value for key, value in record.items() if value is not None}


ResultT = TypeVar("ResultT", LearnResult, MaintenanceResult)


@dataclass(frozen=True, slots=True)
class Plan(Generic[ResultT]):
    """The changes of an episode, or of maintenance that is due: written whole or not at all.

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
