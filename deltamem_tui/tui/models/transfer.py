"""What a person sees of a bank before it leaves, arrives, or takes others in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from deltamem_tui.text import one_line
from deltamem_tui.tui.models.sections import Section

if TYPE_CHECKING:
    from deltamem_tui.memory.reports.view import ReportSection
    from deltamem_tui.memory.transfer.merging import Merge

_MOST_LINES = 20


def sections_of(found: Iterable[ReportSection]) -> list[Section]:
    """The sections of a report, cut to what a dialog can show."""
    return [Section(each.title, _cut(each.lines), warning=each.warning) for each in found]


def merge_sections(merge: Merge) -> list[Section]:
    """What a merge changes tree by tree, and what it loses."""
    from deltamem_tui.memory.reports.transfer import change_counts, view_merge

    sections = []
    for name, changes in merge.plan.changes.items():
        counts = change_counts(changes).items()
        text = ", ".join(f"{count:,} {what}" for what, count in counts if count)
        sections.append(Section(f"{name} tree", text or "stays as it is"))
    if merge.plan.episodes is not None:
        sections.append(Section("Episodes", f"{merge.plan.episodes.added:,} new"))
    return sections + sections_of(view_merge(merge).sections)


def _cut(lines: Iterable[str]) -> str:
    text = [line for each in lines for line in each.split("\n")]
    shown = [one_line(line, 500) for line in text[:_MOST_LINES]]
    if len(text) > _MOST_LINES:
        shown.append(f"… and {len(text) - _MOST_LINES:,} more")
    return "\n".join(shown)
