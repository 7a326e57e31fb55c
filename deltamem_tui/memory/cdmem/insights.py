"""The batch step: a list of the index got enough new members, and its insights are made anew.

Exactly B new members make a batch, however many wait. What comes of it replaces the insights that
the list had, except those that persist word for word; where nothing usable comes, nothing is
replaced and the batch stays due.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node, Origin
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.cdmem.definition import (
    COLLECTIONS,
    ENVIRONMENTS,
    FUNCTIONS,
    INSIGHTS,
    MISTAKES,
    PLANS,
    ContextNumbers,
)
from deltamem_tui.memory.cdmem.index import IndexReader, filed, members, unread
from deltamem_tui.memory.method import cleaned, due_chains, no_rows
from deltamem_tui.memory.plan import Change, Due, MaintenanceResult, Plan, Revise
from deltamem_tui.memory.record_sets import addition, set_change
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.writers.extraction import Call, Extraction, FailedCallError, Inputs
from deltamem_tui.memory.writers.writer import Writer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class FullList:
    """A list of the index with at least one batch of new members.

    Attributes:
        collection: The half of the index.
        members: All of them, in order of birth.
        new: How many of them no insight was made from yet.
    """

    collection: str
    root: Node
    members: tuple[Node, ...]
    new: int

    @property
    def is_anew(self) -> bool:
        """True if no insight was made yet, or they are made anew from the first member on."""
        return self.new == len(self.members)

    @property
    def purpose(self) -> str:
        """The prompt that its insights take."""
        if self.collection == ENVIRONMENTS:
            return FUNCTIONS
        return PLANS if self.root.label == "success" else MISTAKES

    def batch(self, size: int) -> tuple[Node, ...]:
        """Return the oldest new members, so many."""
        return self.members[len(self.members) - self.new :][:size]


@dataclass(frozen=True, slots=True)
class Induction:
    """What a batch comes to.

    Attributes:
        root: The root that the insights lie below; None if none were made.
        first: The first insight that is new.
    """

    changes: tuple[Change, ...]
    reason: str
    calls: tuple[Call, ...] = ()
    root: Node | None = None
    first: Node | None = None


def full_list(bank: Bank, collection: str, root: Node, size: int) -> FullList | None:
    """Return a list as it stands; None if no batch of it is full."""
    tree = bank.tree(collection)
    new = len(unread(tree, root))
    if new < size:
        return None
    nodes = tuple(tree.node_at(int(row)) for row in members(tree, root))
    return FullList(collection, root, nodes, new)


def induce(index: IndexReader, full: FullList, size: int, writer: Writer) -> Induction:
    """Return the insights of a list after its oldest batch of `size` new members."""
    name, kind = INSIGHTS[full.collection], full.root.payload["text"]
    tree, batch = index.bank.tree(name), full.batch(size)
    known = index.root(name, kind, full.root.label)
    present = list(tree.children(known.id)) if known else []
    inputs: Inputs = {
        "kind": kind,
        "batch": tuple(map(_text, batch)),
        # What all are read anew for comes of none of the earlier ones.
        "insights": tuple(node.payload["text"] for node in present if not full.is_anew),
    }
    calls: tuple[Call, ...] = ()
    try:
        extraction = writer.write(full.purpose, None, full.members, inputs)
        calls = extraction.calls("induce", name)
        wanted = [
            cleaned({"text": each["insight"]}, COLLECTIONS[name].fields)
            for each in extraction.payloads
        ]
    except FailedCallError as error:
        return Induction((), str(error), (error.call,))
    except ExtractionError as error:
        return Induction((), str(error), calls)
    if not wanted:
        return Induction((), extraction.reason, calls)
    root = known or filed(name, None, full.root.label, {"text": kind})
    change = set_change(present, wanted)
    origin = _origin(batch, extraction, writer.name)
    added = [filed(name, root, root.label, payload, origin) for payload in change.added]
    new = added if known else [root, *added]
    changes: list[Change] = [*change.deletions(name)]
    changes += [addition(tree, node, index.vector(node.payload["text"])) for node in new]
    read = {**full.root.payload, "read": batch[-1].id}
    changes.append(Revise(full.collection, replace(full.root, payload=read)))
    return Induction(tuple(changes), extraction.reason, calls, root, added[0] if added else None)


def _text(member: Node) -> str:
    """Return a member of a batch as a model reads it."""
    said = member.payload
    if not said.get("remedy"):
        return said["text"]
    return f"{said['failure'] or 'failure'}: {said['text']}\nNext time: {said['remedy']}"


def _origin(batch: Sequence[Node], extraction: Extraction, writer: str) -> Origin:
    episodes = dict.fromkeys(each for node in batch for each in node.origin.episodes)
    return Origin(
        outcome_source=batch[-1].origin.outcome_source,
        extractor=writer,
        model=extraction.model,
        prompt=extraction.prompt,
        sources=tuple(episodes),
    )


def find_due(bank: Bank) -> list[Due]:
    """Return the lists with a full batch, once for each."""
    numbers = of_bank(bank, ContextNumbers)
    return [
        each
        for each in due_chains(bank, numbers, due_rows)
        for _ in range(len(unread(bank.tree(each.collection), each.nodes[-1])) // numbers.batch)
    ]


def due_rows(tree: Tree, settings: Settings) -> NDArray[np.bool_]:
    """Return the kinds that have a full batch. bool [rows]."""
    due = no_rows(tree, settings)
    if tree.name in INSIGHTS and isinstance(settings, ContextNumbers):
        for row in tree.child_rows(None):
            due[row] = len(unread(tree, tree.node_at(int(row)))) >= settings.batch
    return due


def maintain(
    bank: Bank, due: Due, writer: Writer, embedder: Embedder
) -> Plan[MaintenanceResult] | None:
    """Make the insights of one list anew; None if no batch of it is due any longer."""
    collection, root_id = due.collection, due.nodes[-1].id
    size = of_bank(bank, ContextNumbers).batch
    tree = bank.tree(collection)
    if (birth := tree.snapshot.first_row(root_id)) is None:
        return None
    root = tree.node_at(int(tree.snapshot.current[birth]))
    full = None if root.deleted else full_list(bank, collection, root, size)
    if full is None:
        return None
    made = induce(IndexReader(bank, embedder), full, size, writer)
    result = MaintenanceResult(
        INSIGHTS[collection], (root,), made.root, made.reason, made.calls, made.first is not None
    )
    return Plan(result, made.changes)
