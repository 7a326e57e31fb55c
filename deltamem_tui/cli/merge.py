"""`deltamem merge`: what several banks have learnt, in one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import diff, options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Cell, Page
from deltamem_tui.cli.result import Result
from deltamem_tui.memory.transfer.near_roots import NEAR, NEAR_POLICIES

if TYPE_CHECKING:
    from deltamem_tui.bank.union.merge import Plan
    from deltamem_tui.bank.union.resolve import Conflict
    from deltamem_tui.memory.transfer.merging import Merge, NearRoots

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
        help="A near root stays, is left out with all below, or hangs below the other.",
    ),
]
NoNear = Annotated[bool, typer.Option("--no-near", help="Look for no near roots.")]
NoEpisodes = Annotated[
    bool, typer.Option("--no-episodes", help="Leave the episodes where they are.")
]

_SHOWN_TEXT = 100


def run(
    context: typer.Context,
    banks: Banks,
    *,
    output: Into = None,
    near: Near = NEAR,
    near_policy: NearPolicy = "keep",
    no_near: NoNear = False,
    no_episodes: NoEpisodes = False,
    dry_run: options.DryRun = False,
) -> Result:
    """Merge what banks have learnt, node by node, with nothing counted twice.

    The higher revision of a node wins, and what was deleted stays deleted. What banks changed
    apart, and roots that say nearly the same, are listed.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.union.merge_diff import difference
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
            dry_run=dry_run,
        )
    target = output if output is not None else first
    data = {"bank": target, "dry_run": dry_run, "changed": done.changed, **_record(done)}
    if not dry_run:
        notes = _notes(done, target, dry_run)
        return Result("merge", data, view=lambda page: _show(page, done), notes=notes)
    planned = difference(done.plan)

    def view(page: Page) -> None:
        diff.show(page, planned)
        _show(page, done)

    data["plan"] = diff.record(planned)
    return Result("merge", data, view=view, notes=_notes(done, target, dry_run))


def _notes(done: Merge, target: str, dry_run: bool) -> list[str]:
    if not done.changed:
        return [f"{target} holds all of it already; nothing was changed"]
    if dry_run:
        return ["nothing was written; without --dry-run it is"]
    names = ", ".join(bank.name for bank in done.plan.banks)
    return [f"{target} holds what {names} have learnt"]


def _record(done: Merge) -> dict[str, Any]:
    plan = done.plan
    return {
        "from": [
            {"name": bank.name, "path": bank.path, "origin": bank.manifest.counts_as}
            for bank in plan.banks
        ],
        "trees": {name: asdict(changes) for name, changes in plan.changes.items()},
        "conflicts": [_conflict_record(plan, each) for each in plan.conflicts],
        "near": [_near_record(each) for each in done.near],
        "disagreements": [asdict(each) for each in plan.disagreements],
        "counted_as_one": plan.counted_as_one,
        "episodes": _episodes(plan),
    }


def _episodes(plan: Plan) -> dict[str, int] | None:
    if plan.episodes is None:
        return None
    return {
        "added": plan.episodes.added,
        "revised": len(plan.episodes.revised),
        "learnt": len(plan.episodes.learnt),
    }


def _conflict_record(plan: Plan, conflict: Conflict) -> dict[str, Any]:
    return {
        "tree": conflict.tree,
        "node": conflict.kept.id,
        "kind": conflict.kind,
        "kept": _said(conflict.kept, plan.banks[conflict.kept_from].name),
        "lost": _said(conflict.lost, plan.banks[conflict.lost_from].name),
    }


def _near_record(near: NearRoots) -> dict[str, Any]:
    return {
        "tree": near.tree,
        "label": near.label,
        "similarity": near.similarity,
        "root": _said(near.root, near.bank),
        "near": _said(near.near, near.near_bank),
    }


def _said(node: Any, bank: str) -> dict[str, Any]:
    return {
        "bank": bank,
        "id": node.id,
        "revision": node.revision,
        "deleted": node.deleted,
        "parent": node.parent,
        "label": node.label,
        **asdict(node.payload),
    }


def _show(page: Page, done: Merge) -> None:
    plan = done.plan
    names = list(plan.changes)
    rows: list[list[Cell]] = [
        [words, *(_count(getattr(plan.changes[name], field)) for name in names)]
        for field, words in _ROWS.items()
    ]
    page.table(("", *names), [row for row in rows if any(row[1:])])
    episodes = _episodes(plan)
    if episodes is not None and any(episodes.values()):
        page.facts({f"episodes {name}": count for name, count in episodes.items()})
    for name, changes in plan.changes.items():
        for node_id in changes.hidden:
            page.text(f"{name} {node_id} is kept, but hidden: what is above it was deleted")
        for node_id in changes.loosened:
            page.text(f"{name} {node_id} became a root: it was moved below its own child")
    for conflict in plan.conflicts:
        page.text(_conflict_words(plan, conflict))
    for near in done.near:
        page.text(f"{near.tree} roots are near ({near.similarity:.3f}, {near.label}):")
        page.text(_quoted(near.root, near.bank))
        page.text(_quoted(near.near, near.near_bank))
    for one, two in plan.counted_as_one:
        page.text(
            f"{one} and {two} both counted as one bank since one was copied from the other: of "
            "each count the greater is kept"
        )
    for each in plan.disagreements:
        page.text(f"{each.what}: {each.kept} stays; {each.bank} says {each.lost}")


_ROWS = {
    "added": "nodes added",
    "revised": "nodes revised",
    "deleted": "nodes deleted",
    "revived": "nodes that live again",
    "hidden": "nodes hidden below deleted ones",
    "loosened": "nodes that became roots",
    "tombstones": "tombstones added",
    "left_out": "nodes left out",
    "counted": "nodes with other counts",
    "too_deep": "nodes deeper than d_max",
}


def _count(value: Any) -> int:
    return value if isinstance(value, int) else len(value)


def _conflict_words(plan: Plan, conflict: Conflict) -> str:
    why = "at the same revision" if conflict.kind == "tie" else "and one went further"
    return "\n".join(
        (
            f"{conflict.tree} {conflict.kept.id} was changed in two banks, {why}; the first stays:",
            _quoted(conflict.kept, plan.banks[conflict.kept_from].name),
            _quoted(conflict.lost, plan.banks[conflict.lost_from].name),
            *_lost_words(conflict),
        )
    )


def _lost_words(conflict: Conflict) -> Iterator[str]:
    """What else than its first line the lost state says otherwise."""
    from deltamem_tui.bank.diff import FieldChange, changed_fields

    lost, kept = conflict.lost, conflict.kept
    if lost.deleted or kept.deleted:
        return
    if lost.parent != kept.parent:
        yield diff.field_words(FieldChange("parent", lost.parent, kept.parent))
    for each in changed_fields(lost, kept):
        if each.name not in ("activation_condition", "consolidated"):
            yield diff.field_words(each)


def _quoted(node: Any, bank: str) -> str:
    from deltamem_tui.text import one_line

    what = "deleted" if node.deleted else one_line(node.payload.activation_condition, _SHOWN_TEXT)
    return f"  {one_line(bank, 40)} {node.id[:8]} {what}"
