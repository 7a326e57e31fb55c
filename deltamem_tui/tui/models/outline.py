"""An outline: which node of a tree stands on which line.

The lines are two flat arrays, the node's row and its depth; a node is parsed only when its
line is drawn. So a tree of 100,000 nodes opens without building one object a node, and a
node with 50,000 children expands by inserting 50,000 numbers.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import numpy as np

from deltamem_tui.bank.tree_index import NO_PARENT
from deltamem_tui.tui.models.family import Family, Mask, Rows

Novelty = Literal["added", "changed"]
"""What became of a node of which an outline says that it is new."""

_NEAR = 200
"""No screen has more lines above the one that is drawn."""


class Outline:
    """The lines of one tree's outline.

    Attributes:
        family: Who is whose child.
        rows: Per line, its node's row.
        expanded: The rows that are expanded.
    """

    def __init__(self, family: Family, expanded: Collection[int] = ()) -> None:
        self.family = family
        self.expanded = family.parents(expanded)
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
        self.expanded |= self.family.parents([row, *below.tolist()])
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

    def sibling_above(self, line: int) -> int | None:
        """The line of the sibling before; None if it is the first, or is far above."""
        begin = max(line - _NEAR, 0)
        depths = self.family.depth[self.rows[begin : line + 1]]
        found = np.flatnonzero(depths[:-1] <= depths[-1])
        if not len(found) or depths[found[-1]] < depths[-1]:
            return None
        return begin + int(found[-1])

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
