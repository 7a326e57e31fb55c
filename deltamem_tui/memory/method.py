"""What a memory method is.

A method decides what an episode adds to a bank's collections and what a question finds there.
It writes nothing itself: it returns plans, and `memory.engine` commits them. It says how it is
to be shown, so that neither the command line nor the browser asks which method it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar, runtime_checkable

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.collection import Collection
from deltamem_tui.bank.node import TEXT_LIMIT, Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError, UsageError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.learn_result import REASON_WIDTH, LearnResult
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.search import Candidate, ranked
from deltamem_tui.memory.writers.extraction import Call, Extraction, OnPayment
from deltamem_tui.text import clean, one_line
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


@runtime_checkable
class Writer(Protocol):
    """Puts experience into words: rules, a model, or a user's own."""

    @property
    def name(self) -> str:
        """Recorded in each node's origin: `rules` or `model`."""
        ...

    def write(self, purpose: str, episode: Trajectory | None, notes: Sequence[Node]) -> Extraction:
        """Write one text, or none if the notes cover the episode.

        Args:
            purpose: What for, the name of a prompt: `task_root_success`, `env_residual` …
            episode: What it is written from; None where the notes alone are.
            notes: The nodes that bear on it: the chain root → match, or what is to be fused.

        Raises:
            ExtractionError: Nothing could be made of it.
            LanguageModelError: The model cannot be asked at all.
        """
        ...


@runtime_checkable
class ModelWriter(Writer, Protocol):
    """A writer that asks a model, and says beforehand what it would ask.

    Any number of threads may share one.
    """

    @property
    def usage(self) -> Usage:
        """What everything that was asked took, also what was not used in the end."""
        ...

    def paying(self, on_payment: OnPayment) -> Self:
        """Returns the same writer, which reports what its answers take."""
        ...

    def cancel(self) -> None:
        """Ask nothing more for questions that are under way; later ones are asked as ever."""
        ...

    def prompt(self, purpose: str, episode: Trajectory | None, notes: Sequence[Node]) -> str | None:
        """What `write` would send first; None if it would send nothing. Nothing is sent.

        Equal prompts get equal answers, so an answer to this one serves later as well.

        Raises:
            DeltaMemError: What `write` would raise before anything is sent.
        """
        ...


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

    tree: str
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

    def __getattr__(self, collection: str) -> CollectionRecall | None:
        """A collection's answer by its name: `found.task`."""
        try:
            found: CollectionRecall | None = vars(self)["collections"][collection]
        except KeyError:
            raise AttributeError(collection) from None
        return found


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
ResultT = TypeVar("ResultT", LearnResult, "MaintenanceResult")


