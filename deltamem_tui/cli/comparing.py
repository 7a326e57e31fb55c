"""Commands that put two banks side by side: merged, or compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.options import argument, flag
from deltamem_tui.cli.page import Cell, Page
from deltamem_tui.cli.result import ExitCode, Result
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.diff import BankDiff, CountChange, NodeChange
    from deltamem_tui.bank.merge import MergePlan
    from deltamem_tui.bank.node import Node
    from deltamem_tui.memory.display import Display
    from deltamem_tui.memory.reports.view import ReportView


def merge(
    invocation: Invocation,
    banks: Annotated[
        list[str], argument("BANK...", "Two or more; without -o all goes into the first.")
    ],
    *,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="BANK", help="Write into a new bank instead."),
    ] = None,
    across_domains: Annotated[
        bool, flag("--across-domains", "Merge banks of different domains.")
    ] = False,
    dry_run: options.DryRun = False,
) -> Result:
    """Merge what banks have learnt, node by node, with nothing counted twice.

    The higher revision of a node wins, and what was deleted stays deleted. What banks changed
    apart is listed.
    """
    from deltamem_tui.memory.transfer.merging import merge
    from deltamem_tui.memory.transfer.views import view_merge

    first, *others = banks
    writes = output is None and not dry_run
    opened = [invocation.open(first, write=writes), *map(invocation.open, others)]
    path = None if output is None else invocation.new_bank(output)
    with invocation.output.progress("merging"):
        done = merge(opened, path, across_domains=across_domains, dry_run=dry_run)
    target = output if output is not None else first
    view = view_merge(done)
    data = {"bank": target, "dry_run": dry_run, "changed": done.changed, **view.record}
    note = f"{target} now holds what was learnt in {', '.join(each.name for each in opened)}"
    if not done.changed:
        note = f"{target} holds all of it already; nothing was changed"
    elif dry_run:
        note = "dry run: nothing was written"

    def show(page: Page) -> None:
        for line in _plan_lines(done.plan) if dry_run else ():
            page.text(line, style=_STYLES[line[0]])
        _show_merge(page, done.plan, view)

    return Result("merge", data, view=show, notes=[note])


def _plan_lines(plan: MergePlan) -> Iterator[str]:
    """Yield what would be new, go or say something else, by title or task."""
    from deltamem_tui.memory.method import display_of

    for name, changes in plan.changes.items():
        display, tables = display_of(plan.banks[0], name), [each.tree(name) for each in plan.banks]
        for sign, ids in (
            ("−", changes.deleted),
            ("+", (*changes.added, *changes.revived)),
            ("~", changes.revised),
        ):
            for each in ids:
                node = next(found.node(each) for found in tables if found.find(each))
                yield f"{sign} {name} {_node_text(display, node)}"
    known = dict.fromkeys(each for bank in plan.banks for each in bank.episodes.ids())
    for each in [*known][len(plan.banks[0].episodes) :]:  # beyond those of the first bank
        yield f"+ episode {each[:8]} {_task(plan.banks, each)}"


def _show_merge(page: Page, plan: MergePlan, view: ReportView) -> None:
    from deltamem_tui.memory.transfer.views import change_counts

    counts = {name: change_counts(changes) for name, changes in plan.changes.items()}
    rows: list[list[Cell]] = [
        [f"nodes {label}", *(each[label] for each in counts.values())]
        for label in next(iter(counts.values()))
    ]
    if rows := [row for row in rows if any(row[1:])]:
        page.table(("", *counts), rows)
    else:
        page.text("no node changes")
    episodes = view.record["episodes"]
    if any(episodes.values()):
        page.facts({f"episodes {name}": count for name, count in episodes.items()})
    for section in view.sections:
        page.text(section.title, style="bold")
        for line in section.lines:
            page.text(line)


def diff(
    invocation: Invocation,
    before: Annotated[str, argument("BEFORE", "The bank as it was.")],
    after: Annotated[str, argument("AFTER", "The bank as it is.")],
    exit_code: Annotated[bool, flag("--exit-code", "Exit with 1 if anything differs.")] = False,
) -> Result:
    """Show what differs between two banks, node by node.

    + only in the second, − only in the first, ~ different in the two.
    """
    from deltamem_tui.bank.diff import diff as compare

    one, other = banks = [invocation.open(each) for each in (before, after)]
    with invocation.output.progress("comparing"):
        found = compare(one, other)

    def view(page: Page) -> None:
        for line in _diff_lines(found, banks):
            page.text(line.rstrip(), style=_STYLES.get(line[0], ""))

    return Result(
        "diff",
        {"before": one.name, "after": other.name, **_diff_record(found)},
        view=view,
        notes=("nothing differs",) if found.empty else (),
        code=ExitCode.FAILURE if exit_code and not found.empty else None,
    )


def _diff_record(found: BankDiff) -> dict[str, Any]:
    """Return a difference as JSON."""

    def node(each: Node) -> dict[str, Any]:
        plain = ("id", "parent", "kind", "label", "depth")
        return {name: getattr(each, name) for name in plain} | {**each.payload}

    def change(each: NodeChange) -> dict[str, Any]:
        return {"id": each.node.id, "fields": each.fields}

    trees = {
        name: {
            **{kind: [node(each) for each in getattr(tree, kind)] for kind in ("added", "removed")},
            **{kind: [change(e) for e in getattr(tree, kind)] for kind in ("changed", "moved")},
            "counted": tree.counted,
        }
        for name, tree in found.trees.items()
    }
    about = {"different": not found.empty, "manifest": found.manifest}
    return about | {"trees": trees, "episodes": found.episodes}


_STYLES = {"+": "green", "−": "red", "~": "yellow"}


def _diff_lines(found: BankDiff, banks: Sequence[Bank]) -> Iterator[str]:
    """Yield a line for each thing that differs, after its sign; nodes as the banks show them."""
    from deltamem_tui.memory.method import display_of
    from deltamem_tui.memory.transfer.views import field_text, value_change

    for name, tree in found.trees.items():
        display = display_of(banks[-1], name)
        yield from (f"− {name} {_node_text(display, node)}" for node in tree.removed)
        yield from (f"+ {name} {_node_text(display, node)}" for node in tree.added)
        for other in (*tree.changed, *tree.moved):
            yield f"~ {name} {_node_text(display, other.node)}"
            yield from map(field_text, other.fields)
        for each in tree.counted:
            yield f"~ {name} {each.node[:8]} {_counts_text(each)}"
    episodes = found.episodes
    for words, ids in (
        ("− episode", episodes.removed),
        ("+ episode", episodes.added),
        ("~ another record of episode", episodes.changed),
        ("~ learnt in one bank alone: episode", episodes.learnt),
    ):
        yield from (f"{words} {each[:8]} {_task(banks, each)}" for each in ids)
    for change in found.manifest:
        yield f"~ {change.name}: {value_change(change)}"


def _task(banks: Sequence[Bank], episode_id: str) -> str:
    """Return the task of an episode of one of the banks; empty if none keeps it."""
    from deltamem_tui.memory.episodes.stored_episodes import episode

    kept = (episode(bank, episode_id) for bank in banks)
    return next((one_line(each.task, 80) for each in kept if each), "")


def _node_text(display: Display, node: Node) -> str:
    mark = "✗" if node.label == "failure" else "●" if node.kind == "root" else "○"
    return f"{node.id[:8]} {mark} {display.of_title(node)}"


def _counts_text(change: CountChange) -> str:
    before, after = asdict(change.before), asdict(change.after)
    changed = (name for name in before if before[name] != after[name])
    return ", ".join(f"{name} {before[name]} → {after[name]}" for name in changed)
