"""Reports of exports, installations and merges, before or after they are done."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from deltamem_tui.bank import episodes, journal
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.diff import FieldChange
from deltamem_tui.bank.merge import TreeChanges
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.transfer import Delivery
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.method import display_of
from deltamem_tui.memory.reports.view import ReportNote, ReportSection, ReportView
from deltamem_tui.memory.transfer.export import Leak, PreparedExport
from deltamem_tui.memory.transfer.merging import Merge
from deltamem_tui.text import counted, one_line, word_diff

_CONDITION_WIDTH = 100
_TEXT_WIDTH = 200
EPISODES_LEAVE = (
    "its episodes go along, with the e-mail addresses and home folders in their texts; "
    "import --redact-personal takes out the addresses"
)
_CHANGES = {
    **{name: name for name in ("added", "revised", "deleted", "revived")},
    "hidden": "hidden below deleted ones",
    "loosened": "made roots",
    "counted": "with other counts",
}


def view_export(outgoing: PreparedExport) -> ReportView:
    """Show what leaves with a bank, and the secrets that would leave with it."""
    layout, contents = outgoing.package.layout, outgoing.contents
    record = {
        "bytes": layout.size,
        "members": {entry.name: entry.size for entry in layout.entries},
        "contents": contents,
        "secrets": outgoing.leaks,
    }
    by = f" by {', '.join(contents['extractors'])}" if contents["extractors"] else ""
    along = any(entry.name.startswith(episodes.NAME) for entry in layout.entries)
    lines = [
        f"{layout.size:,} bytes in {counted(len(layout.entries), 'file')}",
        f"learnt from {counted(contents['episodes'], 'episode')}{by}",
        EPISODES_LEAVE if along else "its episodes stay here",
        *([f"models: {', '.join(contents['models'])}"] if contents["models"] else []),
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
    manifest, sizes = delivery.manifest, {name: len(tree) for name, tree in bank.trees.items()}
    contents = manifest.provenance.get("contents")
    contents = contents if isinstance(contents, dict) else {}
    claims = {
        "description": _claim(manifest.description),
        "domain": _claim(manifest.domain),
        "builder": _claim(manifest.provenance.get("builder")),
        "extractors": _claim(contents.get("extractors")),
        "models": _claim(contents.get("models")),
        "embedder": _claim(manifest.embedder.get("model")),
        "learnt_from": _claim(contents.get("episodes", manifest.provenance.get("episodes"))),
        "method": _claim(manifest.method),
    }
    facts: dict[str, Any] = {
        **claims,
        "episodes": len(bank.episodes),
        "journal": any(member.name == journal.FILE_NAME for member in delivery.members),
        "bytes": delivery.size,
    }
    record = {
        **facts,
        **{f"{name}_nodes": size for name, size in sizes.items()},
        "bank": path.name,
        "path": path,
        "digest": digest,
        "pinned": pinned,
        "frozen": bank.frozen,
        "dry_run": dry_run,
        "provenance": manifest.provenance,
    }
    unproved = "its origin is unverified: --digest checks that it is the bank you expect"
    shown = ("description", "domain", "embedder", "builder")
    lines = [f"{name}: {claims[name]}" for name in shown if claims[name]]
    vouched = "its digest is the one you gave" if pinned else "its origin is unverified"
    lines += [f"{delivery.size:,} bytes, sound; {vouched}", digest]
    displays = {name: display_of(bank, name) for name in sizes}
    nodes = {
        f"nodes, {displays[name].title}": size
        for name, size in sizes.items()
        if size or displays[name].asked
    }
    return ReportView(
        record,
        {"bank": path.name, "folder": str(path), **facts, **nodes, "digest": digest},
        [ReportSection(one_line(manifest.name, 100), lines, warning=not pinned)],
        [] if pinned else [ReportNote(unproved)],
    )


def _claim(value: Any) -> str | None:
    """Return a value of the manifest, short and on one line; None if it is empty."""
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return one_line(str(value), _TEXT_WIDTH) if value not in (None, "") else None


def view_merge(merge: Merge) -> ReportView:
    """Show what a merge changes, and what is lost."""
    plan, banks, episodes = merge.plan, merge.plan.banks, merge.plan.episodes
    displays = {name: display_of(banks[0], name) for name in plan.changes}
    sides = [
        (each, banks[each.kept_from].name, banks[each.lost_from].name) for each in plan.conflicts
    ]
    record = {
        "from": [
            {"name": bank.name, "path": bank.path, "origin": bank.manifest.counts_as}
            for bank in banks
        ],
        "trees": {name: asdict(changes) for name, changes in plan.changes.items()},
        "conflicts": [
            {
                "tree": each.tree,
                "node": each.kept.id,
                "kept": _state_record(each.kept, mine),
                "lost": _state_record(each.lost, other),
            }
            for each, mine, other in sides
        ],
        "disagreements": [
            {"what": each.name, "kept": each.before, "lost": each.after, "bank": bank}
            for bank, each in plan.disagreements
        ],
        "episodes": {
            "added": episodes.added,
            "revised": len(episodes.revised),
            "learnt": len(episodes.learnt),
        },
    }
    displaced, changed = list[str](), list[str]()
    for name, changes in plan.changes.items():
        title = displays[name].title
        displaced += [
            *(f"{title} {node} is hidden: a node above it was deleted" for node in changes.hidden),
            *(f"{title} {node} is a root: it was below its child" for node in changes.loosened),
        ]
    for each, mine, other in sides:
        display = displays[each.tree]
        changed += [
            f"{display.title} {each.kept.id} was changed in two banks; the first stays:",
            _quoted(display, each.kept, mine),
            _quoted(display, each.lost, other),
        ]
    only_one = [
        f"{each.name}: {each.before} stays; {bank} says {each.after}"
        for bank, each in plan.disagreements
    ]
    sections = (
        ReportSection("Nodes that lost their place", displaced),
        ReportSection("Changed in two banks", changed, warning=True),
        ReportSection("Only one can stay", only_one, warning=True),
    )
    return ReportView(record, sections=[each for each in sections if each.lines])


def change_counts(changes: TreeChanges) -> dict[str, int]:
    """Return how many nodes of a tree a merge changes, by what happens to them."""
    found = {label: getattr(changes, name) for name, label in _CHANGES.items()}
    return {label: n if isinstance(n, int) else len(n) for label, n in found.items()}


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
    return f"  {one_line(bank, 40)} {node.id[:8]} {text}"


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
