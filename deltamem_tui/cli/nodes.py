"""Commands about nodes: shown, edited, relabelled, moved, joined, deleted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.options import argument, option
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import UsageError
from deltamem_tui.text import counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.node import Node
    from deltamem_tui.bank.tree import Counts, Tree
    from deltamem_tui.memory.display import Display
    from deltamem_tui.memory.editing import Change


_LEGEND = "● root  ○ residual  ✗ failure  ⊕ consolidated  ×n hits"
_LEGEND_OF_RECORDS = "● record  ○ part of the one above  ✗ failure  ×n hits"


def tree(
    invocation: Invocation,
    bank: options.Bank,
    tree: options.TreeChoice = None,
    depth: Annotated[int | None, option("--depth", "N", "Down to this depth.", min=1)] = None,
    limit: Annotated[int | None, option("--limit", "N", "At most N nodes a tree.", min=1)] = None,
) -> Result:
    """Show the outline of the trees, a line a node."""
    from deltamem_tui.memory.method import display_of, is_shown
    from deltamem_tui.memory.transfer.plain import node_record

    opened = invocation.open(bank)
    chosen = options.tree_name(opened, tree)
    outlines, nodes, displays = [], list[dict[str, Any]](), []
    for name in [chosen] if chosen else opened.trees:
        shown, display = opened.tree(name), display_of(opened, name)
        displays.append(display)
        entries = [(0, f"{display.title} ({len(shown)} nodes)")]
        for row in islice(_rows(shown, depth), limit):
            node = shown.node_at(row)
            above = shown.node(node.parent) if node.parent else None
            entries.append((node.depth, _line(node, above, shown.counts_at(row), display)))
            nodes.append(node_record(shown, node))
        if chosen or is_shown(opened, name):
            outlines.append(entries)

    def view(page: Page) -> None:
        for entries in outlines:
            page.outline(entries)

    legend = _LEGEND if any(each.layered for each in displays) else _LEGEND_OF_RECORDS
    return Result("tree", {"nodes": nodes}, view=view, notes=[legend])


def _rows(tree: Tree, depth: int | None) -> Iterator[int]:
    """Yield the rows of the outline, each parent before its children, without recursion."""
    waiting = [int(row) for row in tree.child_rows(None)[::-1]]
    depths = tree.snapshot.index["depth"]
    while waiting:
        row = waiting.pop()
        yield row
        if depth is None or depths[row] < depth:
            waiting += [int(child) for child in tree.child_rows(row)[::-1]]


def _line(node: Node, above: Node | None, counts: Counts, display: Display) -> str:
    """Return a node on one line: id, marks, hits, and what it says that its parent does not."""
    marks = "✗" if node.label == "failure" else "●" if node.parent is None else "○"
    fused = " ⊕" if node.consolidated else ""
    hits = f" ×{counts.hits}" if counts.hits else ""
    return f"{node.id[:8]} {marks}{fused}{hits} {display.difference(node, above)}"


def show(invocation: Invocation, bank: options.Bank, node: options.NodeId) -> Result:
    """Show one node: its texts, its origin, and how often it was of use."""
    from deltamem_tui.memory.episodes.credit import node_credit
    from deltamem_tui.memory.method import display_of
    from deltamem_tui.memory.transfer.plain import node_record

    opened, name, found = _node(invocation, bank, node, write=False)
    record, display = node_record(opened.tree(name), found), display_of(opened, name)
    credit = node_credit(opened, name, found.id)

    def view(page: Page) -> None:
        counts = {name: record.get(name, 0) for name in ("hits", "recalls", "successes")}
        facts = record | {"kind": display.level(found)} | dict(credit.facts)
        facts["matched"] = (
            f"{counted(counts['recalls'], 'later episode')}: {counts['successes']:,} succeeded, "
            f"{counts['hits']:,} of them with it as the best match"
        )
        for key, value in record["origin"].items():
            facts[f"origin {key}"] = value if isinstance(value, str) else " ".join(value) or None
        shown = {key.replace("_", " "): value for key, value in facts.items() if value is not None}
        hidden = {"origin", *counts, *(key.replace("_", " ") for key in found.payload)}
        page.facts({key: str(value) for key, value in shown.items() if key not in hidden})
        for key, text in found.payload.items():
            if text:
                page.text(f"\n{display.label(key)}", style="bold")
                page.text(text)

    return Result("show", {"nodes": [record | {"credit": asdict(credit)}]}, view=view)


def chain(invocation: Invocation, bank: options.Bank, node: options.NodeId) -> Result:
    """Show the chain from the root to a node, as an agent receives it."""
    from deltamem_tui.memory.method import display_of
    from deltamem_tui.memory.recall_result import chain_entries
    from deltamem_tui.memory.transfer.plain import node_record

    opened, name, found = _node(invocation, bank, node, write=False)
    chain = opened.tree(name).chain(found.id)

    text = "\n\n".join(chain_entries(display_of(opened, name), chain))
    records = [node_record(opened.tree(name), each) for each in chain]
    return Result("chain", {"tree": name, "nodes": records}, view=lambda page: page.text(text))


Label = Annotated[Literal["success", "failure"], argument("success|failure", "The new label.")]


def edit(
    invocation: Invocation,
    bank: options.Bank,
    node: options.NodeId,
    texts: Annotated[list[str], argument("FIELD=TEXT…", "New texts, such as How='…'.")],
) -> Result:
    """Change what a node says.

    The fields are those that `node show` prints: When, How and Done when, or as the method has
    them. The browser edits texts in an editor.
    """
    from deltamem_tui.memory.editing import edit
    from deltamem_tui.memory.method import display_of

    opened, name, found = _node(invocation, bank, node)
    payload = dict(found.payload)
    payload |= _assigned(texts, payload, display_of(opened, name))
    if payload == found.payload:
        return Result("edit", {"tree": name, "nodes": []}, notes=["nothing was changed"])
    return _result("edit", edit(opened, name, found, payload), bank)


def relabel(
    invocation: Invocation, bank: options.Bank, node: options.NodeId, label: Label
) -> Result:
    """Mark a node as learnt from a success or from a failure."""
    from deltamem_tui.memory.editing import relabel

    opened, name, found = _node(invocation, bank, node)
    return _result("relabel", relabel(opened, name, found, label), bank)


def move(
    invocation: Invocation,
    bank: options.Bank,
    node: options.NodeId,
    parent: Annotated[str, argument("PARENT|root", "The new parent's id, or `root` for none.")],
) -> Result:
    """Move a node, with all below it, under another parent."""
    from deltamem_tui.memory.editing import move

    opened, name, found = _node(invocation, bank, node)
    above = None if parent == "root" else opened.find_node(parent, name)[1]
    return _result("move", move(opened, name, found, above), bank)


def join(
    invocation: Invocation,
    bank: options.Bank,
    node: options.NodeId,
    other: Annotated[str, argument("OTHER", "The node that goes; all below it moves to NODE.")],
) -> Result:
    """Join two nodes that say the same: NODE stays, OTHER goes, what is below it moves."""
    from deltamem_tui.memory.editing import join

    opened, name, found = _node(invocation, bank, node)
    return _result("join", join(opened, name, found, opened.find_node(other, name)[1]), bank)


def delete(
    invocation: Invocation, bank: options.Bank, node: options.NodeId, yes: options.Sure = False
) -> Result:
    """Delete a node with all below it."""
    from deltamem_tui.memory.editing import delete, subtree

    opened, name, found = _node(invocation, bank, node)
    below = len(subtree(opened.tree(name), found.id)) - 1
    if below and not yes:
        invocation.confirm(f"delete {found.id[:8]} and {counted(below, 'node')} below it?")
    return _result("delete", delete(opened, name, found), bank)


def undo(invocation: Invocation, bank: options.Bank) -> Result:
    """Undo the last change made by hand or by `forget`; repeat for earlier ones."""
    from deltamem_tui.memory.editing import nothing_left, undo, undoable

    opened = invocation.open(bank, write=True)
    commit = undoable(opened)
    if commit is None:
        raise nothing_left(opened, "undo")
    return _again("undo", "undone", commit.event, undo(opened, commit))


def redo(invocation: Invocation, bank: options.Bank) -> Result:
    """Redo what was undone last; repeat for earlier ones."""
    from deltamem_tui.memory.editing import nothing_left, redo, redoable

    opened = invocation.open(bank, write=True)
    found = redoable(opened)
    if found is None:
        raise nothing_left(opened, "redo")
    return _again("redo", "redone", found[1].event, redo(opened, found[0]))


def _again(command: str, done: str, event: str, change: Change) -> Result:
    nodes = [each.id for each in change.nodes]
    data = {done: event, "tree": change.tree, "nodes": nodes}
    note = f"{event} {done}: {counted(len(nodes), 'node')}"
    return Result(command, data, notes=[note])


def _node(
    invocation: Invocation, bank: str, node: str, *, write: bool = True
) -> tuple[Bank, str, Node]:
    opened = invocation.open(bank, write=write)
    name, found = opened.find_node(node)
    return opened, name, found


def _result(command: str, change: Change, bank: str) -> Result:
    nodes = [each.id for each in change.nodes]
    done = f"{command}: {counted(len(nodes), 'node')}; `deltamem node undo {bank}` takes it back"
    return Result(command, {"tree": change.tree, "nodes": nodes}, notes=[done])


def _assigned(texts: list[str], payload: Mapping[str, str], display: Display) -> dict[str, str]:
    """Return the texts that FIELD=TEXT arguments give; a field goes by its label or its name."""
    fields = {display.label(name).casefold(): name for name in payload}
    known, found = fields | {name: name for name in payload}, dict[str, str]()
    for each in texts:
        field, sign, text = each.partition("=")
        name = known.get(field.strip().casefold().replace("_", " "), known.get(field))
        if not sign or name is None:
            what = f"unknown field {field!r}" if sign else "expected FIELD=TEXT"
            labels = " or ".join(f"{display.label(name)} ({name})" for name in payload)
            raise UsageError(f"{what} in {one_line(each, 60)!r}", hint=f"use {labels}")
        found[name] = text
    return found
