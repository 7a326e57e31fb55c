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
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.diff import BankDiff, CountChange, NodeChange, TreeDiff
    from deltamem_tui.bank.node import Node
    from deltamem_tui.memory.display import Display

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
        return _text_dump(text, banks or [])
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.diff import diff

    if len(banks or []) != 2:
        raise UsageError("a difference is between two banks", hint="`deltamem diff BANK BANK`")
    invocation = Invocation.of(context)
    before, after = (Bank.open(invocation.bank(bank)) for bank in banks or [])
    with invocation.output.progress("comparing"):
        found = diff(before, after, options.tree_names(before, tree))
    return Result(
        "diff",
        {"before": before.name, "after": after.name, **record(found)},
        view=lambda page: show(page, found, after),
        notes=("nothing differs",) if found.empty else (),
        code=ExitCode.FAILURE if exit_code and not found.empty else None,
    )


def _text_dump(path: Path, banks: list[str]) -> Result:
    from deltamem_tui.bank.diff import text_dump

    if banks:
        raise UsageError("--text shows one file, and compares no banks", hint="leave the banks out")
    lines = list(text_dump(path))
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
        **node.payload,
    }


def _change_record(change: NodeChange) -> dict[str, Any]:
    return {"id": change.node.id, "fields": [asdict(each) for each in change.fields]}


def show(page: Page, found: BankDiff, bank: Bank) -> None:
    """Show a difference, a sign before each thing that differs; nodes as a bank shows them."""
    from deltamem_tui.memory.methods import display_of
    from deltamem_tui.memory.reports.transfer import value_change

    for change in found.manifest:
        page.text(f"~ {change.name}: {value_change(change)}", style=_CHANGED)
    for name, tree in found.trees.items():
        display = display_of(bank, name)
        for node in tree.removed:
            page.text(f"− {name} {_node_text(display, node)}", style=_GONE)
        for node in tree.added:
            page.text(f"+ {name} {_node_text(display, node)}", style=_NEW)
        for other in (*tree.changed, *tree.moved):
            _show_change(page, name, display, other)
        for counted in tree.counted:
            page.text(f"~ {name} {counted.node[:8]} {_counts_text(counted)}", style=_CHANGED)
    _show_episodes(page, found)


_NEW, _GONE, _CHANGED = "green", "red", "yellow"


def _show_change(page: Page, tree: str, display: Display, change: NodeChange) -> None:
    from deltamem_tui.memory.reports.transfer import field_text

    page.text(f"~ {tree} {_node_text(display, change.node)}", style=_CHANGED)
    for each in change.fields:
        page.text(field_text(each))


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


def _node_text(display: Display, node: Node) -> str:
    below = "△" if display.layered else "○"
    mark = "✗" if node.label == "failure" else "●" if node.kind == "root" else below
    return f"{node.id[:8]} {mark} {one_line(display.of_title(node), 120)}"


def _counts_text(change: CountChange) -> str:
    before, after = asdict(change.before), asdict(change.after)
    return ", ".join(
        f"{name} {before[name]} → {after[name]}" for name in before if before[name] != after[name]
    )
