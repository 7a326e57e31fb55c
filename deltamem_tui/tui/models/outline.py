"""An outline: which node is on which line; a node is parsed when its line is drawn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.tree import NO_PARENT, Tree
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.episodes.credit import utilities
from deltamem_tui.memory.filters import Filter, Order, matching
from deltamem_tui.memory.method import display_of, is_shown

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Family:
    """Parents and children of a whole tree at once, siblings in a chosen order.

    Shown are the rows that are `kept`, with all above them; all of them if it is None. `utility`
    is what each node was worth, by the row of its first line, NaN where that is not known.
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
        """Return the kept rows and all above them, level by level from the deepest."""
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
        newest: Rows = -birth
        if self.order == "newest":
            return newest
        most: Rows = -self.tree.snapshot.counters[birth, 0].astype(np.int64)
        return most

    def utility_text(self, row: int) -> str:
        """Return what a node was worth, behind its hits: equally wide for all nodes of a tree."""
        if self.utility is None:
            return ""
        worth = self.utility[self.tree.birth[row]]
        return "    ·" if np.isnan(worth) else f" {worth:.2f}"

    @property
    def roots(self) -> Rows:
        """The roots that are shown."""
        return self._children[: self._roots_stop]

    def children(self, row: int) -> Rows:
        """Return a node's children that are shown."""
        return self._children[self._start[row] : self._stop[row]]

    def count(self, row: int) -> int:
        """Return how many children of a node are shown."""
        return int(self._stop[row] - self._start[row])

    def parents(self, among: Collection[int] | None = None) -> set[int]:
        """Return those of some rows, or of all that are shown, that have children."""
        found = np.flatnonzero(self._stop > self._start).tolist()
        return set(found) if among is None else set(found) & set(among)

    def rows_of(self, ids: Sequence[str]) -> set[int]:
        """Return the rows that nodes have now, by their ids; those that are gone are left out."""
        if not ids:
            return set()
        snapshot = self.tree.snapshot
        births = np.flatnonzero(np.isin(snapshot.index["id"], np.array(ids, dtype="S16")))
        return set(snapshot.current[births].tolist())

    def ancestors(self, row: int) -> list[int]:
        """Return all above a node, the parent first."""
        found: list[int] = []
        while (row := int(self.parent[row])) != NO_PARENT and len(found) <= len(self.parent):
            found.append(row)
        return found


OrderT = TypeVar("OrderT", bound=str)


@dataclass(frozen=True, slots=True)
class Arrangement(Generic[OrderT]):
    """The visible rows, in their order."""

    text: str
    wanted: Filter
    order: OrderT


NodeArrangement = Arrangement[Order]

ALL_NODES: NodeArrangement = Arrangement("", Filter(), "birth")


@dataclass(frozen=True, slots=True)
class ArrangedNodes:
    """The trees of a bank, filtered and sorted."""

    arrangement: NodeArrangement
    families: Mapping[str, Family]
    displays: Mapping[str, Display]


def arrange(bank: Bank, arrangement: NodeArrangement, stopped: Callable[[], bool]) -> ArrangedNodes:
    """Filter and sort the trees."""
    wanted, families = arrangement.wanted, {}
    for name, tree in bank.trees.items():
        kept = None if wanted.empty else matching(tree, wanted, stopped)
        families[name] = Family(tree, arrangement.order, kept, utilities(bank, name))
    displays = {name: display_of(bank, name) for name in families if is_shown(bank, name)}
    return ArrangedNodes(arrangement, families, displays)


class Outline:
    """The lines of one tree's outline."""

    def __init__(self, family: Family, expanded: Collection[int] = ()) -> None:
        self.family = family
        self.expanded = family.parents(expanded)
        self.rows = self._visible(family.roots)

    def __len__(self) -> int:
        return len(self.rows)

    def _visible(self, siblings: Rows) -> Rows:
        """Return some siblings with all that is visible below them, from the top down."""
        if not self.expanded:
            return siblings.copy()
        found, left = list[int](), siblings[::-1].tolist()
        while left:
            found.append(row := left.pop())
            if row in self.expanded:
                left += self.family.children(row)[::-1].tolist()
        return np.array(found, dtype=np.int64)

    def line_of(self, row: int) -> int | None:
        """Return the line on which a node stands; None if it is not visible."""
        found = np.flatnonzero(self.rows == row)
        return int(found[0]) if len(found) else None

    def expand(self, line: int) -> bool:
        """Show a node's children. Returns whether anything changed."""
        row = int(self.rows[line])
        if row in self.expanded or not self.family.count(row):
            return False
        self.expanded.add(row)
        below = self._visible(self.family.children(row))
        self.rows = np.insert(self.rows, line + 1, below)
        return True

    def expand_below(self, line: int) -> bool:
        """Show all below a node. Returns whether there is anything."""
        self.collapse(line)
        below = [int(self.rows[line])]
        for row in below:  # grows while it is walked
            below += self.family.children(row).tolist()
        self.expanded |= self.family.parents(below[1:])
        return self.expand(line)

    def collapse(self, line: int) -> bool:
        """Hide all below a node. Returns whether anything changed."""
        row = int(self.rows[line])
        if row not in self.expanded:
            return False
        self.expanded.discard(row)
        depth = self.family.depth
        shallow = np.flatnonzero(depth[self.rows[line + 1 :]] <= depth[row])
        end = line + 1 + int(shallow[0]) if len(shallow) else len(self.rows)
        self.rows = np.concatenate([self.rows[: line + 1], self.rows[end:]])
        return True

    def parent_line(self, line: int) -> int:
        """Return the line of a node's parent; the same line for a root."""
        found = self.line_of(int(self.family.parent[self.rows[line]]))
        return line if found is None else found

    def reveal(self, row: int) -> int | None:
        """Expand all above a node. Returns its line; None if the filter hides it."""
        for each in self.family.ancestors(row)[::-1]:
            line = self.line_of(each)
            if line is None:
                return None
            self.expand(line)
        return self.line_of(row)
