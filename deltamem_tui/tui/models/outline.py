"""An outline: which node of a tree stands on which line.

The lines are two flat arrays, the node's row and its depth; a node is parsed only when its
line is drawn. So a tree of 100,000 nodes opens without building one object a node, and a
node with 50,000 children expands by inserting 50,000 numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank.tree import Tree
from deltamem_tui.bank.tree_index import NO_PARENT
from deltamem_tui.memory.views.filters import Order

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Family:
    """Who is whose child, for a whole tree at once, siblings in a chosen order.

    Args:
        tree: The tree at one commit.
        order: How siblings are sorted.
        kept: Rows to show; a node is shown if it or one below it is kept. All if None.
    """

    def __init__(self, tree: Tree, order: Order = "birth", kept: Mask | None = None) -> None:
        self.tree = tree
        self.order = order
        self.kept = kept
        index = tree.snapshot.index
        rows = tree.rows
        parents = index["parent"][rows]
        if len(rows) and not (parents.min() >= NO_PARENT and parents.max() < len(index)):
            raise tree.snapshot.shelf.corrupt("the index names a parent that is not there")
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
        sorted_parents = parents[order]
        everyone = np.arange(len(self.parent), dtype=np.int64)
        self._start = np.searchsorted(sorted_parents, everyone, side="left")
        self._stop = np.searchsorted(sorted_parents, everyone, side="right")
        self._roots_stop = int(np.searchsorted(sorted_parents, NO_PARENT, side="right"))

    def _rank(self, rows: Rows) -> NDArray[np.int64]:
        birth = self.tree.birth[rows]
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

    @property
    def roots(self) -> Rows:
        """The roots that are shown."""
        return self._children[: self._roots_stop]

    def children(self, row: int) -> Rows:
        """A node's children that are shown."""
        return self._children[self._start[row] : self._stop[row]]

    def count(self, row: int) -> int:
        """How many children of a node are shown."""
        return int(self._stop[row] - self._start[row])

    @property
    def shown(self) -> int:
        """How many nodes are shown if everything is expanded."""
        return len(self._children)

    @cached_property
    def preorder(self) -> Rows:
        """All shown nodes as they stand if everything is expanded."""
        return self.unfold(self.roots, None)

    def unfold(self, rows: Rows, expanded: Collection[int] | None) -> Rows:
        """Some siblings with all that is visible below them, from the top down.

        Args:
            rows: Siblings.
            expanded: The rows that are expanded; all if None.
        """
        if expanded is not None and not expanded:
            return rows.copy()
        found: list[int] = []
        waiting = rows[::-1].tolist()
        while waiting:
            row = waiting.pop()
            found.append(row)
            if expanded is None or row in expanded:
                waiting.extend(self.children(row)[::-1].tolist())
        return np.array(found, dtype=np.int64)

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


class Outline:
    """The lines of one tree's outline.

    Attributes:
        family: Who is whose child.
        rows: Per line, its node's row.
        expanded: The rows that are expanded.
    """

    def __init__(self, family: Family, expanded: Collection[int] = ()) -> None:
        self.family = family
        self.expanded = {row for row in expanded if family.count(row)}
        self.rows: Rows = family.unfold(family.roots, self.expanded)

    def __len__(self) -> int:
        return len(self.rows)

    def line_of(self, row: int) -> int | None:
        """The line on which a node stands; None if it is not visible."""
        found = np.flatnonzero(self.rows == row)
        return int(found[0]) if len(found) else None

    def depth(self, line: int) -> int:
        """The depth of the node on a line."""
        return int(self.family.depth[self.rows[line]])

    def expand(self, line: int) -> bool:
        """Show a node's children. Returns whether anything changed."""
        row = int(self.rows[line])
        if row in self.expanded or not self.family.count(row):
            return False
        self.expanded.add(row)
        below = self.family.unfold(self.family.children(row), self.expanded)
        self.rows = np.insert(self.rows, line + 1, below)
        return True

    def expand_lone(self, line: int) -> bool:
        """Show a node's children, and theirs, for as long as there is only one."""
        row = int(self.rows[line])
        if row in self.expanded:
            return False
        below = row
        while self.family.count(below) == 1:
            below = int(self.family.children(below)[0])
            if self.family.count(below):
                self.expanded.add(below)
        return self.expand(line)

    def expand_below(self, line: int) -> bool:
        """Show all below a node."""
        row = int(self.rows[line])
        self.collapse(line)
        below = self.family.unfold(self.family.children(row), None)
        self.expanded.update(each for each in [row, *below.tolist()] if self.family.count(each))
        self.rows = np.insert(self.rows, line + 1, below)
        return bool(len(below))

    def collapse(self, line: int) -> bool:
        """Hide all below a node. Returns whether anything changed."""
        row = int(self.rows[line])
        if row not in self.expanded:
            return False
        self.expanded.discard(row)
        shallow = np.flatnonzero(self.family.depth[self.rows[line + 1 :]] <= self.depth(line))
        end = line + 1 + int(shallow[0]) if len(shallow) else len(self.rows)
        self.rows = np.concatenate([self.rows[: line + 1], self.rows[end:]])
        return True

    def collapse_all(self) -> None:
        """Show the roots only."""
        self.expanded.clear()
        self.rows = self.family.roots.copy()

    def parent_line(self, line: int) -> int:
        """The line of a node's parent; the same line for a root."""
        parent = int(self.family.parent[self.rows[line]])
        found = None if parent == NO_PARENT else self.line_of(parent)
        return line if found is None else found

    def root_line(self, line: int) -> int:
        """The line of a node's root."""
        above = self.family.ancestors(int(self.rows[line]))
        found = self.line_of(above[-1]) if above else None
        return line if found is None else found

    def reveal(self, row: int) -> int | None:
        """Expand all above a node. Returns its line; None if the filter hides it."""
        above = self.family.ancestors(row)[::-1]
        for each in above:
            line = self.line_of(each)
            if line is None:
                return None
            self.expand(line)
        return self.line_of(row)

    def seek(self, wanted: Mask, line: int, direction: int) -> int | None:
        """The nearest wanted node after or before a line, also among what is collapsed.

        It goes round at the end.

        Returns:
            The node's row; None if no node is wanted.
        """
        order = self.family.preorder
        found = np.flatnonzero(wanted[order])
        if not len(found):
            return None
        here = int(np.flatnonzero(order == self.rows[line])[0]) if len(self.rows) else -1
        if direction > 0:
            place = int(np.searchsorted(found, here, side="right")) % len(found)
        else:
            place = int(np.searchsorted(found, here, side="left")) - 1
        return int(order[found[place]])
