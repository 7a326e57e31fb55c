"""Commands that put a bank right by hand: nodes edited, relabelled, moved, joined, deleted."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.options import argument, flag
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import UsageError
from deltamem_tui.text import clean, counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.node import Node
    from deltamem_tui.memory.editing import Change

Texts = Annotated[
    list[str] | None,
    argument("FIELD=TEXT…", "New texts by field; without any, $EDITOR opens all of them."),
]
Label = Annotated[
    Literal["success", "failure"], argument("success|failure", "How the episode behind it ended.")
]
Parent = Annotated[str, argument("PARENT|root", "The new parent's id, or `root` for none.")]
Other = Annotated[str, argument("OTHER", "The node that goes; all below it moves to NODE.")]
Yes = Annotated[bool, flag("--yes", "Do not ask first.")]


def edit(
    context: typer.Context,
    bank: options.Bank,
    node: options.NodeId,
    texts: Texts = None,
    tree: options.TreeChoice = None,
) -> Result:
    """Change what a node says, in $EDITOR or by FIELD=TEXT."""
    from deltamem_tui.memory.editing import edit

    invocation = Invocation.of(context)
    opened, name, found = _node(invocation, bank, node, tree)
    payload = dict(found.payload)
    if texts:
        payload |= _assigned(texts, payload)
    else:
        payload = _in_editor(invocation, payload)
    if payload == dict(found.payload):
        return Result("edit", {"tree": name, "nodes": []}, notes=["nothing was changed"])
    return _result("edit", edit(opened, name, found, payload), bank)


def relabel(
    context: typer.Context,
    bank: options.Bank,
    node: options.NodeId,
    label: Label,
    tree: options.TreeChoice = None,
) -> Result:
    """Label a node as written by a success, or by a failure."""
    from deltamem_tui.memory.editing import relabel

    opened, name, found = _node(Invocation.of(context), bank, node, tree)
    return _result("relabel", relabel(opened, name, found, label), bank)


def move(
    context: typer.Context,
    bank: options.Bank,
    node: options.NodeId,
    parent: Parent,
    tree: options.TreeChoice = None,
) -> Result:
    """Move a node, with all below it, under another parent."""
    from deltamem_tui.memory.editing import move

    opened, name, found = _node(Invocation.of(context), bank, node, tree)
    above = None if parent == "root" else opened.find_node(parent, name)[1]
    return _result("move", move(opened, name, found, above), bank)


def join(
    context: typer.Context,
    bank: options.Bank,
    node: options.NodeId,
    other: Other,
    tree: options.TreeChoice = None,
) -> Result:
    """Join two nodes that say the same: NODE stays, OTHER goes, what is below it moves."""
    from deltamem_tui.memory.editing import join

    opened, name, found = _node(Invocation.of(context), bank, node, tree)
    return _result("join", join(opened, name, found, opened.find_node(other, name)[1]), bank)


def delete(
    context: typer.Context,
    bank: options.Bank,
    node: options.NodeId,
    tree: options.TreeChoice = None,
    yes: Yes = False,
) -> Result:
    """Delete a node with all below it."""
    from deltamem_tui.memory.editing import delete, subtree

    invocation = Invocation.of(context)
    opened, name, found = _node(invocation, bank, node, tree)
    below = len(subtree(opened.tree(name), found.id)) - 1
    if below and not yes:
        invocation.confirm(f"delete {found.id[:8]} and {counted(below, 'node')} below it?")
    return _result("delete", delete(opened, name, found), bank)


def undo(context: typer.Context, bank: options.Bank) -> Result:
    """Take back the last change made by hand or by `forget`; again for the one before."""
    from deltamem_tui.memory.editing import nothing_left, undo, undoable

    opened = Invocation.of(context).open(bank, write=True)
    commit = undoable(opened)
    if commit is None:
        raise nothing_left(opened, "undo")
    change = undo(opened, commit)
    nodes = [each.id for each in change.nodes]
    data = {"undone": commit.event, "tree": change.tree, "nodes": nodes}
    return Result("undo", data, notes=[f"{commit.event} undone: {counted(len(nodes), 'node')}"])


def redo(context: typer.Context, bank: options.Bank) -> Result:
    """Make the change again that was undone last; again for the one before."""
    from deltamem_tui.memory.editing import nothing_left, redo, redoable

    opened = Invocation.of(context).open(bank, write=True)
    found = redoable(opened)
    if found is None:
        raise nothing_left(opened, "redo")
    undone, made = found
    change = redo(opened, undone)
    nodes = [each.id for each in change.nodes]
    data = {"redone": made.event, "tree": change.tree, "nodes": nodes}
    return Result("redo", data, notes=[f"{made.event} redone: {counted(len(nodes), 'node')}"])


def _node(invocation: Invocation, bank: str, node: str, tree: str | None) -> tuple[Bank, str, Node]:

    opened = invocation.open(bank, write=True)
    name, found = opened.find_node(node, options.tree_name(opened, tree))
    return opened, name, found


def _result(command: str, change: Change, bank: str) -> Result:
    nodes = [each.id for each in change.nodes]
    done = f"{command}: {counted(len(nodes), 'node')}; `deltamem node undo {bank}` takes it back"
    return Result(command, {"tree": change.tree, "nodes": nodes}, notes=[done])


def _assigned(texts: list[str], payload: Mapping[str, str]) -> dict[str, str]:
    """Return the texts that FIELD=TEXT arguments give."""
    found = {}
    for each in texts:
        field, sign, text = each.partition("=")
        if not sign or field not in payload:
            raise UsageError(
                f"expected FIELD=TEXT, got {one_line(each, 60)!r}",
                hint=f"the node's fields are {', '.join(payload)}",
            )
        found[field] = text
    return found


def _in_editor(invocation: Invocation, payload: Mapping[str, str]) -> dict[str, str]:
    """Return the texts as a person leaves them in $EDITOR."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor or invocation.options.json:
        raise UsageError(
            "set EDITOR to edit in, or give the new texts as FIELD=TEXT",
            hint=f"the node's fields are {', '.join(payload)}",
        )
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / "node.md"
        draft.write_text(
            "\n".join(f"== {field} ==\n{clean(text)}\n" for field, text in payload.items()),
            encoding="utf-8",
        )
        try:
            code = subprocess.run([*shlex.split(editor), str(draft)], check=False).returncode
            edited = draft.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise UsageError(f"{one_line(editor, 60)}: {one_line(str(error), 100)}") from error
        if code:
            raise UsageError(f"{one_line(editor, 60)} failed; nothing was changed")
        parts = re.split(r"(?m)^== (\w+) ==$", edited)
    texts = dict(zip(parts[1::2], (clean(each).strip() for each in parts[2::2]), strict=True))
    if list(texts) != list(payload):
        raise UsageError("a heading `== field ==` is missing or new; nothing was changed")
    return texts
