"""Joining one tree of several banks by id: which line of each node counts.

The higher revision wins. At equal revisions a tombstone wins, then the greater digest of
what the lines say; both is arbitrary but the same everywhere, and is reported as a conflict.
`consolidated` does not depend on revisions: a chain that was fused in one bank was fused. So the
join is the greatest of a total order, and needs no order of merging.

Lines that are equal byte for byte need no look; only the others are parsed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import orjson
from msgspec import UNSET
from msgspec.structs import asdict, replace

from deltamem_tui.bank.collection import Collection
from deltamem_tui.bank.node import REVISION_LIMIT, Node
from deltamem_tui.bank.table import Rows, TableSnapshot
from deltamem_tui.bank.tree_index import places, texts
from deltamem_tui.bank.union import columns
from deltamem_tui.bank.union.columns import Claims, Flags, Resolution
from deltamem_tui.errors import BankError

ConflictKind = Literal["tie", "overtaken"]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A node that two banks changed apart.

    Attributes:
        tree: The tree's name.
        kind: `tie` at equal revisions; `overtaken` if the other bank went on from another
            state than this one's, and further.
        kept: The node as it counts.
        kept_from: Which of the banks that is from.
        lost: The node as it does not.
        lost_from: Which of the banks that is from.
    """

    tree: str
    kind: ConflictKind
    kept: Node
    kept_from: int
    lost: Node
    lost_from: int


@dataclass(frozen=True, slots=True)
class _State:
    """What a line says, to be compared with another of the same id."""

    node: Node
    parent: str | None
    deleted: bool
    digest: bytes

    @property
    def rank(self) -> tuple[int, bool, bytes]:
        return (self.node.revision, self.deleted, self.digest)


_TAKEN = ("ids", "rows", "parents", "roots", "deleted", "failure", "consolidated")
"""The columns of a join that are those of the sides' claims."""


