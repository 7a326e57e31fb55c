"""A bank in numbers, as plots and as the same numbers in text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.deltamem.collections import COLLECTIONS
from deltamem_tui.memory.views.statistics import (
    BankStatistics,
    GrowthPoint,
    bank_statistics,
    growth,
)
from deltamem_tui.text import counted
from deltamem_tui.tui.models.bars import BarRow, grouped
from deltamem_tui.tui.models.sections import Section

if TYPE_CHECKING:
    from deltamem_tui.memory.method import Proposal

_GROWTH_POINTS = 400
_GROWTH_LINES = 10
_MOST_PAIRS = 20


@dataclass(frozen=True, slots=True)
class Overview:
    """What the statistics screen shows of a bank.

    Attributes:
        bank: The bank.
        statistics: Counts of nodes, tokens and episodes.
        hits: Per tree, how many nodes have how many hits.
        growth: Nodes after each episode, thinned out to a few hundred points.
    """

    bank: Bank
    statistics: BankStatistics
    hits: Mapping[str, Mapping[int, int]]
    growth: Sequence[GrowthPoint] = field(default=())


def overview(bank: Bank) -> Overview:
    """Count a bank. Reads every node and the journal once."""
    points = growth(bank)
    step = max(len(points) // _GROWTH_POINTS, 1)
    kept = points[::step]
    if points and kept[-1] is not points[-1]:
        kept.append(points[-1])
    return Overview(
        bank, bank_statistics(bank), {name: _hits(bank, name) for name in COLLECTIONS}, kept
    )


def _hits(bank: Bank, name: str) -> dict[int, int]:
    import numpy as np

    tree = bank.tree(name)
    if not len(tree):
        return {}
    values, counts = np.unique(tree.snapshot.counters[tree.birth[tree.rows], 0], return_counts=True)
    return {int(value): int(count) for value, count in zip(values, counts, strict=True)}


def token_rows(said: BankStatistics) -> list[BarRow]:
    """Tokens of a root and of a residual; nothing of a bank without nodes."""
    if not any(tree.nodes for tree in said.trees.values()):
        return []
    return [
        BarRow("root", {name: tree.mean_tokens_root for name, tree in said.trees.items()}),
        BarRow("residual", {name: tree.mean_tokens_residual for name, tree in said.trees.items()}),
    ]


def overview_sections(found: Overview) -> list[Section]:
    """The numbers as text."""
    said = found.statistics
    sections = [
        Section(
            "Episodes",
            f"{said.episodes:,} · learnt {said.learnt:,} · waiting {said.waiting:,}"
            f" · without outcome {said.without_outcome:,}",
        )
    ]
    for name in COLLECTIONS:
        tree = said.trees[name]
        means = _mean(tree.mean_tokens_root), _mean(tree.mean_tokens_residual)
        lines = [
            ", ".join(
                (
                    f"{counted(tree.nodes, 'node')}: {counted(tree.roots, 'root')}",
                    counted(tree.residuals, "residual"),
                )
            ),
            f"{counted(tree.failures, 'failure')}, {tree.consolidated:,} fused",
            f"{means[0]} tokens a root, {means[1]} a residual, {tree.tokens:,} in all",
            "nodes by depth: " + _pairs(name, tree.depths),
            f"{counted(tree.hits, 'hit')}; nodes by hits: " + _pairs(name, found.hits[name]),
        ]
        sections.append(Section(f"{name} tree", "\n".join(lines)))
    if found.growth:
        step = max(len(found.growth) // _GROWTH_LINES, 1)
        chosen = [*found.growth[::step]]
        if chosen[-1] is not found.growth[-1]:
            chosen.append(found.growth[-1])
        lines = [f"{'episodes':>9} {'task':>7} {'env':>7}"]
        lines += [
            f"{point.episodes:>9,} {point.nodes['task']:>7,} {point.nodes['env']:>7,}"
            for point in chosen
        ]
        sections.append(Section("Growth", "\n".join(lines)))
    return sections


def proposal_sections(proposals: Sequence[Proposal]) -> list[Section]:
    """The best scores of the bank's own episodes, and the thresholds they suggest."""
    return [
        Section(f"Best scores, {each.tree} tree", "\n".join(_proposal_lines(each)))
        for each in proposals
    ]


def _proposal_lines(each: Proposal) -> list[str]:
    lines = [f"{counted(each.questions, 'question')}, compared with {each.compared_with}"]
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


def _pairs(name: str, counts: Mapping[int, int]) -> str:
    """How many nodes have which value: each value, or where there are many, groups of them."""
    if len(counts) > _MOST_PAIRS:
        rows = grouped({name: counts})
        return ", ".join(f"{row.name}: {row.values[name]:,}" for row in rows if row.values[name])
    return ", ".join(f"{value}: {count:,}" for value, count in counts.items()) or "none"
