"""Forgetting: which nodes of a tree a rule deletes, worked out on columns. Nothing is written.

The rules are those of memory management: *periodical* (old and hardly shown of late), *history*
(judged often enough, and of little use), *combined* (either). A node of a tree goes with all below
it, since a delta means nothing under another base: so an inner node is idle only if all below it
are, and one of little use stays as the base of one that is good, until that was fused into a root
of its own. A capacity then takes the leaves that are worth least.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.memory.policies import Forgetting

Reason = Literal["periodical", "history", "capacity"]

Flags = NDArray[np.bool_]
Numbers64 = NDArray[np.int64]

_PRIOR = 2
"""As so many judged episodes of the tree's mean count against a node's own, for the capacity."""


@dataclass(frozen=True, slots=True)
class ForgettingRules:
    """The numbers of the rules.

    Attributes:
        period: Episodes within which a node has to be shown, and after which it is old.
        recalls: The most episodes within the period that still count as idle.
        judged: From how many judged episodes on a node's utility is believed.
        utility: The greatest mean utility, from 0 to 1, that is too little; None for no such rule.
        capacity: The most nodes that a tree may have; None for any number.
    """

    forgetting: Forgetting = "none"
    period: int = 300
    recalls: int = 1
    judged: int = 5
    utility: float | None = 0.5
    capacity: int | None = None

    @property
    def any(self) -> bool:
        """True if anything may be forgotten by them."""
        return self.forgetting != "none" or self.capacity is not None

    @property
    def periodical(self) -> bool:
        """True if idle nodes go."""
        return self.forgetting in ("periodical", "combined")

    @property
    def history(self) -> bool:
        """True if nodes of little use go."""
        return self.forgetting in ("history", "combined") and self.utility is not None


PRESETS: Mapping[str, ForgettingRules] = {
    "ehr": ForgettingRules("combined", 200, 0, 5, 0.7),
    "ehr-coarse": ForgettingRules("combined", 200, 0, 5, 0.3),
    "driving": ForgettingRules("combined", 300, 1, 5, None),
    "iot": ForgettingRules("combined", 300, 1, 5, 0.5),
}
"""The published values. Driving measures utility as a distance, which is not a share of successes:
of its rules only the period carries over."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The living nodes of one tree by depth and birth, so that each stands behind its parent.

    Attributes:
        parent: The place of its parent, or -1. int64 [nodes].
        age: Episodes since the one that it was learnt from. int64 [nodes].
        recent: Episodes within the period that were shown it. int64 [nodes].
        judged: Judged episodes since its last revision. int64 [nodes].
        utility: What those were worth, in ten-thousandths. int64 [nodes].
        last: The place of the last episode that was shown it, 0 for none. int64 [nodes].
        failure: Whether it was written by a failure: those are recalled where tasks are hard, and
            a low utility is not their fault. bool [nodes].
        consolidated: Whether it was fused into another root. bool [nodes].
        key: Whether it is only a key of the node above: it goes with that. bool [nodes].
    """

    parent: Numbers64
    age: Numbers64
    recent: Numbers64
    judged: Numbers64
    utility: Numbers64
    last: Numbers64
    failure: Flags
    consolidated: Flags
    key: Flags

    def __len__(self) -> int:
        return len(self.parent)


def forgotten(nodes: Columns, rules: ForgettingRules, unit: int) -> dict[int, Reason]:
    """Return the topmost nodes that go with all below them, and why, in the order in which they go.

    `unit` is how much utility a success is.
    """
    found: dict[int, Reason] = {}
    if rules.periodical:
        idle = (nodes.recent <= rules.recalls) & (nodes.age >= rules.period) | nodes.key
        found |= dict.fromkeys(_tops(nodes, _with_all_below(nodes, idle)), "periodical")
    if rules.history:
        poor, good = _by_history(nodes, rules, unit)
        poor &= ~_below(nodes, good & ~nodes.consolidated)
        for place in _tops(nodes, poor):
            found.setdefault(place, "history")
    gone = _going(nodes, found)
    found = {place: why for place, why in found.items() if _above(nodes, place, gone)}
    if rules.capacity is not None:
        found |= dict.fromkeys(_over_capacity(nodes, gone, rules.capacity, unit), "capacity")
    return found


def _by_history(nodes: Columns, rules: ForgettingRules, unit: int) -> tuple[Flags, Flags]:
    """Return which nodes were judged often enough and found of little use, and which to be good."""
    enough = (nodes.judged >= rules.judged) & (nodes.judged > 0) & ~nodes.key
    least = (rules.utility or 0.0) * unit * nodes.judged
    little = nodes.utility <= least
    return enough & little & ~nodes.failure, enough & ~little


def _with_all_below(nodes: Columns, flags: Flags) -> Flags:
    """Return which nodes are flagged together with all below them."""
    return ~_below(nodes, ~flags) & flags


def _below(nodes: Columns, flags: Flags) -> Flags:
    """Return which nodes have a flagged one below them."""
    found = np.zeros(len(nodes), dtype=np.bool_)
    above = nodes.parent[flags]
    while len(above):
        above = above[above >= 0]
        above = above[~found[above]]
        found[above] = True
        above = nodes.parent[above]
    return found


def _tops(nodes: Columns, flags: Flags) -> list[int]:
    """Return the flagged nodes that are not below another of them, and no mere keys."""
    going = _going(nodes, dict.fromkeys(np.flatnonzero(flags & ~nodes.key).tolist()))
    hanging = (nodes.parent >= 0) & going[nodes.parent]
    return np.flatnonzero(going & ~hanging).tolist()


def _above(nodes: Columns, place: int, going: Flags) -> bool:
    parent = int(nodes.parent[place])
    return parent < 0 or not going[parent]


def _going(nodes: Columns, tops: Mapping[int, object]) -> Flags:
    """Return the nodes that go if some do with all below them."""
    going = np.zeros(len(nodes), dtype=np.bool_)
    going[list(tops)] = True
    hanging = np.flatnonzero(nodes.parent >= 0)
    while len(more := hanging[going[nodes.parent[hanging]] & ~going[hanging]]):
        going[more] = True
    return going


def subtree_sizes(nodes: Columns) -> list[int]:
    """Return how many nodes go with each, itself and the keys among them."""
    sizes = np.ones(len(nodes), dtype=np.int64)
    above = nodes.parent
    while (hanging := above >= 0).any():  # once for each level: a node counts for all above it
        sizes += np.bincount(above[hanging], minlength=len(nodes))
        above = np.where(hanging, nodes.parent[above], -1)
    return sizes.tolist()


def _over_capacity(nodes: Columns, gone: Flags, capacity: int, unit: int) -> Iterator[int]:
    """Return the leaves worth least beyond the capacity, sparing what the last episode wrote."""
    left = ~gone & ~nodes.key
    size = int(left.sum())
    if size <= capacity:
        return
    newcomer = nodes.age <= 0
    if int((newcomer & left).sum()) > capacity:
        newcomer = np.zeros_like(newcomer)
    children = np.zeros(len(nodes) + 1, dtype=np.int64)
    np.add.at(children, nodes.parent[left], 1)  # of roots the last place, which is not looked at
    worth = _worth(nodes, left, unit)

    def entry(place: int) -> tuple[float, bool, int, int, int]:
        fused = bool(nodes.consolidated[place])
        return worth[place], not fused, int(nodes.last[place]), -int(nodes.age[place]), place

    free = left & ~newcomer
    heap = [entry(int(place)) for place in np.flatnonzero(free & (children[:-1] == 0))]
    heapq.heapify(heap)
    while size > capacity and heap:
        place = heapq.heappop(heap)[-1]
        yield place
        size -= 1
        parent = int(nodes.parent[place])
        if parent >= 0:
            children[parent] -= 1
            if not children[parent] and free[parent]:
                heapq.heappush(heap, entry(parent))


def _worth(nodes: Columns, left: Flags, unit: int) -> list[float]:
    """Return the mean utility of each node, drawn towards the mean where it was judged little."""
    judged, utility = nodes.judged[left].sum(), nodes.utility[left].sum()
    mean = float(utility / judged / unit) if judged else 0.0
    found: list[float] = ((nodes.utility / unit + _PRIOR * mean) / (nodes.judged + _PRIOR)).tolist()
    return found
