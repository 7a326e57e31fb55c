"""Reports of exports, installations and merges, before or after they are done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from deltamem_tui.bank import journal
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.diff import FieldChange
from deltamem_tui.bank.join import Conflict
from deltamem_tui.bank.merge import MergePlan, TreeChanges
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.transfer import Delivery
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.methods import display_named, display_of
from deltamem_tui.memory.reports.view import ReportNote, ReportSection, ReportView
from deltamem_tui.memory.transfer.export import Leak, PreparedExport
from deltamem_tui.memory.transfer.merging import Merge, NearRoots
from deltamem_tui.text import counted, one_line, word_diff

_CONDITION_WIDTH = 100
_TEXT_WIDTH = 200
_CHANGES = {
    "added": "added",
    "revised": "revised",
    "deleted": "deleted",
    "revived": "revived",
    "hidden": "hidden below deleted ones",
    "loosened": "made roots",
    "tombstones": "added as tombstones",
    "left_out": "left out",
    "counted": "with other counts",
    "too_deep": "deeper than d_max",
}


def view_export(outgoing: PreparedExport) -> ReportView:
    """Show what leaves with a bank, and the secrets that would leave with it."""
    layout, contents = outgoing.package.layout, outgoing.contents
    record = {
        "bytes": layout.size,
        "members": {entry.name: entry.size for entry in layout.entries},
        "contents": outgoing.contents,
        "secrets": outgoing.leaks,
    }
    by = f" by {', '.join(contents.extractors)}" if contents.extractors else ""
    lines = [
        f"{layout.size:,} bytes in {counted(len(layout.entries), 'file')}",
        f"learnt from {counted(contents.episodes, 'episode')}{by}",
        *([f"models: {', '.join(contents.models)}"] if contents.models else []),
    ]
    sections = [ReportSection("A frozen copy", [one_line(line, 500) for line in lines])]
    if outgoing.leaks:
        leaks = [
            one_line(f"{each.kind} in {each.place} {leak_position(each)}", 200)
            for each in outgoing.leaks
        ]
        sections.append(ReportSection("Secrets would leave with it", leaks, warning=True))
    return ReportView(record, sections=sections)


def leak_position(leak: Leak) -> str:
    """Return the record and the field that hold a secret."""
    return f"{one_line(leak.record, 40)} {one_line(leak.field, 60)}".strip()


def view_install(
    delivery: Delivery, bank: Bank, path: Path, digest: str, *, pinned: bool, dry_run: bool = False
) -> ReportView:
    """Show a bank from elsewhere; its manifest is only a claim.

    It is pinned if the user named its digest.
    """
    facts = _delivery_facts(delivery, bank)
    sizes = {name: len(tree) for name, tree in bank.trees.items()}
    record = {
        **facts,
        **{f"{name}_nodes": size for name, size in sizes.items()},
        "bank": path.name,
        "path": path,
        "digest": digest,
        "pinned": pinned,
        "frozen": bank.frozen,
        "dry_run": dry_run,
        "provenance": delivery.manifest.provenance,
    }
    vouched = "as you named it" if pinned else "its origin is not proved: no digest was given"
    claims = ("description", "domain", "embedder", "builder")
    lines = [f"{name}: {facts[name]}" for name in claims if facts[name]]
    lines += [f"{delivery.size:,} bytes, sound; {vouched}", digest]
    notes = []
    if not pinned:
        notes.append(
            ReportNote("its origin is not proved: --digest checks that it is the one you mean")
        )
    return ReportView(
        record,
        {
            "bank": path.name,
            "folder": str(path),
            **facts,
            **node_facts(bank.manifest.method, sizes),
            "digest": digest,
        },
        [ReportSection(one_line(delivery.manifest.name, 100), lines, warning=not pinned)],
        notes,
    )


def _delivery_facts(delivery: Delivery, bank: Bank) -> dict[str, Any]:
    """Return who built the bank, with what, from how much, and its content; None if unknown."""
    manifest = delivery.manifest
    contents = manifest.provenance.get("contents")
    contents = contents if isinstance(contents, dict) else {}
    return {
        "description": _claim(manifest.description),
        "domain": _claim(manifest.domain),
        "builder": _claim(manifest.provenance.get("builder")),
        "extractors": _claim(contents.get("extractors")),
        "models": _claim(contents.get("models")),
        "embedder": _claim(manifest.embedder.get("model")),
        "learnt_from": _claim(contents.get("episodes", manifest.provenance.get("episodes"))),
        "method": _claim(manifest.method),
        "episodes": len(bank.episodes),
        "journal": any(member.name == journal.FILE_NAME for member in delivery.members),
        "bytes": delivery.size,
    }


def node_facts(method: str, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return how many nodes each collection of a method holds, by its title; not the empty
    helpers.
    """
    shown = {name: display_named(method, name) for name in sizes}
    return {
        f"nodes, {shown[name].title}": size
        for name, size in sizes.items()
        if size or shown[name].asked
    }


def _claim(value: Any) -> str | None:
    """Return a value of the manifest, short and on one line; None if it is empty."""
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return one_line(str(value), _TEXT_WIDTH) if value not in (None, "") else None