@dataclass(frozen=True, slots=True)
class Due:
    """Maintenance that is due: a chain to be fused, a group whose insights are to be rewritten.

    Attributes:
        tree: The collection's name.
        nodes: The nodes concerned; the last one names it.
    """

    tree: str
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class MaintenanceResult:
    """What became of maintenance that was due.

    Attributes:
        root: The node that came of it, new or there already; None if none did.
        reason: Why, in one line.
        written: Whether the node is new.
    """

    tree: str
    chain: tuple[Node, ...]
    root: Node | None
    reason: str
    calls: tuple[Call, ...] = ()
    written: bool = False

    def record(self) -> dict[str, Any]:
        """The result as the journal has it."""
        record = {
            "tree": self.tree,
            "root": self.root.id if self.root else None,
            "nodes": [each.id for each in self.chain],
            "reason": one_line(self.reason, REASON_WIDTH),
            "written": self.written if self.root else None,
            "calls": [call.record() for call in self.calls] or None,
        }
        return {key: value for key, value in record.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Plan(Generic[ResultT]):
    """What an episode, or maintenance that is due, changes: written whole or not at all.

    Attributes:
        result: What was decided, for callers and the journal. Maintenance without changes stays
            due.
        changes: What is written, in this order.
    """

    result: ResultT
    changes: tuple[Change, ...] = ()


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


class Method(ABC):
    """A memory method. One instance serves every bank, so it keeps no state.

    Attributes:
        name: What `bank.json` and `init --method` call it.
        title: What it is, in a few words.
        collections: Its collections, in the order in which they are asked and shown.
        display: How each is shown.
        decisions: Per decision of its results, what it means.
        rules: Per rule of its recall but the threshold's, what its scores mean.
        settings: Its numbers.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    collections: ClassVar[Mapping[str, Collection]]
    display: ClassVar[Mapping[str, Display]]
    decisions: ClassVar[Mapping[str, str]]
    rules: ClassVar[Mapping[str, str]] = {}
    settings: ClassVar[type[Settings]]

    @abstractmethod
    def recall(self, bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
        """What a bank as it stands recalls. Nothing is written."""

    def rank(
        self,
        bank: Bank,
        collection: str,
        text: str,
        vector: Vector,
        count: int,
        settings: Settings | None = None,
    ) -> CollectionRecall:
        """The nodes of one collection that fit a text best; by default, by similarity alone.

        The vector is the question's, float32 [dimensions], of unit length; `settings` are numbers
        to try in place of the bank's.
        """
        tree = bank.tree(collection)
        found = ranked(tree, vector, weighting_of(bank), 0.0, count)
        chains = tuple(tree.chain_at(row) for row, _ in found)
        return CollectionRecall(collection, text, -1.0, tuple(each for _, each in found), chains)

    @abstractmethod
    def plan(
        self, bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder
    ) -> Plan[LearnResult]:
        """What an episode changes in a bank as it stands. Pure: no lock, nothing written.

        It may be called again, after another process wrote, or ahead of the episode's turn with
        a writer that only notes what it is asked: equal arguments get equal answers.

        Raises:
            ExtractionError: The writer could make nothing of the episode.
        """

    def due(self, bank: Bank) -> Sequence[Due]:
        """The maintenance that is due; by default, that of the chains to the `due_rows`."""
        settings = of_bank(bank, self.settings)
        return [
            Due(name, tree.chain_at(int(row)))
            for name, tree in bank.trees.items()
            for row in tree.rows[self.due_rows(tree, settings)[tree.rows]]
        ]

    def maintain(
        self, bank: Bank, due: Due, writer: Writer, embedder: Embedder
    ) -> Plan[MaintenanceResult] | None:
        """What one piece of maintenance changes, pure like `plan`; None if no longer due."""
        return None

    def due_rows(self, tree: Tree, settings: Settings) -> NDArray[np.bool_]:
        """Which rows of a collection are due for maintenance. bool [rows]."""
        import numpy as np

        return np.zeros(len(tree.dead), dtype=np.bool_)

    def max_depth(self, collection: str, settings: Settings) -> int:
        """The deepest level that a node of a collection may have."""
        return 1

    def placement(self, collection: str, found: CollectionRecall | None, settings: Settings) -> str:
        """Where an episode with this question would be written, for a person; empty: unknown."""
        return ""

    def cleaned(self, collection: str, payload: Mapping[str, str]) -> dict[str, str]:
        """The texts of a node of a collection as they may be written.

        Raises:
            ExtractionError: A text is missing, or far too long.
        """
        fields, optional = self.collections[collection].fields, self.display[collection].optional
        return cleaned(payload, fields, optional)

    def calibrate(
        self, bank: Bank, writer: Writer, embedder: Embedder, between: Callable[[], None]
    ) -> list[Proposal]:
        """Propose a threshold per collection from the bank's own episodes. Nothing is written.

        `between` is called now and then; what it raises ends the work.

        Raises:
            UsageError: The method has no thresholds.
        """
        raise UsageError(f"the method {self.name} has no thresholds to calibrate")

    def first_thresholds(self, bank: Bank, writer: Writer, embedder: Embedder) -> list[Proposal]:
        """Thresholds for a bank that was given none yet. Nothing is written.

        What was learnt does not count: a run that was interrupted proposes the same again.
        """
        return []

    def uses_scene(self, settings: Settings) -> bool:
        """Whether an episode without a scene teaches less."""
        return False


def cleaned(
    payload: Mapping[str, str], fields: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, str]:
    """The payload without control characters and outer white space, in the fields' order.

    Raises:
        ExtractionError: A field is empty that must not be, unknown, or far too long.
    """
    if unknown := set(payload).difference(fields):
        raise ExtractionError(f"the payload has an unknown field {one_line(min(unknown), 40)!r}")
    texts = {name: clean(payload.get(name, "")).strip() for name in fields}
    empty = [name for name, text in texts.items() if not text and name not in optional]
    if empty:
        raise ExtractionError(f"the payload has no {empty[0].replace('_', ' ')}")
    if max(map(len, texts.values())) > TEXT_LIMIT:
        raise ExtractionError(f"the payload is longer than {TEXT_LIMIT:,} characters")
    return texts
