"""Memory methods: what a method is made of.

A method decides what an episode adds to a bank's collections and what a question finds there. Its
functions write nothing: they return plans, and `memory.engine` commits them. A method's definition
also says how it is shown, so that neither the command line nor the browser asks which method it
is, and what it asks models for, so that their prompts can be checked beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from deltamem_tui.bank.node import TEXT_LIMIT, Collection
from deltamem_tui.errors import ExtractionError, UsageError
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.prompts.use import SHARED, PromptUse
from deltamem_tui.memory.settings import Settings
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean, one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.node import Node
    from deltamem_tui.bank.tree import Tree
    from deltamem_tui.embedding.protocol import Embedder
    from deltamem_tui.memory.plan import Due, LearnResult, MaintenanceResult, Plan, Proposal
    from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
    from deltamem_tui.memory.writers.extraction import Extraction, Inputs
    from deltamem_tui.trajectory.model import Trajectory

    Vector = NDArray[np.float32]


def late(path: str) -> Callable[..., Any]:
    """Return a stand-in for a function, `module:name`, that is imported when it is first called.

    So a definition is loaded without all that its method works with.
    """

    def call(*arguments: Any, **named: Any) -> Any:
        return function_at(path)(*arguments, **named)

    call.__qualname__ = path
    return call


@cache
def function_at(path: str) -> Callable[..., Any]:
    """Return the function that a path names, `module:name`."""
    module, _, name = path.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def rank_by_similarity(
    bank: Bank,
    collection: str,
    text: str,
    vector: Vector,
    count: int,
    settings: Settings | None = None,
) -> CollectionRecall:
    """Return the nodes of a collection whose keys are nearest, each recalled."""
    from deltamem_tui.memory.recall_result import CollectionRecall
    from deltamem_tui.memory.vectors.embedder import weighting_of
    from deltamem_tui.memory.vectors.search import ranked

    tree = bank.tree(collection)
    found = ranked(tree, vector, weighting_of(bank), 0.0, count)
    chains = tuple(tree.chain_at(row) for row, _ in found)
    return CollectionRecall(collection, text, -1.0, tuple(each for _, each in found), chains)


def write_nothing(purpose: str, *_: object) -> Extraction:
    """Refuse to write without a model."""
    raise ExtractionError(f"the method does not write {purpose} by rules")


def no_thresholds(*_: object) -> list[Proposal]:
    """Refuse to calibrate."""
    raise UsageError("the bank's method has no thresholds to calibrate")


@dataclass(frozen=True, kw_only=True, eq=False)
class Method:
    """A memory method: its definition, and the functions that it works with.

    Attributes:
        name: What `bank.json` and `init --method` call it.
        title: What it is, in a few words.
        good_when: When it is the one to choose, in a line; empty if it does not say.
        collections: Its collections, in the order in which they are asked and shown.
        display: How each is shown.
        settings: Its numbers.
        ranking: What is recalled, in one line.
        rules: Per rule of its recall but the threshold's, what its scores mean.
        prompts: What it asks a writer for, by the name of the prompt.
        key_depths: Collections with nodes that are never recalled, only keys of those above them,
            and the depth from which on they are; they are forgotten with those.
        recall: What a bank as it stands recalls.
        plan: What an episode changes in a bank as it stands. Pure: it may be called again, after
            another process wrote, or ahead of the episode's turn with a writer that only notes
            what it is asked. Raises ExtractionError if the writer can make nothing of the episode.
        rank: The nodes of one collection that fit a text best. Takes the bank, the collection, the
            text, its vector (float32 [dimensions], of unit length), how many, and settings to try
            in place of the bank's; by default, by similarity alone.
        write_by_rules: What a model would be asked for (see `Writer.write`), written without one.
            Pure; the episode's texts are clean, and long ones are cut.
        ask: What each collection is asked with an episode, empty where there is nothing to ask; by
            default the task.
        due: The maintenance that is due.
        maintain: What one piece of maintenance changes, pure like `plan`; None if no longer due.
        deepest: The deepest level that a node may have; by default the collection's.
        calibrate: A threshold per collection from the bank's own episodes.
        first_thresholds: Thresholds for a bank that was given none yet. What was learnt does not
            count: a run that was interrupted proposes the same again.
        digest: What any task of a bank needs, in at most so many tokens: lines, none if the
            method does not know.
    """

    name: str
    title: str
    collections: Mapping[str, Collection]
    display: Mapping[str, Display]
    settings: type[Settings]
    recall: Callable[[Bank, Query, Embedder], RecallResult]
    plan: Callable[[Bank, Trajectory, Writer, Embedder], Plan[LearnResult]]
    good_when: str = ""
    ranking: str = "score = similarity"
    rules: Mapping[str, str] = field(default_factory=dict)
    prompts: Mapping[str, PromptUse] = field(default_factory=dict)
    key_depths: Mapping[str, int] = field(default_factory=dict)
    rank: Callable[..., CollectionRecall] = rank_by_similarity
    write_by_rules: Callable[[str, Trajectory | None, Sequence[Node], Inputs], Extraction] = (
        write_nothing
    )
    ask: Callable[[Trajectory], Mapping[str, str]] | None = None
    due: Callable[[Bank], Sequence[Due]] = lambda _: ()
    maintain: Callable[[Bank, Due, Writer, Embedder], Plan[MaintenanceResult] | None] = lambda *_: (
        None
    )
    deepest: Callable[[str, Settings], int] | None = None
    calibrate: Callable[[Bank, Writer, Embedder], list[Proposal]] = no_thresholds
    first_thresholds: Callable[[Bank, Writer, Embedder], list[Proposal]] = lambda *_: []
    digest: Callable[[Bank, int], list[str]] = lambda *_: []

    @property
    def has_thresholds(self) -> bool:
        """True if there are thresholds to calibrate."""
        return self.calibrate is not no_thresholds

    def questions(self, episode: Trajectory) -> Mapping[str, str]:
        """Return what each collection is asked with an episode."""
        if self.ask:
            return self.ask(episode)
        task = clean(episode.task).strip()
        return {name: task if self.display[name].asked else "" for name in self.collections}

    def due_rows(self, bank: Bank, tree: Tree) -> NDArray[np.bool_]:
        """Return which rows of a collection name maintenance that is due. bool [rows]."""
        import numpy as np

        rows = np.zeros(len(tree.dead), dtype=np.bool_)
        rows[
            [tree.row(due.nodes[-1].id) for due in self.due(bank) if due.collection == tree.name]
        ] = True
        return rows

    def max_depth(self, collection: str, settings: Settings) -> int:
        """Return the deepest level that a node of a collection may have."""
        if self.deepest:
            return self.deepest(collection, settings)
        return self.collections[collection].depth

    def use_of(self, prompt: str) -> PromptUse:
        """Return what one of its prompts, or one that all methods share, is used for.

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

    def cleaned(self, collection: str, payload: Mapping[str, str]) -> dict[str, str]:
        """Return the texts of a node of a collection as they may be written; see `cleaned`."""
        fields, optional = self.collections[collection].fields, self.display[collection].optional
        return cleaned(payload, fields, optional)


def cleaned(
    payload: Mapping[str, str], fields: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, str]:
    """Return a payload without control characters and outer white space, in the fields' order.

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
