"""The batch step: a list of the index got enough new members, and its insights are made anew.

Exactly B new members make a batch, however many wait. What comes of it replaces the insights that
the list had, except those that persist word for word; where nothing usable comes, nothing is
replaced and the batch stays due.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node, Origin
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
from deltamem_tui.memory.cdmem.index import Index, filed, members
from deltamem_tui.memory.method import cleaned
from deltamem_tui.memory.plan import (
    Change,
    Due,
    MaintenanceResult,
    Plan,
    Revise,
    addition,
    deletion,
    set_change,
)
from deltamem_tui.memory.settings import of_bank
from deltamem_tui.memory.writers.extraction import Call, FailedCallError, Inputs
from deltamem_tui.memory.writers.writer import Writer


@dataclass(frozen=True, slots=True)
class Induction:
    """What a batch comes to.

    Attributes:
        read: The members that insights were made from now; empty if none were made.
        first: The first insight that is new.
    """

    reason: str
    calls: tuple[Call, ...] = ()
    changes: tuple[Change, ...] = ()
    read: tuple[Node, ...] = ()
    first: Node | None = None


def induce(
    index: Index, collection: str, root: Node, nodes: Sequence[Node], size: int, writer: Writer
) -> Induction:
    """Return the insights of a list after its oldest batch of new members.

    Args:
        index: The bank.
        collection: The half of the index.
        root: The list.
        nodes: All its members, in order of birth.
        size: How many new ones make a batch.
        writer: Who concludes.
    """
    name, kind = INSIGHTS[collection], root.payload["text"]
    tree, known = index.bank.tree(name), index.root(INSIGHTS[collection], kind, root.label)
    present = index.below(name, known)
    stale = _is_stale(present, nodes)
    batch = nodes if stale else [each for each in nodes if not each.consolidated][:size]
    inputs: Inputs = {
        "kind": kind,
        "batch": tuple(map(_text, batch)),
        "insights": tuple(node.payload["text"] for node in present if not stale),
    }
    calls: tuple[Call, ...] = ()
    try:
        written = writer.write(_purpose(collection, root), None, nodes, inputs)
        calls = written.calls("induce", name)
        fields = COLLECTIONS[name].fields
        wanted = [cleaned({"text": each["insight"]}, fields) for each in written.payloads]
    except FailedCallError as error:
        return Induction(str(error), (error.call,))
    except ExtractionError as error:
        return Induction(str(error), calls)
    if not wanted:
        return Induction(written.reason, calls)
    above = known or filed(name, None, root.label, {"text": kind})
    # What all are read anew for comes of none of the earlier ones.
    change = set_change([] if stale else present, wanted)
    origin = Origin(
        outcome_source=batch[-1].origin.outcome_source,
        extractor=writer.name,
        model=written.model,
        prompt=written.prompt,
        sources=tuple(dict.fromkeys(each for node in batch for each in node.origin.episodes)),
    )
    added = [filed(name, above, root.label, payload, origin) for payload in change.added]
    changes = (
        *(deletion(name, each) for each in (present if stale else change.removed)),
        *(addition(tree, each, index.embedder) for each in (*([] if known else [above]), *added)),
    )
    return Induction(written.reason, calls, changes, tuple(batch), added[0] if added else None)


def _purpose(collection: str, root: Node) -> str:
    if collection == ENVIRONMENTS:
        return FUNCTIONS
    return PLANS if root.label == "success" else MISTAKES


def _text(member: Node) -> str:
    """Return a member of a batch as a model reads it."""
    said = member.payload
    if not said.get("remedy"):
        return said["text"]
    return f"{said['failure'] or 'failure'}: {said['text']}\nNext time: {said['remedy']}"


def _is_stale(insights: Sequence[Node], nodes: Sequence[Node]) -> bool:
    """Return whether insights come of an episode that is remembered no more, as after a verdict."""
    known = {episode for each in nodes for episode in each.origin.episodes}
    return any(not known.issuperset(each.origin.episodes) for each in insights)


def list_of(bank: Bank, collection: str, root: Node) -> list[Node]:
    """Return the members of a list, in order of birth."""
    tree = bank.tree(collection)
    return [tree.node_at(int(row)) for row in members(tree, root)]


def due(bank: Bank) -> list[Due]:
    """Return the lists with a full batch, once for each, and those whose insights are stale."""
    size, found = of_bank(bank, ContextNumbers).batch, []
    for collection, name in INSIGHTS.items():
        insights = {(each.payload["text"], each.label): each for each in bank.tree(name).roots()}
        for root in bank.tree(collection).roots():
            nodes = list_of(bank, collection, root)
            known = insights.get((root.payload["text"], root.label))
            present = list(bank.tree(name).children(known.id)) if known else []
            times = sum(not each.consolidated for each in nodes) // size
            times = times or int(_is_stale(present, nodes))
            found += [Due(collection, (root,))] * times
    return found


def maintain(
    bank: Bank, task: Due, writer: Writer, embedder: Embedder
) -> Plan[MaintenanceResult] | None:
    """Make the insights of one list anew; None if that is no longer due."""
    root = task.nodes[-1]
    if task not in [Due(each.collection, each.nodes) for each in due(bank)]:
        return None
    index, name = Index(bank, embedder), INSIGHTS[task.collection]
    nodes = list_of(bank, task.collection, root)
    if not nodes:
        known = index.root(name, root.payload["text"], root.label)
        gone = tuple(deletion(name, each) for each in index.below(name, known))
        return Plan(MaintenanceResult(name, (root,), None, "no memory of the kind is left"), gone)
    size = of_bank(bank, ContextNumbers).batch
    made = induce(index, task.collection, root, nodes, size, writer)
    read = (Revise(task.collection, replace(each, consolidated=True)) for each in made.read)
    result = MaintenanceResult(
        name, (root,), root if made.read else None, made.reason, made.calls, made.first is not None
    )
    return Plan(result, (*made.changes, *read))
