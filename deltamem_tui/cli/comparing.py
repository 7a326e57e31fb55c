"""Commands that put two banks side by side: merged, or compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.options import argument, flag, option
from deltamem_tui.cli.page import Cell, Page
from deltamem_tui.cli.result import ExitCode, Result
from deltamem_tui.errors import UsageError
from deltamem_tui.memory.transfer import NEAR, NEAR_POLICIES
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.diff import BankDiff, CountChange, NodeChange
    from deltamem_tui.bank.node import Node
    from deltamem_tui.bank.union.merge import MergePlan
    from deltamem_tui.memory.display import Display
    from deltamem_tui.memory.reports.view import ReportView
    from deltamem_tui.memory.transfer.merging import Merge


MergedBanks = Annotated[
    list[str], argument("BANK...", "Two banks or more. Without -o the first gets all.")
]
Into = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="BANK", help="A new bank that gets all instead."),
]
Near = Annotated[float, option("--near", "X", "The similarity from which two roots are near.")]
NearPolicy = Annotated[
    str,
    option(
        "--near-policy", "|".join(NEAR_POLICIES), "Keep a near root, or drop it with its subtree."
    ),
]
NoNear = Annotated[bool, flag("--no-near", "Look for no near roots.")]
NoEpisodes = Annotated[bool, flag("--no-episodes", "Leave the episodes where they are.")]
AcrossDomains = Annotated[
    bool, flag("--across-domains", "Merge banks of different domains all the same.")
]


def merge(
    context: typer.Context,
    banks: MergedBanks,
    *,
    output: Into = None,
    near: Near = NEAR,
    near_policy: NearPolicy = "keep",
    no_near: NoNear = False,
    no_episodes: NoEpisodes = False,
    across_domains: AcrossDomains = False,
    dry_run: options.DryRun = False,
) -> Result:
    """Merge what banks have learnt, node by node, with nothing counted twice.

    The higher revision of a node wins, and what was deleted stays deleted. What banks changed
    apart, and roots that say nearly the same, are listed.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.reports.transfer import view_merge
    from deltamem_tui.memory.transfer.merging import merge

    invocation = Invocation.of(context)
    first, *others = banks
    writes = output is None and not dry_run
    places = [invocation.writable_bank(first) if writes else invocation.bank(first)]
    places += [invocation.bank(other) for other in others]
    opened = [Bank.open(place) for place in places]
    path = None if output is None else invocation.new_bank(output)
    with invocation.output.progress("merging"):
        done = merge(
            opened,
            path,
            near=None if no_near else near,
            near_policy=near_policy,
            with_episodes=not no_episodes,
            across_domains=across_domains,
            dry_run=dry_run,
        )
    target = output if output is not None else first
    view = view_merge(done)
    data = {"bank": target, "dry_run": dry_run, "changed": done.changed, **view.record}
    return Result(
        "merge",
        data,
        view=lambda page: _show_merge(page, done.plan, view),
        notes=_notes(done, target, dry_run),
    )


def _notes(done: Merge, target: str, dry_run: bool) -> list[str]:
    if not done.changed:
        return [f"{target} holds all of it already; nothing was changed"]
    if dry_run:
        return ["dry run: nothing was written"]
    names = ", ".join(bank.name for bank in done.plan.banks)
    return [f"{target} now holds what was learnt in {names}"]


def _show_merge(page: Page, plan: MergePlan, view: ReportView) -> None:
    from deltamem_tui.memory.reports.transfer import change_counts

    counts = {name: change_counts(changes) for name, changes in plan.changes.items()}
    rows: list[list[Cell]] = [
        [f"nodes {label}", *(each[label] for each in counts.values())]
        for label in next(iter(counts.values()))
    ]
    page.table(("", *counts), [row for row in rows if any(row[1:])])
    episodes = view.record["episodes"] or {}
    if any(episodes.values()):
        page.facts({f"episodes {name}": count for name, count in episodes.items()})
    for section in view.sections:
        page.text(section.title, style="bold")
        for line in section.lines:
            page.text(line)


ComparedBanks = Annotated[
    list[str] | None, argument("BANK BANK", "The bank as it was, and as it is.")
]
ExitCodeChoice = Annotated[
    bool, flag("--exit-code", "Exit with 1 if anything differs, as git does.")
]


