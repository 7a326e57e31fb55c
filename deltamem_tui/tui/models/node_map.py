"""A collection as a map: its nodes along the two axes on which their vectors differ most.

The axes are the first two right singular vectors of the centred vectors, so near nodes are alike,
but two that lie together may still differ along the other axes: `kept` says how much is seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.credit.credit import usefulness

Mark = Literal["failure", "useless", "hit", "quiet"]
MOST_POINTS = 2000
"""So many nodes of a large collection are drawn: more would only cover each other."""

_AXES_OF = 2000
_USELESS = 0.5
_AHEAD = 2.0


@dataclass(frozen=True, slots=True)
class NodeMap:
    """Some nodes of a collection, laid out.

    Attributes:
        tree: The collection.
        rows: The nodes' rows in it. int64 [points].
        places: Where they lie, each axis within -1 and 1. float64 [points, 2].
        marks: What each is, by the most telling. [points].
        nodes: How many nodes the collection has; more than `rows` if only some are drawn.
        kept: The share of the variance that the two axes show.
    """

    tree: str
    rows: NDArray[np.int64]
    places: NDArray[np.float64]
    marks: tuple[Mark, ...]
    nodes: int
    kept: float

    @property
    def groups(self) -> Mapping[Mark, NDArray[np.float64]]:
        """The places of the nodes of each mark, the ones that tell least first."""
        marks = np.array(self.marks)
        order: tuple[Mark, ...] = ("quiet", "hit", "useless", "failure")
        return {mark: self.places[marks == mark] for mark in order if (marks == mark).any()}

    def nearest(self, x: float, y: float) -> int | None:
        """The number of the point next to a place; None of an empty map."""
        if not len(self.rows):
            return None
        return int(np.hypot(*(self.places - (x, y)).T).argmin())

    def towards(self, point: int, across: int, up: int) -> int:
        """The next point from one in a direction; the same if there is none.

        What lies aside counts double, so that a step goes where it points.
        """
        away = self.places - self.places[point]
        ahead = away @ (across, up)
        aside = np.abs(away @ (up, -across))
        far = np.where(ahead > 1e-9, ahead + _AHEAD * aside, np.inf)
        found = int(far.argmin())
        return found if np.isfinite(far[found]) else point


def node_map(bank: Bank, name: str) -> NodeMap:
    """Lays out a collection, every n-th node of a large one."""
    tree = bank.tree(name)
    living = tree.rows
    rows = living[:: max(-(-len(living) // MOST_POINTS), 1)]
    useful = usefulness(bank, name)
    births = tree.birth[rows]
    hits = tree.snapshot.counters[births, 0] if len(rows) else np.zeros(0)
    utility = useful.utility[births] if len(rows) else np.zeros(0)
    places, kept = principal_axes(np.asarray(tree.embeddings[rows], dtype=np.float64))
    marks = tuple(
        _mark(bool(failure), float(worth), int(hit))
        for failure, worth, hit in zip(tree.failure[rows], utility, hits, strict=True)
    )
    return NodeMap(name, rows, places, marks, len(living), kept)


def _mark(failure: bool, utility: float, hits: int) -> Mark:
    if failure:
        return "failure"
    if utility < _USELESS:
        return "useless"
    return "hit" if hits else "quiet"


def principal_axes(vectors: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Places along the first two principal axes, each within -1 and 1, and the variance they show.

    Each axis points to where its longest entry is positive, so that the same vectors give the
    same map.

    Args:
        vectors: float64 [points, dimensions].
    """
    if len(vectors) < 2:
        return np.zeros((len(vectors), 2)), 1.0
    centred = vectors - vectors.mean(axis=0)
    axes = np.linalg.svd(centred[:_AXES_OF], full_matrices=False)[2][:2]
    longest = np.abs(axes).argmax(axis=1)
    axes = axes * np.sign(axes[np.arange(len(axes)), longest])[:, None]
    places = np.zeros((len(vectors), 2))
    places[:, : len(axes)] = centred @ axes.T
    total = float((centred**2).sum())
    kept = float((places**2).sum()) / total if total else 1.0
    widest = np.abs(places).max(axis=0)
    return places / np.where(widest > 0, widest, 1.0), kept
