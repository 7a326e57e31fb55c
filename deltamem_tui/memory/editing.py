"""Editing: what a person changes in a tree by hand, each change one commit.

Nothing is overwritten. A change gives every node it touches a new line, and the journal
names those nodes with the revision that each had before. So an undo is another change that
puts the earlier lines back, with the vectors they had, and needs no model.

Every change raises `BankFrozenError` if the bank is frozen, and `BankError` if the node was
changed since it was read; then nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.journal import Commit
from deltamem_tui.bank.node import Label, Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.bank.undo import (
    REDO,
    UNDO,
    commits_since,
    last_not_redone,
    last_not_undone,
    version,
)
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import BankError, NodeNotFoundError
from deltamem_tui.memory.method import method_of, settings_of
from deltamem_tui.memory.vectors.search import embedder_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ChangeKind = Literal["edit", "relabel", "move", "join", "delete", "forget", "undo", "redo"]
BY_HAND: tuple[ChangeKind, ...] = ("edit", "relabel", "move", "join", "delete", "forget")
"""The changes that can be undone."""


@dataclass(frozen=True, slots=True)
class Change:
    """A person's change.

    Attributes:
        nodes: Every node that has a new line, as that line has it; the one that was meant first.
    """

    kind: ChangeKind
    tree: str
    nodes: tuple[Node, ...]


def edit(
    bank: Bank,
    tree: str,
    node: Node,
    payload: Mapping[str, str],
    *,
    embedder: Embedder | None = None,
) -> Change:
    """Change what a node says; an ExtractionError says that a text is missing, or far too long.

    The node is given as it was read. The embedder is loaded if it is not given, and only if the key
    is another.
    """
    bank.require_writable()
    cleaned = method_of(bank).cleaned(tree, payload)
    vector = None
    key = bank.collections[tree].key
    if cleaned[key] != node.payload[key]:
        vector = embedder_of(bank, embedder).embed_passages([cleaned[key]])[0]
    return _change_one(bank, "edit", tree, node, structs.replace(node, payload=cleaned), vector)


def relabel(bank: Bank, tree: str, node: Node, label: Label) -> Change:
    """Label a node as written by a success, or by a failure; a BankError if it is already."""
    bank.require_writable()
    if node.label == label:
        raise BankError(f"the node is a {label} already", source=node.id)
    return _change_one(bank, "relabel", tree, node, structs.replace(node, label=label))


def move(bank: Bank, tree: str, node: Node, parent: Node | None) -> Change:
    """Hang a node, with all below it, under another parent; without one it becomes a root.

    Both are given as they were read. Raises a BankError if the parent is the node itself or below
    it, the subtree would pass D_max, or a node was changed since it was read.
    """
    bank.require_writable()
    with bank.writing() as batch:
        shown = bank.tree(tree)
        nodes = subtree(shown, _unchanged(shown, node).id)
        above = _unchanged(shown, parent) if parent else None
        if above and any(above.id == each.id for each in nodes):
            raise BankError("a node cannot hang below itself", source=node.id)
        if node.parent == (above.id if above else None):
            raise BankError("the node is there already", source=node.id)
        first, *below = _lowered(bank, tree, nodes, (above.depth if above else 0) + 1 - node.depth)
        first = structs.replace(
            first, parent=above.id if above else None, kind="residual" if above else "root"
        )
        return _commit(batch, "move", tree, nodes, [first, *below])


def join(bank: Bank, tree: str, node: Node, other: Node) -> Change:
    """Join two nodes that say the same: `other` goes, and what is below it moves below `node`.

    Both are given as they were read. The counts of `other` stay with its tombstone. Raises a
    BankError as `move` does.
    """
    bank.require_writable()
    with bank.writing() as batch:
        shown = bank.tree(tree)
        kept, gone = _unchanged(shown, node), _unchanged(shown, other)
        below = subtree(shown, gone.id)[1:]
        if kept.id == gone.id or any(kept.id == each.id for each in below):
            raise BankError("a node cannot be joined with itself or one above it", source=node.id)
        moved = [
            structs.replace(each, parent=kept.id) if each.parent == gone.id else each
            for each in _lowered(bank, tree, below, kept.depth - gone.depth)
        ]
        after = [*moved, structs.replace(gone, deleted=True)]
        return _commit(batch, "join", tree, [*below, gone], after)


def delete(
    bank: Bank, tree: str, node: Node, *, by_rule: Mapping[str, Any] | None = None
) -> Change:
    """Delete a node with all below it. Each leaves a tombstone.

    Where a rule forgets it, the journal keeps the rule's numbers.
    """
    bank.require_writable()
    kind: ChangeKind = "forget" if by_rule else "delete"
    with bank.writing() as batch:
        shown = bank.tree(tree)
        nodes = subtree(shown, _unchanged(shown, node).id)
        gone = [structs.replace(each, deleted=True) for each in nodes]
        return _commit(batch, kind, tree, nodes, gone, why=by_rule)


def subtree(tree: Tree, node_id: str) -> list[Node]:
    """Return a node and all below it, each before its children; a NodeNotFoundError without it."""
    rows = [tree.row(node_id)]
    for row in rows:  # grows while it is walked
        rows.extend(int(child) for child in tree.child_rows(row))
    return [tree.node_at(row) for row in rows]


def undoable(bank: Bank) -> Commit | None:
    """Return the last change by hand that was not undone yet; None if there is none."""
    return last_not_undone(bank, lambda commit: commit.event in BY_HAND)


def redoable(bank: Bank) -> tuple[Commit, Commit] | None:
    """Return the last undo that can be redone, and the change that it took back; None if none.

    As in an editor, undone changes can be redone until another change by hand is made. What is
    learnt meanwhile ends nothing, unless it changed the very nodes.
    """
    return last_not_redone(bank, BY_HAND)


def undo(bank: Bank, expected: Commit | None = None) -> Change:
    """Take back the last change by hand that was not undone yet.

    `expected` is the change that is meant, as it was read; None for whichever is the last. Raises a
    BankError without one, or if another was made or undone since, or its nodes changed again.
    """
    return _put_back(bank, "undo", expected)


def redo(bank: Bank, expected: Commit | None = None) -> Change:
    """Make the change again that was undone last; `expected` is the undo that is meant."""
    return _put_back(bank, "redo", expected)


def nothing_left(bank: Bank, kind: Literal["undo", "redo"]) -> BankError:
    """Return the error of an undo or a redo where no change by hand is left."""
    return BankError(f"no change by hand is left to {kind}", source=str(bank.path))


def _put_back(bank: Bank, kind: Literal["undo", "redo"], expected: Commit | None) -> Change:
    """Let nodes say again what they did before a change by hand, or after it."""
    bank.require_writable()
    bank.refresh()
    seen = bank.commit.sequence
    undone, change = (redoable(bank) or (None, None)) if kind == "redo" else (None, undoable(bank))
    meant = undone or change
    changed_since = BankError(
        f"another change was made, undone or redone by hand since; nothing to {kind}",
        source=str(bank.path),
        hint="reload and try again",
    )
    if expected is not None and meant != expected:
        raise changed_since
    if meant is None or change is None:
        raise nothing_left(bank, kind)
    tree, revisions = recorded(bank, change)
    with bank.writing() as batch:
        if any(each.event in (*BY_HAND, UNDO, REDO) for each in commits_since(bank, seen)):
            raise changed_since
        shown = bank.tree(tree)
        versions = [
            version(shown, *each, change, redone=bool(undone)) for each in revisions.items()
        ]
        versions.sort(key=lambda each: each[0].depth)
        _refuse_left_below(shown, [node for node, _ in versions])
        nodes = tuple(
            batch.revise_node(tree, node, shown.embeddings[row]) for node, row in versions
        )
        about = "redoes" if undone else "undoes"
        batch.log(
            REDO if undone else UNDO, {about: meant.sequence, "what": change.event, "tree": tree}
        )
    return Change(kind, tree, nodes)


def _refuse_left_below(tree: Tree, nodes: Sequence[Node]) -> None:
    ids = {node.id for node in nodes}
    for node in nodes:
        with suppress(NodeNotFoundError):  # one that is deleted has nothing below it
            row = tree.row(node.id)
            if not node.deleted and node.depth == int(tree.depth[row]):
                continue
            below = [tree.node_at(int(each)).id for each in tree.child_rows(row)]
            if not ids.issuperset(below):
                raise BankError(
                    "another node was hung below it since",
                    source=node.id,
                    hint="move or delete that one first",
                )


def _change_one(
    bank: Bank,
    kind: ChangeKind,
    tree: str,
    node: Node,
    changed: Node,
    vector: NDArray[np.float32] | None = None,
) -> Change:
    with bank.writing() as batch:
        _unchanged(bank.tree(tree), node)
        return _commit(batch, kind, tree, [node], [changed], vector)


def _commit(
    batch: Batch,
    kind: ChangeKind,
    tree: str,
    before: Sequence[Node],
    after: Iterable[Node],
    vector: NDArray[np.float32] | None = None,
    why: Mapping[str, Any] | None = None,
) -> Change:
    revised = tuple(batch.revise_node(tree, node, vector) for node in after)
    revisions = {node.id: node.revision for node in before}
    batch.log(kind, {"tree": tree, "nodes": revisions, **({"why": why} if why else {})})
    return Change(kind, tree, revised)


def _unchanged(tree: Tree, node: Node) -> Node:
    """Return the node as the tree has it, which must be as it was read."""
    current = tree.node(node.id)
    if current != node:
        raise BankError(
            "the node was changed since you read it, nothing was written",
            source=node.id,
            hint="reload it and try again",
        )
    return current


def _lowered(bank: Bank, tree: str, nodes: Sequence[Node], deeper: int) -> list[Node]:
    """Return nodes at their new depths, if the tree may be so deep."""
    deepest = getattr(settings_of(bank)[tree], "d_max", bank.collections[tree].depth)
    depth = max((each.depth + deeper for each in nodes), default=0)
    if depth > deepest:
        raise BankError(
            f"the {tree} tree would be {depth} levels deep, at most {deepest} are allowed",
            source=str(bank.path),
            hint="choose a parent nearer to its root",
        )
    return [structs.replace(each, depth=each.depth + deeper) for each in nodes]


def recorded(bank: Bank, commit: Commit) -> tuple[str, Mapping[str, int]]:
    """Return the tree and the revisions before, as the journal has them."""
    detail: Mapping[str, Any] = commit.detail
    tree, nodes = detail.get("tree"), detail.get("nodes")
    if isinstance(tree, str) and tree in bank.trees and isinstance(nodes, dict):
        return tree, nodes
    raise BankError(
        f"the journal does not say what the {commit.event} of {commit.time} changed",
        source=str(bank.journal.path),
    )