class Join:
    """One tree of several banks, joined one after another. The first one's nodes come first.

    Attributes:
        tree: The tree's name.
        sides: The banks' claims, in order.
        ids: The nodes. uint64 [nodes].
        source: Which side's line counts. int64 [nodes].
        place: Which of that side's nodes it is. int64 [nodes].
        rows: The row of that line there. int64 [nodes].
        parents, roots, deleted, failure: What that line claims, as in `Claims`.
        consolidated: Whether any line says so. bool [nodes].
        hung: Roots that were hung below another by this merge. bool [nodes].
        conflicts: The nodes that two banks changed apart.
    """

    def __init__(self, tree: str, first: TableSnapshot) -> None:
        side = columns.read(first)
        self.tree = tree
        self.sides = [side]
        self.ids = side.ids
        self.source: Rows = np.zeros(len(side), dtype=np.int64)
        self.place: Rows = np.arange(len(side), dtype=np.int64)
        self.rows = side.rows.copy()
        self.parents = side.parents.copy()
        self.roots = side.roots.copy()
        self.deleted = side.deleted.copy()
        self.failure = side.failure.copy()
        self.consolidated = side.consolidated.copy()
        self.hung: Flags = np.zeros(len(side), dtype=np.bool_)
        self.conflicts: list[Conflict] = []
        self._holding: Resolution | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def collection(self) -> Collection:
        """What the nodes consist of."""
        return self.sides[0].snapshot.table.collection

    @property
    def resolution(self) -> Resolution:
        """What holds of the nodes joined so far."""
        if self._holding is None:
            self._holding = columns.resolution(self.ids, self.parents, self.roots, self.deleted)
        return self._holding

    def add(self, side: Claims, left_out: Flags | None = None) -> None:
        """Join another bank's tree, but for nodes that are left out: bool [nodes of the side].

        With a node, all that claim a place below it must be left out too.
        """
        number = len(self.sides)
        self.sides.append(side)
        taken = np.flatnonzero(~left_out) if left_out is not None else np.arange(len(side))
        known = places(self.ids, side.ids[taken])
        shared = known >= 0
        for here, there in zip(known[shared].tolist(), taken[shared].tolist(), strict=True):
            self._meet(here, number, there)
        new = taken[~shared]
        self.source = np.concatenate([self.source, np.full(len(new), number, dtype=np.int64)])
        self.place = np.concatenate([self.place, new])
        for name in _TAKEN:
            setattr(self, name, np.concatenate([getattr(self, name), getattr(side, name)[new]]))
        self.hung = np.concatenate([self.hung, np.zeros(len(new), dtype=np.bool_)])
        self._holding = None

    def hang(self, children: Rows, parents: Rows) -> None:
        """Hang roots below other nodes: a change of this merge's own, one revision on.

        Raises:
            BankError: A root was revised as often as a node may be.
        """
        for child in children.tolist():
            if self.node(child).revision >= REVISION_LIMIT:
                raise BankError(
                    f"node {self.id(child)} was changed {REVISION_LIMIT:,} times, as often "
                    "as a node may be, and cannot hang below another",
                    hint="`--near-policy keep` leaves it a root",
                )
        self.roots[children] = False
        self.parents[children] = self.ids[parents]
        self.hung[children] = True
        self._holding = None

    def line(self, place: int) -> bytes:
        """Return the line that counts of a node."""
        return self.sides[int(self.source[place])].snapshot.line(int(self.rows[place]))

    def node(self, place: int) -> Node:
        """Return the node as the line that counts has it, claims and all."""
        return self._state(place).node

    def id(self, place: int) -> str:
        """Return a node's id."""
        text: bytes = texts(self.ids[place : place + 1])[0]
        return text.decode()

    def _meet(self, here: int, number: int, there: int) -> None:
        """Another bank has a node too: take the line that counts."""
        side = self.sides[number]
        row = int(side.rows[there])
        if self.line(here) == side.snapshot.line(row):
            return
        mine, other = self._state(here), _read(side, there)
        self.consolidated[here] |= side.consolidated[there]
        if other.rank == mine.rank:
            return
        won = other.rank > mine.rank
        self._note(here, number, there, mine, other, won=won)
        if won:
            self.source[here], self.place[here], self.rows[here] = number, there, row
            self.parents[here], self.roots[here] = side.parents[there], side.roots[there]
            self.deleted[here] = side.deleted[there]
            self.failure[here] = side.failure[there]
            self.hung[here] = False

    def _note(
        self, here: int, number: int, there: int, mine: _State, other: _State, *, won: bool
    ) -> None:
        """Report it if neither line comes of the other."""
        was = int(self.source[here])
        winner, loser = (other, mine) if won else (mine, other)
        kind: ConflictKind = "tie"
        if winner.node.revision > loser.node.revision:
            side, place = (
                (self.sides[number], there) if won else (self.sides[was], int(self.place[here]))
            )
            if not _differed_before(side, place, loser):
                return
            kind = "overtaken"
        self.conflicts.append(
            Conflict(
                tree=self.tree,
                kind=kind,
                kept=winner.node,
                kept_from=number if won else was,
                lost=loser.node,
                lost_from=was if won else number,
            )
        )

    def _state(self, place: int) -> _State:
        state = _read(self.sides[int(self.source[place])], int(self.place[place]))
        if not self.hung[place]:
            return state
        parent = texts(self.parents[place : place + 1])[0].decode()
        node = replace(state.node, revision=state.node.revision + 1)
        return _state(node, parent, deleted=state.deleted)


def _read(side: Claims, place: int) -> _State:
    return _read_row(side.snapshot, int(side.rows[place]))


def _read_row(snapshot: TableSnapshot, row: int) -> _State:
    node, meant = snapshot.node(row), columns.meant_by(snapshot, row)
    parent = node.parent if meant.parent is UNSET else meant.parent
    deleted = node.deleted if meant.deleted is UNSET else meant.deleted
    return _state(node, parent, deleted=deleted)


def _state(node: Node, parent: str | None, *, deleted: bool) -> _State:
    payload, origin = node.payload, asdict(node.origin)
    if not origin["sources"]:  # as in an id: nodes without any have the digest that they had
        del origin["sources"]
    # What a tombstone said does not matter: compaction takes it away.
    said: list[Any] = [parent] if deleted else [parent, node.label, payload, origin]
    return _State(node, parent, deleted, hashlib.sha256(orjson.dumps(said)).digest())


def _differed_before(side: Claims, place: int, lost: _State) -> bool:
    """Return whether a bank, as far as it still has its lines, never had what one of them
    overtakes.
    """
    earlier = [_read_row(side.snapshot, row) for row in side.lines_of(place)]
    revisions = {each.node.revision for each in earlier}
    said = {(each.deleted, each.digest) for each in earlier}
    return lost.node.revision in revisions and (lost.deleted, lost.digest) not in said
