"""An outline: which node of a tree stands on which line.

The lines are two flat arrays, the node's row and its depth; a node is parsed only when its
line is drawn. So a tree of 100,000 nodes opens without building one object a node, and a
node with 50,000 children expands by inserting 50,000 numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.tree import NO_PARENT, Tree
from deltamem_tui.memory.credit.credit import usefulness
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.methods import display_of, is_shown
from deltamem_tui.memory.views.filters import Filter, Language, Order, matching

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class FamilyLayout:
    """Positions of the nodes of a family if everything is expanded.

    Attributes:
        preorder: The rows from the top down.
        place: Per row, its place among them.
        size: Per row, how many nodes it is with all below it; they follow it in `preorder`.
    """

    preorder: Rows
    place: Rows
    size: Rows


class Family:
    """Parents and children of a whole tree at once, siblings in a chosen order.

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

    @property
    def preorder(self) -> Rows:
        """All shown nodes as they stand if everything is expanded."""
        return self._layout.preorder

    @cached_property
    def _layout(self) -> FamilyLayout:
        """Positions of everything, found level by level and not node by node."""
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
        """Return the roots, their children, theirs and so on; what no root leads to is left out."""
        level = self.roots
        while len(level):
            yield level
            start, counts = self._start[level], self._stop[level] - self._start[level]
            ends = np.cumsum(counts)
            shift = np.repeat(start - (ends - counts), counts)
            level = self._children[shift + np.arange(ends[-1])]

    def unfold(self, rows: Rows, expanded: Collection[int] | None) -> Rows:
        """Return some siblings with all that is visible below them, from the top down."""
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
        """Return some rows as true among all."""
        mask = np.zeros(len(self.parent), dtype=bool)
        mask[np.fromiter(rows, np.int64, len(rows))] = True
        return mask

    def parents(self, among: Collection[int] | None = None) -> set[int]:
        """Return those of some rows, or of all that are shown, that have children."""
        has_children = self._stop > self._start
        if among is not None:
            has_children &= self.mask(among)
        return set(np.flatnonzero(has_children).tolist())

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

    @classmethod
    def of(cls, language: Language, text: str, order: OrderT) -> Arrangement[OrderT]:
        """Return the arrangement by a filter as it was typed."""
        return cls(text, language.parse(text), order)


NodeArrangement = Arrangement[Order]

ALL_NODES: NodeArrangement = Arrangement("", Filter(), "birth")


@dataclass(frozen=True, slots=True)
class ArrangedNodes:
    """The trees of a bank, filtered and sorted.

    Attributes:
        arrangement: Filter and order.
        families: Per tree, who is whose child.
        displays: Per tree that is shown, how; one that is never asked is not while it is empty.
    """

    arrangement: NodeArrangement
    families: Mapping[str, Family]
    displays: Mapping[str, Display]


def arrange(bank: Bank, arrangement: NodeArrangement, stopped: Callable[[], bool]) -> ArrangedNodes:
    """Filter and sort the trees."""
    wanted, families = arrangement.wanted, {}

    def due(tree: Tree) -> Mask:
        from deltamem_tui.memory.methods import method_of  # only when it is asked

        return method_of(bank).due_rows(bank, tree)

    for name, tree in bank.trees.items():
        useful = usefulness(bank, name)
        kept = None if wanted.empty else matching(tree, wanted, due, stopped, useful)
        utility = useful.utility if useful.judged.any() else None
        families[name] = Family(tree, arrangement.order, kept, utility)
        if kept is not None:
            _ = families[name].preorder  # laid out here: all of it is shown at once
    displays = {name: display_of(bank, name) for name in families if is_shown(bank, name)}
    return ArrangedNodes(arrangement, families, displays)


class Outline:
    """The lines of one tree's outline."""

    def __init__(self, family: Family, expanded: Collection[int] = ()) -> None:
        self.family = family
        self.expanded = family.parents(expanded)
        self.rows: Rows = family.unfold(family.roots, self.expanded)

    def __len__(self) -> int:
        return len(self.rows)

    def line_of(self, row: int) -> int | None:
        """Return the line on which a node stands; None if it is not visible."""
        found = np.flatnonzero(self.rows == row)
        return int(found[0]) if len(found) else None

    def depth(self, line: int) -> int:
        """Return the depth of the node on a line."""
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

    def below(self, line: int) -> list[int]:
        """Return the rows of all that is below a node, shown or not."""
        rows: list[int] = self.family.unfold(
            self.family.children(int(self.rows[line])), None
        ).tolist()
        return rows

    def expand_below(self, line: int) -> None:
        """Show all below a node."""
        row = int(self.rows[line])
        self.collapse(line)
        below = self.family.unfold(self.family.children(row), None)
        self.expanded |= self.family.parents([row, *below.tolist()])
        self.rows = np.insert(self.rows, line + 1, below)

    def collapse_below(self, line: int) -> None:
        """Hide all below a node, and forget what was expanded there."""
        below = self.below(line)
        self.collapse(line)
        self.expanded.difference_update(below)

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

    def parent_line(self, line: int) -> int:
        """Return the line of a node's parent; the same line for a root."""
        parent = int(self.family.parent[self.rows[line]])
        found = None if parent == NO_PARENT else self.line_of(parent)
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

    def seek(self, wanted: Mask, line: int) -> int | None:
        """Return the row of the next wanted node, also among what is collapsed; it goes round.

        None if no node is wanted.
        """
        order = self.family.preorder
        found = np.flatnonzero(wanted[order])
        if not len(found):
            return None
        here = int(np.flatnonzero(order == self.rows[line])[0]) if len(self.rows) else -1
        place = int(np.searchsorted(found, here, side="right")) % len(found)
        return int(order[found[place]])
