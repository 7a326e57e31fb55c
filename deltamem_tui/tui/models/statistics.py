"""A bank in numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.credit import NAME as CREDIT
from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.lift import BankLift, bank_lift, notes_of
from deltamem_tui.memory.methods import display_of, is_shown
from deltamem_tui.memory.views.statistics import (
    BankStatistics,
    GrowthPoint,
    bank_statistics,
    growth,
)
from deltamem_tui.text import counted
from deltamem_tui.tui.models.sections import Section

if TYPE_CHECKING:
    from deltamem_tui.memory.plan import Proposal

_GROWTH_POINTS = 400
_GROWTH_LINES = 10
_MOST_PAIRS = 20
_GROWTH_WIDTH = 36
"""Cells: the pane beside the plots on a terminal of 80 columns has few more."""

_EPISODES = 9
_GAP = "  "


@dataclass(frozen=True, slots=True)
class Overview:
    """What the statistics screen shows of a bank.

    Attributes:
        bank: The bank.
        statistics: Counts of nodes, tokens and episodes.
        hits: Per tree, how many nodes have how many hits.
        growth: Nodes after each episode, thinned out to a few hundred points.
        lift: What receipts and verdicts say; None of a bank whose nodes were shown to no episode.
    """

    bank: Bank
    statistics: BankStatistics
    hits: Mapping[str, Mapping[int, int]]
    growth: Sequence[GrowthPoint] = field(default=())
    lift: BankLift | None = None


def overview(bank: Bank) -> Overview:
    """Count a bank. Reads every node and the journal once, and all episodes if any has credit."""
    points = growth(bank)
    step = max(len(points) // _GROWTH_POINTS, 1)
    kept = points[::step]
    if points and kept[-1] is not points[-1]:
        kept.append(points[-1])
    hits = {name: _hits(tree) for name, tree in bank.trees.items()}
    lift = bank_lift(bank) if len(bank.snapshots[CREDIT].index) else None
    return Overview(bank, bank_statistics(bank), hits, kept, lift)


def _hits(tree: Tree) -> dict[int, int]:
    import numpy as np

    if not len(tree):
        return {}
    values, counts = np.unique(tree.snapshot.counters[tree.birth[tree.rows], 0], return_counts=True)
    return {int(value): int(count) for value, count in zip(values, counts, strict=True)}


def grouped(counts: Mapping[int, int]) -> list[tuple[str, int]]:
    """Return how many have which value: 0, 1, 2, 3 to 5, 6 to 10, 11 to 20, 21 to 50 and so on."""
    ends = [-1, 0, 1, 2, 5]
    while ends[-1] < max(counts):
        ends += [ends[-1] * 2, ends[-1] * 4, ends[-1] * 10]
    rows = []
    for before, last in pairwise(ends):
        first = before + 1
        name = f"{first:,}" if first == last else f"{first:,}–{last:,}"
        rows.append((name, sum(n for value, n in counts.items() if first <= value <= last)))
    return [(name, count) for name, count in rows if count]


def overview_sections(found: Overview) -> list[Section]:
    """Return the numbers as text."""
    counts = found.statistics
    sections = [
        Section(
            "Episodes",
            f"{counts.episodes:,} · learnt {counts.learnt:,} · waiting {counts.waiting:,}"
            f" · without outcome {counts.without_outcome:,}",
        )
    ]
    for name, tree in counts.trees.items():
        display = display_of(found.bank, name)
        if not is_shown(found.bank, name):
            continue
        means = _mean(tree.mean_tokens_root), _mean(tree.mean_tokens_residual)
        layers = f"{counted(tree.roots, 'root')}, {counted(tree.residuals, 'residual')}"
        fused, below = f", {tree.consolidated:,} fused", f", {means[1]} a residual"
        lines = [
            f"{counted(tree.nodes, 'node')}: "
            + (display.sizes(tree.depths) if display.levels else layers),
            counted(tree.failures, "failure") + (fused if display.layered else ""),
            f"{means[0]} tokens a root{below if display.layered else ''}, {tree.tokens:,} in all",
            "nodes by depth: " + _pairs(tree.depths),
            f"{counted(tree.hits, 'hit')}; nodes by hits: " + _pairs(found.hits[name]),
        ]
        sections.append(Section(display.title, "\n".join(lines)))
    if found.lift is not None:
        sections.append(Section("Lift", "\n".join(map(str, notes_of(found.lift)))))
    if found.growth:
        step = max(len(found.growth) // _GROWTH_LINES, 1)
        chosen = [*found.growth[::step]]
        if chosen[-1] is not found.growth[-1]:
            chosen.append(found.growth[-1])
        shown = [name for name in counts.trees if is_shown(found.bank, name)]
        titles = {name: display_of(found.bank, name).title for name in shown}
        tables = ["\n".join(_growth_lines(chosen, each)) for each in _side_by_side(titles)]
        sections.append(Section("Growth", "\n\n".join(tables)))
    return sections


def _side_by_side(titles: Mapping[str, str]) -> list[dict[str, str]]:
    """Columns in groups that fit beside each other and the episodes; titles by their names."""
    groups: list[dict[str, str]] = [{}]
    for name, title in titles.items():
        taken = sum(len(each) + len(_GAP) for each in groups[-1].values())
        if groups[-1] and _EPISODES + taken + len(_GAP) + len(title) > _GROWTH_WIDTH:
            groups.append({})
        groups[-1][name] = title
    return groups


def _growth_lines(points: Sequence[GrowthPoint], titles: Mapping[str, str]) -> Iterator[str]:
    """Return a table of how many nodes there were after how many episodes."""
    yield _GAP.join((f"{'episodes':>{_EPISODES}}", *titles.values()))
    for each in points:
        nodes = (f"{each.nodes.get(name, 0):>{len(title)},}" for name, title in titles.items())
        yield _GAP.join((f"{each.episodes:>{_EPISODES},}", *nodes))


def proposal_sections(proposals: Sequence[Proposal]) -> list[Section]:
    """Return the best scores of the bank's own episodes, and the thresholds they suggest."""
    return [
        Section(f"Best scores, {each.tree} tree", "\n".join(_proposal_lines(each)))
        for each in proposals
    ]


def _proposal_lines(each: Proposal) -> list[str]:
    lines = [f"{counted(each.questions, 'question')}"]
    lines.append(f"threshold {each.current:g} now: {each.matching_now:.0%} match")
    if each.proposed is not None and each.matching_then is not None:
        lines.append(f"threshold {each.proposed:g} proposed: {each.matching_then:.0%} match")
    else:
        lines.append(f"nothing proposed: {each.reason}")
    lines += [
        f"{low:6.3f} – {high:6.3f} {count:>6,}"
        for low, high, count in zip(
            each.bin_edges[:-1], each.bin_edges[1:], each.bin_counts, strict=True
        )
        if count
    ]
    return lines


def _mean(tokens: float | None) -> str:
    return "–" if tokens is None else f"{tokens:g}"


def _pairs(counts: Mapping[int, int]) -> str:
    """Return how many nodes have which value: each value, or where there are many, groups of
    them.
    """
    if len(counts) > _MOST_PAIRS:
        return ", ".join(f"{value}: {count:,}" for value, count in grouped(counts))
    return ", ".join(f"{value}: {count:,}" for value, count in counts.items()) or "none"
