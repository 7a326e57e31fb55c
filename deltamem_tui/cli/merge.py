"""`deltamem merge`: what several banks have learnt, in one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from deltamem_tui.cli import diff, options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Cell, Page
from deltamem_tui.cli.result import Result
from deltamem_tui.memory.transfer import NEAR, NEAR_POLICIES

if TYPE_CHECKING:
    from deltamem_tui.bank.union.merge import MergePlan
    from deltamem_tui.memory.reports.view import ReportView
    from deltamem_tui.memory.transfer.merging import Merge

Banks = Annotated[
    list[str],
    typer.Argument(metavar="BANK…", help="Two banks or more. Without -o the first gets all."),
]
Into = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="BANK", help="A new bank that gets all instead."),
]
Near = Annotated[
    float,
    typer.Option("--near", metavar="X", help="The similarity from which two roots are near."),
]
NearPolicy = Annotated[
    str,
    typer.Option(
        "--near-policy",
        metavar="|".join(NEAR_POLICIES),
        help="A near root stays, is left out with all below, or, where a chain is a base with "
        "deltas, hangs below the other.",
    ),
]
NoNear = Annotated[bool, typer.Option("--no-near", help="Look for no near roots.")]
NoEpisodes = Annotated[
    bool, typer.Option("--no-episodes", help="Leave the episodes where they are.")
]
AcrossDomains = Annotated[
    bool, typer.Option("--across-domains", help="Merge banks of different domains all the same.")
]


def run(
    context: typer.Context,
    banks: Banks,
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
    from deltamem_tui.bank.union.merge import difference
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
    planned = difference(done.plan) if dry_run else None
    if planned:
        data["plan"] = diff.record(planned)

    def show(page: Page) -> None:
        if planned:
            diff.show(page, planned, opened[0])
        _show(page, done.plan, view)

    return Result("merge", data, view=show, notes=_notes(done, target, dry_run))


def _notes(done: Merge, target: str, dry_run: bool) -> list[str]:
    if not done.changed:
        return [f"{target} holds all of it already; nothing was changed"]
    if dry_run:
        return ["nothing was written; without --dry-run it is"]
    names = ", ".join(bank.name for bank in done.plan.banks)
    return [f"{target} holds what {names} have learnt"]


def _show(page: Page, plan: MergePlan, view: ReportView) -> None:
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
