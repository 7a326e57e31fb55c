"""What a memory method is.

A method decides what an episode adds to a bank's collections and what a question finds there.
It writes nothing itself: it returns plans, and `memory.engine` commits them. It says how it is
to be shown, so that neither the command line nor the browser asks which method it is, and what
it asks models for, so that their prompts can be checked beforehand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.collection import Collection
from deltamem_tui.bank.node import TEXT_LIMIT, Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError, UsageError
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.learn_result import LearnResult
from deltamem_tui.memory.plan import Due, MaintenanceResult, Plan
from deltamem_tui.memory.prompts.use import SHARED, PromptUse
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.threshold_proposal import Proposal
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.search import ranked
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean, one_line
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


class Method(ABC):
    """A memory method. One instance serves every bank, so it keeps no state.

    Attributes:
        name: What `bank.json` and `init --method` call it.
        title: What it is, in a few words.
        good_when: When it is the one to choose, in a line; empty if it does not say.
        collections: Its collections, in the order in which they are asked and shown.
        display: How each is shown.
        decisions: Per decision of its results, what it means.
        ranking: What is recalled, in one line.
        rules: Per rule of its recall but the threshold's, what its scores mean.
        prompts: What it asks a writer for, by the name of the prompt.
        key_depths: Collections with nodes that are never recalled, only keys of those above them,
            and the depth from which on they are; they are forgotten with those.
        settings: Its numbers.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    good_when: ClassVar[str] = ""
    collections: ClassVar[Mapping[str, Collection]]
    display: ClassVar[Mapping[str, Display]]
    decisions: ClassVar[Mapping[str, str]]
    ranking: ClassVar[str] = "score = similarity"
    rules: ClassVar[Mapping[str, str]] = {}
    prompts: ClassVar[Mapping[str, PromptUse]] = {}
    key_depths: ClassVar[Mapping[str, int]] = {}
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

    def write_by_rules(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        """What a model would be asked for, written without one; see `Writer.write`.

        Pure: equal arguments, equal answers. The texts of the episode are clean, and long ones
        are cut.

        Raises:
            ExtractionError: The rules can make nothing of it.
        """
        raise ExtractionError(f"the method {self.name} does not write {purpose} by rules")

    def questions(self, episode: Trajectory) -> Mapping[str, str]:
        """What each collection is asked with an episode; empty where there is nothing to ask."""
        return dict.fromkeys(self.collections, clean(episode.task).strip())

    def use_of(self, prompt: str) -> PromptUse:
        """What one of its prompts, or one that all methods share, is used for.

        Raises:
            UsageError: It does not ask for this prompt.
        """
        found = self.prompts.get(prompt) or SHARED.get(prompt)
        if found is None:
            raise UsageError(
                f"the method {self.name} has no use for a prompt {one_line(prompt, 60)!r}",
                hint=f"its prompts are {', '.join([*self.prompts, *SHARED])}",
            )
        return found

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

    @property
    def has_thresholds(self) -> bool:
        """Whether there are thresholds to calibrate."""
        return type(self).calibrate is not Method.calibrate

    def uses_scene(self, settings: Settings) -> bool:
        """Whether an episode without a scene teaches less."""
        return False


@runtime_checkable
class VersatileWriter(Writer, Protocol):
    """A writer that serves any method, once it is told which."""

    def of_method(self, method: Method) -> Writer:
        """Returns the same writer, for a method."""
        ...


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
