"""`deltamem diff`: what differs between two banks."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import ExitCode, Result
from deltamem_tui.errors import UsageError

if TYPE_CHECKING:
    from deltamem_tui.bank.diff import BankDiff, CountChange, FieldChange, NodeChange, TreeDiff
    from deltamem_tui.bank.node import Node

Banks = Annotated[
    list[str] | None,
    typer.Argument(metavar="BANK BANK", help="The bank as it was, and as it is."),
]
ExitCodeChoice = Annotated[
    bool, typer.Option("--exit-code", help="Exit with 1 if anything differs, as git does.")
]
Text = Annotated[
    Path | None,
    typer.Option(
        "--text",
        metavar="FILE",
        help="Show one file of a bank as lines of text instead, for git's textconv.",
    ),
]


def run(
    context: typer.Context,
    banks: Banks = None,
    *,
    tree: options.TreeChoice = None,
    exit_code: ExitCodeChoice = False,
    text: Text = None,
) -> Result:
    """Show what differs between two banks, node by node.

    + is in the second alone, − in the first alone, ~ in both, but otherwise.
    """
    if text is not None:
        return _readable(text, banks or [])
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.diff import diff

    if len(banks or []) != 2:
        raise UsageError("a difference is between two banks", hint="`deltamem diff BANK BANK`")
    invocation = Invocation.of(context)
    before, after = (Bank.open(invocation.bank(bank)) for bank in banks or [])
    with invocation.output.progress("comparing"):
        found = diff(before, after, options.tree_names(tree))
    return Result(
        "diff",
        {"before": before.name, "after": after.name, **record(found)},
        view=lambda page: show(page, found),
        notes=("nothing differs",) if found.empty else (),
        code=ExitCode.FAILURE if exit_code and not found.empty else None,
    )


def _readable(path: Path, banks: list[str]) -> Result:
    from deltamem_tui.bank.text_dump import readable

    if banks:
        raise UsageError("--text shows one file, and compares no banks", hint="leave the banks out")
    lines = list(readable(path))
    return Result(
        "diff", {"file": path, "lines": lines}, view=lambda page: page.text("\n".join(lines))
    )


def record(found: BankDiff) -> dict[str, Any]:
    """A difference as JSON."""
    return {
        "different": not found.empty,
        "manifest": [asdict(each) for each in found.manifest],
        "trees": {name: _tree_record(tree) for name, tree in found.trees.items()},
        "episodes": asdict(found.episodes),
    }


def _tree_record(tree: TreeDiff) -> dict[str, Any]:
    return {
        "added": [_node_record(node) for node in tree.added],
        "removed": [_node_record(node) for node in tree.removed],
        "changed": [_change_record(each) for each in tree.changed],
        "moved": [_change_record(each) for each in tree.moved],
        "counted": [asdict(each) for each in tree.counted],
    }


def _node_record(node: Node) -> dict[str, Any]:
    return {
        "id": node.id,
        "parent": node.parent,
        "kind": node.kind,
        "label": node.label,
        "depth": node.depth,
        **asdict(node.payload),
    }


def _change_record(change: NodeChange) -> dict[str, Any]:
    return {"id": change.node.id, "fields": [asdict(each) for each in change.fields]}


def show(page: Page, found: BankDiff) -> None:
    """Show a difference, a sign before each thing that differs."""
    for change in found.manifest:
        page.text(f"~ {change.name}: {_shortly(change)}", style=_CHANGED)
    for name, tree in found.trees.items():
        for node in tree.removed:
            page.text(f"− {name} {_node_words(node)}", style=_GONE)
        for node in tree.added:
            page.text(f"+ {name} {_node_words(node)}", style=_NEW)
        for other in (*tree.changed, *tree.moved):
            _show_change(page, name, other)
        for counted in tree.counted:
            page.text(f"~ {name} {counted.node[:8]} {_counts_words(counted)}", style=_CHANGED)
    _show_episodes(page, found)


_NEW, _GONE, _CHANGED = "green", "red", "yellow"


def _show_change(page: Page, tree: str, change: NodeChange) -> None:
    page.text(f"~ {tree} {_node_words(change.node)}", style=_CHANGED)
    for each in change.fields:
        page.text(field_words(each))


def field_words(change: FieldChange) -> str:
    """One changed field, indented: long texts word by word, else as before → after."""
    from deltamem_tui.cli.word_diff import word_diff

    before, after = change.before, change.after
    long = isinstance(before, str) and isinstance(after, str) and " " in after
    said = word_diff(before, after) if long else _shortly(change)
    first, *rest = said.split("\n")
    return "\n".join([f"    {change.name}: {first}", *(f"      {line}" for line in rest)])


def _show_episodes(page: Page, found: BankDiff) -> None:
    episodes = found.episodes
    for sign, ids, words, style in (
        ("−", episodes.removed, "episode", _GONE),
        ("+", episodes.added, "episode", _NEW),
        ("~", episodes.changed, "another record of episode", _CHANGED),
        ("~", episodes.learnt, "learnt in one bank alone: episode", _CHANGED),
    ):
        for each in ids:
            page.text(f"{sign} {words} {each}", style=style)


def _node_words(node: Node) -> str:
    from deltamem_tui.text import one_line

    mark = "✗" if node.label == "failure" else "●" if node.kind == "root" else "△"
    return f"{node.id[:8]} {mark} {one_line(node.payload.activation_condition, 120)}"


def _shortly(change: FieldChange) -> str:
    from deltamem_tui.text import one_line

    before, after = (
        "nothing" if value in (None, "") else one_line(str(value), 100)
        for value in (change.before, change.after)
    )
    return f"{before} → {after}"


def _counts_words(change: CountChange) -> str:
    before, after = asdict(change.before), asdict(change.after)
    return ", ".join(
        f"{name} {before[name]} → {after[name]}" for name in before if before[name] != after[name]
    )