def view_merge(merge: Merge) -> ReportView:
    """Show what a merge changes, which roots are near each other, and what is lost."""
    plan = merge.plan
    episodes = plan.episodes
    record = {
        "from": [
            {"name": bank.name, "path": bank.path, "origin": bank.manifest.counts_as}
            for bank in plan.banks
        ],
        "trees": {name: asdict(changes) for name, changes in plan.changes.items()},
        "conflicts": [_conflict_record(plan, each) for each in plan.conflicts],
        "near": [_near_record(each) for each in merge.near],
        "disagreements": [asdict(each) for each in plan.disagreements],
        "counted_as_one": plan.counted_as_one,
        "episodes": episodes
        and {
            "added": episodes.added,
            "revised": len(episodes.revised),
            "learnt": len(episodes.learnt),
        },
    }
    sections = (
        ReportSection("Nodes that lost their place", [*_displaced(plan)]),
        ReportSection("Roots that are nearly the same", [*_near_lines(plan, merge.near)]),
        ReportSection("Changed in two banks", [*_conflict_lines(plan)], warning=True),
        ReportSection(
            "Only one can stay",
            [f"{e.what}: {e.kept} stays; {e.bank} says {e.lost}" for e in plan.disagreements],
            warning=True,
        ),
        ReportSection(
            "Copies of one bank that both went on since",
            [f"{one} and {two}: the greater of each count" for one, two in plan.counted_as_one],
            warning=True,
        ),
    )
    return ReportView(record, sections=[each for each in sections if each.lines])


def change_counts(changes: TreeChanges) -> dict[str, int]:
    """Return how many nodes of a tree a merge changes, by what happens to them."""
    found = {label: getattr(changes, name) for name, label in _CHANGES.items()}
    return {label: n if isinstance(n, int) else len(n) for label, n in found.items()}


def _displaced(plan: MergePlan) -> Iterator[str]:
    for name, changes in plan.changes.items():
        for node in changes.hidden:
            yield f"{_title(plan, name)} {node} is kept, but hidden: a node above it was deleted"
        for node in changes.loosened:
            yield f"{_title(plan, name)} {node} became a root: it was moved below its own child"


def _title(plan: MergePlan, name: str) -> str:
    return display_of(plan.banks[0], name).title


def _near_lines(plan: MergePlan, pairs: Sequence[NearRoots]) -> Iterator[str]:
    for each in pairs:
        display = display_of(plan.banks[0], each.tree)
        title = display.title
        yield f"{title}: two roots are near ({each.similarity:.3f}, {each.label}):"
        yield _quoted(display, each.root, each.bank)
        yield _quoted(display, each.near, each.near_bank)


def _conflict_lines(plan: MergePlan) -> Iterator[str]:
    for each in plan.conflicts:
        why = "at the same revision" if each.kind == "tie" else "and one went further"
        display = display_of(plan.banks[0], each.tree)
        place = f"{display.title} {each.kept.id}"
        yield f"{place} was changed in two banks, {why}; the first stays:"
        yield _quoted(display, each.kept, plan.banks[each.kept_from].name)
        yield _quoted(display, each.lost, plan.banks[each.lost_from].name)


def field_text(change: FieldChange) -> str:
    """Return one changed field, indented: long texts word by word, else as before → after."""
    before, after = change.before, change.after
    long = isinstance(before, str) and isinstance(after, str) and " " in after
    text = word_diff(before, after) if long else value_change(change)
    first, *rest = text.split("\n")
    return "\n".join([f"    {change.name}: {first}", *(f"      {line}" for line in rest)])


def value_change(change: FieldChange) -> str:
    """Return a changed value as before → after."""
    before, after = (
        "nothing" if value in (None, "") else one_line(str(value), _CONDITION_WIDTH)
        for value in (change.before, change.after)
    )
    return f"{before} → {after}"


def _quoted(display: Display, node: Node, bank: str) -> str:
    text = "deleted" if node.deleted else display.of_title(node)
    return f"  {one_line(bank, 40)} {node.id[:8]} {one_line(text, _CONDITION_WIDTH)}"


def _conflict_record(plan: MergePlan, conflict: Conflict) -> dict[str, Any]:
    return {
        "tree": conflict.tree,
        "node": conflict.kept.id,
        "kind": conflict.kind,
        "kept": _state_record(conflict.kept, plan.banks[conflict.kept_from].name),
        "lost": _state_record(conflict.lost, plan.banks[conflict.lost_from].name),
    }


def _near_record(near: NearRoots) -> dict[str, Any]:
    return {
        "tree": near.tree,
        "label": near.label,
        "similarity": near.similarity,
        "root": _state_record(near.root, near.bank),
        "near": _state_record(near.near, near.near_bank),
    }


def _state_record(node: Node, bank: str) -> dict[str, Any]:
    return {
        "bank": bank,
        "id": node.id,
        "revision": node.revision,
        "deleted": node.deleted,
        "parent": node.parent,
        "label": node.label,
        **node.payload,
    }
