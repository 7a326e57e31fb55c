"""Who is whose child in a tree, and where everything stands, for all nodes at once.

Both are flat arrays, found level by level and not node by node: 100,000 nodes are laid out in
some ten milliseconds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank.tree import Tree
from deltamem_tui.bank.tree_index import NO_PARENT
from deltamem_tui.memory.views.filters import Order

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class FamilyLayout:
    """Where the nodes of a family stand if everything is expanded.

    Attributes:
        preorder: The rows from the top down.
        place: Per row, its place among them.
        size: Per row, how many nodes it is with all below it; they follow it in `preorder`.
    """

    preorder: Rows
    place: Rows
    size: Rows


class Family:
    """Who is whose child, for a whole tree at once, siblings in a chosen order.

    Args:
        tree: The tree at one commit.
        order: How siblings are sorted.
        kept: Rows to show; a node is shown if it or one below it is kept. All if None.
        utility: What each node was worth to whom it was shown, by the row of its first line; NaN
            where that is not known. None if it is known of no node.
    """

    def __init__(
        self,
        tree: Tree,
        order: Order = "birth",
        kept: Mask | None = None,
        utility: NDArray[np.float64] | None = None,
    ) -> None:
        self.tree = tree
        self.order = order
        self.kept = kept
        self.utility = utility
        index = tree.snapshot.index
        rows = tree.rows
        parents = index["parent"][rows]
        if len(rows) and not (parents.min() >= NO_PARENT and parents.max() < len(index)):
            raise tree.snapshot.table.corrupt("the index names a parent that is not there")
        above = np.full(len(index), NO_PARENT, dtype=np.int64)
        has_parent = parents != NO_PARENT
        above[rows[has_parent]] = tree.snapshot.current[parents[has_parent]]
        self.parent: Rows = above
        self.depth: NDArray[np.int64] = index["depth"].astype(np.int64)
        shown = rows if kept is None else rows[self._with_ancestors(rows, kept)[rows]]
        self._arrange(shown)

    def _with_ancestors(self, rows: Rows, kept: Mask) -> Mask:
        """The kept rows and all above them, level by level from the deepest."""
        shown = kept.copy()
        level = rows[kept[rows]]
        while len(level):
            level = np.unique(self.parent[level])
            level = level[level != NO_PARENT]
            level = level[~shown[level]]
            shown[level] = True
        return shown

    def _arrange(self, shown: Rows) -> None:
        parents = self.parent[shown]
        order = np.lexsort((self._rank(shown), parents))
        self._children = shown[order]
        counts = np.bincount(parents - NO_PARENT, minlength=len(self.parent) + 1)
        ends = np.cumsum(counts)  # the roots stand first, then the children of row 0, and so on
        self._roots_stop, self._start, self._stop = int(ends[0]), ends[:-1], ends[1:]

    def _rank(self, rows: Rows) -> NDArray[np.int64] | NDArray[np.float64]:
        birth = self.tree.birth[rows]
        if self.order == "utility":  # what is not a number is sorted behind all that is
            return birth if self.utility is None else self.utility[birth]
        if self.order == "birth":
            return birth
        if self.order == "newest":
            newest: Rows = -birth
            return newest
        if self.order == "children":
            parents = self.parent[self.tree.rows]
            counts = np.bincount(parents[parents != NO_PARENT], minlength=len(self.parent))
            most: Rows = -counts[rows]
            return most
        column = 0 if self.order == "hits" else 1
        counted: Rows = -self.tree.snapshot.counters[birth, column].astype(np.int64)
        return counted

    def utility_text(self, row: int) -> str:
        """What a node was worth, behind its hits: as wide for all nodes of a tree that has any."""
        if self.utility is None:
            return ""
        worth = self.utility[self.tree.birth[row]]
        return "    ·" if np.isnan(worth) else f" {worth:.2f}"

    @property
    def roots(self) -> Rows:
        """The roots that are shown."""
        return self._children[: self._roots_stop]

    def children(self, row: int) -> Rows:
        """A node's children that are shown."""
        return self._children[self._start[row] : self._stop[row]]

    def block(self, row: int, size: int) -> Rows:
        """A node among its siblings that are shown: the block of `size` that it stands in."""
        parent = int(self.parent[row])
        siblings = self.roots if parent == NO_PARENT else self.children(parent)
        place = int(np.flatnonzero(siblings == row)[0])
        return siblings[place - place % size :][:size]

    def count(self, row: int) -> int:
        """How many children of a node are shown."""
        return int(self._stop[row] - self._start[row])

    @property
    def preorder(self) -> Rows:
        """All shown nodes as they stand if everything is expanded."""
        return self._layout.preorder

    @cached_property
    def _layout(self) -> FamilyLayout:
        """Where everything stands, found level by level and not node by node."""
        everyone = len(self.parent)
        levels = list(self._levels())
        size = np.ones(everyone, dtype=np.int64)
        for level in reversed(levels[1:]):
            np.add.at(size, self.parent[level], size[level])
        before = np.concatenate(([0], np.cumsum(size[self._children])))
        among_all = np.zeros(everyone, dtype=np.int64)
        among_all[self._children] = before[:-1]
        place = among_all.copy()
        for level in levels[1:]:
            above = self.parent[level]
            place[level] = place[above] + 1 + among_all[level] - before[self._start[above]]
        reached = np.concatenate(levels) if levels else self._children[:0]
        preorder = np.zeros(len(reached), dtype=np.int64)
        preorder[place[reached]] = reached
        return FamilyLayout(preorder, place, size)

    def _levels(self) -> Iterator[Rows]:
        """The roots, their children, theirs and so on; what no root leads to is left out."""
        level = self.roots
        while len(level):
            yield level
            start, counts = self._start[level], self._stop[level] - self._start[level]
            ends = np.cumsum(counts)
            shift = np.repeat(start - (ends - counts), counts)
            level = self._children[shift + np.arange(ends[-1])]

    def unfold(self, rows: Rows, expanded: Collection[int] | None) -> Rows:
        """Some siblings with all that is visible below them, from the top down.

        Args:
            rows: Siblings, as `roots` or `children` has them.
            expanded: The rows that are expanded; all if None.
        """
        if not len(rows) or (expanded is not None and not expanded):
            return rows.copy()
        layout, last = self._layout, rows[-1]
        begin = layout.place[rows[0]]
        block = layout.preorder[begin : layout.place[last] + layout.size[last]]
        if expanded is None:
            return block.copy()
        # Below a node that is shut, one more is in the way; its block's end takes it back.
        shut = block[(layout.size[block] > 1) & ~self.mask(expanded)[block]]
        places = layout.place[shut] - begin
        in_the_way = np.zeros(len(block) + 1, dtype=np.int64)
        np.add.at(in_the_way, places + 1, 1)
        np.add.at(in_the_way, places + layout.size[shut], -1)
        visible: Rows = block[np.cumsum(in_the_way[:-1]) == 0]
        return visible

    def mask(self, rows: Collection[int]) -> Mask:
        """Some rows as true among all."""
        mask = np.zeros(len(self.parent), dtype=bool)
        mask[np.fromiter(rows, np.int64, len(rows))] = True
        return mask

    def parents(self, among: Collection[int] | None = None) -> set[int]:
        """Those of some rows, or of all that are shown, that have children."""
        has_children = self._stop > self._start
        if among is not None:
            has_children &= self.mask(among)
        return set(np.flatnonzero(has_children).tolist())

    def rows_of(self, ids: Sequence[str]) -> set[int]:
        """The rows that nodes have now, by their ids; those that are gone are left out."""
        if not ids:
            return set()
        snapshot = self.tree.snapshot
        births = np.flatnonzero(np.isin(snapshot.index["id"], np.array(ids, dtype="S16")))
        return set(snapshot.current[births].tolist())

    def ancestors(self, row: int) -> list[int]:
        """All above a node, the parent first."""
        found: list[int] = []
        while (row := int(self.parent[row])) != NO_PARENT and len(found) <= len(self.parent):
            found.append(row)
        return found
