"""How a bank grew, episode by episode, as its journal tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.deltamem.collections import COLLECTIONS


@dataclass(frozen=True, slots=True)
class GrowthPoint:
    """What a bank held after an episode.

    Attributes:
        episodes: Episodes learnt so far.
        nodes: Nodes that learning and consolidation had written so far, per tree.
    """

    episodes: int
    nodes: Mapping[str, int]


def growth(bank: Bank) -> list[GrowthPoint]:
    """One point for each episode learnt; none for a bank that was shipped without its journal."""
    points: list[GrowthPoint] = []
    nodes: dict[str, int] = dict.fromkeys(COLLECTIONS, 0)
    if not bank.journal.exists:
        return points
    for commit in bank.journal.commits():
        if commit.event == "consolidate" and commit.detail.get("tree") in COLLECTIONS:
            nodes[commit.detail["tree"]] += commit.detail.get("written", True) is True
        if commit.event != "learn":
            continue
        taught = commit.detail.get("trees")
        for name in COLLECTIONS:
            lesson = taught.get(name) if isinstance(taught, dict) else None
            if isinstance(lesson, dict):
                nodes[name] += ("node" in lesson) + ("consolidated" in lesson)
        points.append(GrowthPoint(len(points) + 1, dict(nodes)))
    return points
