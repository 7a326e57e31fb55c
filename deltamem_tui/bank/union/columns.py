"""What the nodes of one tree claim, as columns, and what becomes of claims that clash.

A node's line claims a parent, and that the node lives. Banks that were changed apart can
claim what does not go together: a node below one that the other bank deleted, or two nodes
below each other. The claims are what a merge joins and what lines keep; what holds is a pure
function of all claims together, so it does not depend on the order of merges:

- a node lives if it and all above it claim to live: a deletion takes all below along;
- of nodes below each other, the one with the greatest id becomes a root;
- depth and kind follow from the parents.

Where a line has to say something else than its node claims, it keeps the claim in `meant`.
A person's later change of the node writes a line without it: what was seen is accepted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from deltamem_tui.bank import tree_index
from deltamem_tui.bank.codec import Meant
from deltamem_tui.bank.collection import DEPTH_LIMIT
from deltamem_tui.bank.table import Rows, TableSnapshot
from deltamem_tui.bank.tree_index import Keys, key, keys, places
from deltamem_tui.errors import BankCorruptError, BankError

Flags = NDArray[np.bool_]


@dataclass(slots=True)
class Claims:
    """The nodes of one bank's tree in order of birth, the deleted too.

    Attributes:
        snapshot: The table that they lie on.
        births: The rows of their first lines. int64 [nodes].
        rows: The rows of their last lines. int64 [nodes].
        ids: uint64 [nodes].
        parents: Their parents' ids, where they are not roots. uint64 [nodes].
        roots: Whether they have no parent. bool [nodes].
        deleted: Whether the line is a tombstone by itself. bool [nodes].
        failure: Whether the label is `failure`. bool [nodes].
        consolidated: bool [nodes].
        displaced: Whether the line says something else than it claims. bool [nodes].
    """

    snapshot: TableSnapshot
    births: Rows
    rows: Rows
    ids: Keys
    parents: Keys
    roots: Flags
    deleted: Flags
    failure: Flags
    consolidated: Flags
    displaced: Flags
    _order: Rows | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def lines_of(self, place: int) -> list[int]:
        """Return the rows of all lines of a node, the earliest first."""
        first = self.snapshot.index["first"]
        if self._order is None:
            self._order = np.argsort(first, kind="stable")
        birth = int(self.births[place])
        start, stop = np.searchsorted(first, [birth, birth + 1], sorter=self._order)
        return [int(row) for row in self._order[start:stop]]


def read(snapshot: TableSnapshot) -> Claims:
    """Return what a bank's tree claims, by its index, and by those lines that keep a claim
    aside.
    """
    index = snapshot.index
    births = snapshot.births
    rows = snapshot.current[births]
    every = keys(index["id"])
    above = index["parent"][rows]
    if len(above) and (int(above.max()) >= len(index) or int(above.min()) < -1):
        raise snapshot.table.corrupt("the index names a parent that is not there")
    claims = Claims(
        snapshot=snapshot,
        births=births,
        rows=rows,
        ids=every[births],
        parents=every[np.maximum(above, 0)] if len(rows) else every,
        roots=above < 0,
        deleted=index["deleted"][rows],
        failure=index["failure"][rows],
        consolidated=index["consolidated"][rows],
        displaced=np.zeros(len(rows), dtype=np.bool_),
    )
    for place in np.flatnonzero(np.isin(rows, tree_index.displaced_rows(snapshot))).tolist():
        _take_claim(claims, place)
    return claims


def _take_claim(claims: Claims, place: int) -> None:
    meant = meant_by(claims.snapshot, int(claims.rows[place]))
    claims.displaced[place] = meant != Meant()
    if meant.parent is not UNSET:
        claims.roots[place] = meant.parent is None
        claims.parents[place] = 0 if meant.parent is None else key(meant.parent)
    if meant.deleted is not UNSET:
        claims.deleted[place] = meant.deleted


def meant_by(snapshot: TableSnapshot, row: int) -> Meant:
    """Return what a line keeps aside: the `parent` and `deleted` that its node claims."""
    (record,) = tree_index.parse(snapshot.table, [snapshot.line(row)], [row])
    return Meant() if record.meant is UNSET else record.meant


@dataclass(frozen=True, slots=True)
class Resolution:
    """What holds when all claims are taken together.

    Attributes:
        above: The place of each node's parent; the number of nodes for a root. int64 [nodes].
        living: bool [nodes].
        depth: 1 for a root. That of a node that does not live may be more than a line may say.
            int64 [nodes].
        loosened: Nodes that claim a parent but became roots, to break a circle. bool [nodes].
    """

    above: Rows
    living: Flags
    depth: Rows
    loosened: Flags


def resolution(ids: Keys, parents: Keys, roots: Flags, deleted: Flags) -> Resolution:
    """Return what holds of some claims; the columns are as in `Claims`, each id once.

    Raises:
        BankCorruptError: A parent is not among the nodes.
        BankError: The tree is deeper than any bank may be.
    """
    above = _parents_places(ids, parents, roots)
    living = with_all_above(above, ~deleted)
    loosened = np.zeros(len(ids), dtype=np.bool_)
    depth, endless = _depths(above)
    if endless.any():
        _loosen(ids, above, endless, loosened)
        depth, _ = _depths(above)
    if len(depth) and int(depth[living].max(initial=0)) > DEPTH_LIMIT:
        raise BankError(
            f"the tree would be deeper than the {DEPTH_LIMIT:,} levels it may be",
            hint="move a chain nearer to its root in one of the banks first",
        )
    return Resolution(above, living, depth, loosened)


def _parents_places(ids: Keys, parents: Keys, roots: Flags) -> Rows:
    """Return where each node's parent stands; behind the last node for a root."""
    above: Rows = np.full(len(ids), len(ids), dtype=np.int64)
    above[~roots] = places(ids, parents[~roots])
    if (above < 0).any():
        raise BankCorruptError("a node's parent does not exist", hint="`deltamem verify` names it")
    return above


def with_all_above(above: Rows, claimed: Flags) -> Flags:
    """Return which nodes claim something together with all above them, circles included."""
    holds = np.append(claimed, True)
    jump = np.append(above, len(above))
    # Each round looks twice as far up; no way up is longer than there are nodes.
    for _ in range(max(len(above), 1).bit_length()):
        holds &= holds[jump]
        jump = jump[jump]
        if (jump == len(above)).all():
            break
    return holds[:-1]


def _depths(above: Rows) -> tuple[Rows, Flags]:
    """Return how deep each node stands, and which have no way up that ends. int64 and bool
    [nodes].
    """
    depth = np.append(np.ones(len(above), dtype=np.int64), 0)
    jump = np.append(above, len(above))
    for _ in range(max(len(above), 1).bit_length()):
        if (jump == len(above)).all():
            break
        depth += depth[jump]
        jump = jump[jump]
    return depth[:-1], (jump != len(above))[:-1]


def _loosen(ids: Keys, above: Rows, endless: Flags, loosened: Flags) -> None:
    """Make the node with the greatest id of every circle a root, in place."""
    seen: set[int] = set()
    for start in np.flatnonzero(endless).tolist():
        way: dict[int, None] = {}
        place = start
        while place not in seen and place not in way and place != len(above):
            way[place] = None
            place = int(above[place])
        if place in way:
            steps = list(way)
            circle = steps[steps.index(place) :]
            greatest = max(circle, key=lambda each: int(ids[each]))
            above[greatest] = len(above)
            loosened[greatest] = True
        seen.update(way)
