"""What a person sees of a bank before it leaves, arrives, or takes others in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltamem_tui.bank.node import TREES
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.models.sections import Section

if TYPE_CHECKING:
    from deltamem_tui.bank.transfer.installing import Delivery
    from deltamem_tui.memory.transfer.export import Contents, Outgoing
    from deltamem_tui.memory.transfer.merging import Merge

_MOST_LINES = 20


def outgoing_sections(outgoing: Outgoing) -> list[Section]:
    """What leaves, and the secrets that would leave with it."""
    layout, contents = outgoing.package.layout, outgoing.contents
    lines = [
        f"{layout.size:,} bytes in {counted(len(layout.entries), 'file')}",
        _learnt(contents),
    ]
    if contents.models:
        lines.append(f"models: {', '.join(contents.models)}")
    sections = [Section("A frozen copy", "\n".join(one_line(line, 500) for line in lines))]
    if outgoing.leaks:
        leaks = [
            one_line(f"{leak.kind} in {leak.place} {leak.record} {leak.field}", 200)
            for leak in outgoing.leaks
        ]
        sections.append(Section("Secrets would leave with it", _cut(leaks), warning=True))
    return sections


def _learnt(contents: Contents) -> str:
    """From how much a bank was learnt, and by whom, as far as it says."""
    by = f" by {', '.join(contents.extractors)}" if contents.extractors else ""
    return f"learnt from {counted(contents.episodes, 'episode')}{by}"


def delivery_section(delivery: Delivery, digest: str, *, pinned: bool) -> Section:
    """What arrives: all of it is a stranger's word but what was counted here."""
    manifest = delivery.manifest
    vouched = "as you were told" if pinned else "nobody vouched for it"
    said = {
        "says of itself": manifest.description,
        "domain": manifest.domain,
        "embedder": manifest.embedder.get("model", ""),
        "builder": manifest.provenance.get("builder", ""),
    }
    lines = [f"{name}: {one_line(str(text), 300)}" for name, text in said.items() if text]
    lines += [f"{delivery.size:,} bytes, sound; {vouched}", digest]
    if not delivery.sealed:
        lines.append("it was not frozen: nothing says what its files should have been")
    return Section(one_line(delivery.name, 100), "\n".join(lines), warning=not pinned)


def merge_sections(merge: Merge) -> list[Section]:
    """What a merge changes, what says nearly the same, and what of the others is lost."""
    plan = merge.plan
    sections = []
    for name in TREES:
        changes = plan.changes[name]
        counts = {
            "new": len(changes.added),
            "revised": len(changes.revised),
            "deleted": len(changes.deleted),
            "revived": len(changes.revived),
            "hidden below a deleted one": len(changes.hidden),
            "made roots": len(changes.loosened),
            "said already": changes.left_out,
            "with other counts": changes.counted,
            "deeper than D_max": changes.too_deep,
        }
        words = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
        sections.append(Section(f"{name} tree", words or "stays as it is"))
    if plan.episodes is not None:
        sections.append(Section("Episodes", f"{plan.episodes.added:,} new"))
    if merge.near:
        lines = [
            f"{each.similarity:.3f} {each.tree} {each.root.id} of {each.bank}"
            f" and {each.near.id} of {each.near_bank}"
            for each in merge.near
        ]
        sections.append(Section("Roots that say nearly the same; both stay", _cut(lines)))
    if plan.conflicts:
        lines = [
            f"{each.tree} {each.kept.id}: {plan.banks[each.kept_from].name}’s stays,"
            f" {plan.banks[each.lost_from].name}’s goes"
            for each in plan.conflicts
        ]
        sections.append(Section("Changed in two banks", _cut(lines), warning=True))
    if plan.disagreements:
        lines = [
            f"{each.what}: {each.kept!r} stays, {each.lost!r} of {each.bank} goes"
            for each in plan.disagreements
        ]
        sections.append(Section("Only one can stay", _cut(lines), warning=True))
    if plan.counted_as_one:
        lines = [
            f"{one} and {two}: the greater of each count stays" for one, two in plan.counted_as_one
        ]
        sections.append(Section("Copies that both went on counting", _cut(lines), warning=True))
    return sections


def _cut(lines: list[str]) -> str:
    shown = [one_line(line, 300) for line in lines[:_MOST_LINES]]
    if len(lines) > _MOST_LINES:
        shown.append(f"… and {len(lines) - _MOST_LINES:,} more")
    return "\n".join(shown)