def diff(
    context: typer.Context,
    banks: ComparedBanks = None,
    *,
    tree: options.TreeChoice = None,
    exit_code: ExitCodeChoice = False,
) -> Result:
    """Show what differs between two banks, node by node.

    + is in the second alone, − in the first alone, ~ in both, but otherwise.
    """
    from deltamem_tui.bank.diff import diff as compare

    if len(banks or []) != 2:
        raise UsageError("a difference is between two banks", hint="`deltamem bank diff BANK BANK`")
    invocation = Invocation.of(context)
    before, after = (invocation.open(bank) for bank in banks or [])
    with invocation.output.progress("comparing"):
        found = compare(before, after, options.tree_names(before, tree))
    return Result(
        "diff",
        {"before": before.name, "after": after.name, **_diff_record(found)},
        view=lambda page: _show_diff(page, found, (before, after)),
        notes=("nothing differs",) if found.empty else (),
        code=ExitCode.FAILURE if exit_code and not found.empty else None,
    )


def _diff_record(found: BankDiff) -> dict[str, Any]:
    """Return a difference as JSON."""

    def changes(some: Sequence[NodeChange]) -> list[dict[str, Any]]:
        return [{"id": e.node.id, "fields": [asdict(each) for each in e.fields]} for e in some]

    def nodes(some: Sequence[Node]) -> list[dict[str, Any]]:
        plain = ("id", "parent", "kind", "label", "depth")
        return [{name: getattr(e, name) for name in plain} | {**e.payload} for e in some]

    trees = {
        name: {
            "added": nodes(tree.added),
            "removed": nodes(tree.removed),
            "changed": changes(tree.changed),
            "moved": changes(tree.moved),
            "counted": [asdict(each) for each in tree.counted],
        }
        for name, tree in found.trees.items()
    }
    return {
        "different": not found.empty,
        "manifest": [asdict(each) for each in found.manifest],
        "trees": trees,
        "episodes": asdict(found.episodes),
    }


def _show_diff(page: Page, found: BankDiff, banks: Sequence[Bank]) -> None:
    """Show a difference, a sign before each thing that differs; nodes as the banks show them."""
    from deltamem_tui.memory.methods import display_of
    from deltamem_tui.memory.reports.transfer import field_text, value_change

    for change in found.manifest:
        page.text(f"~ {change.name}: {value_change(change)}", style=_CHANGED)
    for name, tree in found.trees.items():
        display = display_of(banks[-1], name)
        for node in tree.removed:
            page.text(f"− {name} {_node_text(display, node)}", style=_GONE)
        for node in tree.added:
            page.text(f"+ {name} {_node_text(display, node)}", style=_NEW)
        for other in (*tree.changed, *tree.moved):
            page.text(f"~ {name} {_node_text(display, other.node)}", style=_CHANGED)
            for each in other.fields:
                page.text(field_text(each))
        for counted in tree.counted:
            page.text(f"~ {name} {counted.node[:8]} {_counts_text(counted)}", style=_CHANGED)
    episodes = found.episodes
    for sign, ids, words, style in (
        ("−", episodes.removed, "episode", _GONE),
        ("+", episodes.added, "episode", _NEW),
        ("~", episodes.changed, "another record of episode", _CHANGED),
        ("~", episodes.learnt, "learnt in one bank alone: episode", _CHANGED),
    ):
        for name in ids:
            page.text(f"{sign} {words} {name[:8]} {_task(banks, name)}".rstrip(), style=style)


_NEW, _GONE, _CHANGED = "green", "red", "yellow"


def _task(banks: Sequence[Bank], episode_id: str) -> str:
    """Return the task of an episode of one of the banks; empty if none keeps it."""
    from deltamem_tui.memory.episodes.stored_episodes import episode

    kept = (episode(bank, episode_id) for bank in banks)
    return next((one_line(each.task, 80) for each in kept if each), "")


def _node_text(display: Display, node: Node) -> str:
    below = "△" if display.layered else "○"
    mark = "✗" if node.label == "failure" else "●" if node.kind == "root" else below
    return f"{node.id[:8]} {mark} {one_line(display.of_title(node), 120)}"


def _counts_text(change: CountChange) -> str:
    before, after = asdict(change.before), asdict(change.after)
    return ", ".join(
        f"{name} {before[name]} → {after[name]}" for name in before if before[name] != after[name]
    )
