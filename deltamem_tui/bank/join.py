"""Joining one collection of several banks by id: which line of each node counts, and what holds.

The higher revision wins. At equal revisions a tombstone wins, then the greater digest of what the
lines say; both are arbitrary but the same everywhere, and are reported as conflicts. `consolidated`
does not depend on revisions. So the join is the greatest of a total order, in any order of merging.

A line claims a parent, and that its node lives. Banks that were changed apart can claim what does
not go together, so what holds is a pure function of all claims:

- a node lives if it and all above it claim to live: a deletion takes all below along;
- of nodes below each other, the one with the greatest id becomes a root;
- depth and kind follow from the parents.

A line that has to say something else than its node claims keeps the claim in `meant`. One that
says what holds is taken over byte for byte; only where something is to be put right is a line
written anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import orjson
from msgspec import UNSET
from msgspec.structs import asdict, replace
from numpy.typing import NDArray

from deltamem_tui.bank.batch import Batch, checked_line
from deltamem_tui.bank.node import DEPTH_LIMIT, Meant, Node
from deltamem_tui.bank.table import Rows, TableSnapshot
from deltamem_tui.bank.tree import (
    INDEX_TYPE,
    NO_PARENT,
    Keys,
    displaced_rows,
    key,
    keys,
    parse_lines,
    places,
    texts,
)
from deltamem_tui.errors import BankCorruptError, BankError

_PIECE_LINES = 2048

Flags = NDArray[np.bool_]
Claims = NDArray[Any]
"""Claims of nodes, one row of `CLAIM` each."""

CLAIM = np.dtype(
    [
        ("id", "u8"),
        ("parent", "u8"),  # of a residual
        ("root", "?"),
        ("deleted", "?"),
        ("failure", "?"),
        ("consolidated", "?"),
        ("displaced", "?"),  # whether its line says something else than it claims
        ("row", "i8"),  # of its last line
        ("source", "i8"),  # which bank has that line
    ]
)


def claims_of(snapshot: TableSnapshot, source: int) -> Claims:
    """Return what all nodes of a bank's collection claim, in order of birth, the deleted too."""
    index = snapshot.index
    rows = snapshot.current[snapshot.births]
    last = index[rows]
    above = last["parent"]
    if len(above) and not -1 <= int(above.min()) <= int(above.max()) < len(index):
        raise snapshot.table.corrupt("the index names a parent that is not there")
    claims = np.zeros(len(rows), dtype=CLAIM)
    claims["id"] = keys(last["id"])
    claims["parent"] = keys(index["id"][np.maximum(above, 0)])
    claims["root"] = above < 0
    for name in ("deleted", "failure", "consolidated"):
        claims[name] = last[name]
    claims["row"], claims["source"] = rows, source
    for place in np.flatnonzero(np.isin(rows, displaced_rows(snapshot))).tolist():
        meant = _meant_by(snapshot, int(rows[place]))
        claims["displaced"][place] = meant != Meant()
        if meant.parent is not UNSET:
            claims["root"][place] = meant.parent is None
            claims["parent"][place] = key(meant.parent) if meant.parent else 0
        if meant.deleted is not UNSET:
            claims["deleted"][place] = meant.deleted
    return claims


def _meant_by(snapshot: TableSnapshot, row: int) -> Meant:
    """Return the `parent` and `deleted` that a line keeps aside, which its node claims."""
    (record,) = parse_lines(snapshot.table, [snapshot.line(row)], [row])
    return Meant() if record.meant is UNSET else record.meant


@dataclass(frozen=True, slots=True)
class Resolution:
    """The state that holds when all claims are taken together.

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


def resolution(claims: Claims) -> Resolution:
    """Return what holds of some claims, each id once."""
    child = ~claims["root"]
    above: Rows = np.full(len(claims), len(claims), dtype=np.int64)
    above[child] = places(claims["id"], claims["parent"][child])
    if (above < 0).any():
        raise BankCorruptError(
            "a node's parent does not exist", hint="`deltamem bank verify` names it"
        )
    living = with_all_above(above, ~claims["deleted"])
    depth, endless = _depths(above)
    loosened = _loosened(claims["id"], above, endless)
    if len(loosened):
        above[loosened] = len(above)
        depth, _ = _depths(above)
    if int(depth[living].max(initial=0)) > DEPTH_LIMIT:
        raise BankError(
            f"the tree would be deeper than the {DEPTH_LIMIT:,} levels it may be",
            hint="move a chain nearer to its root in one of the banks first",
        )
    return Resolution(above, living, depth, np.isin(np.arange(len(claims)), loosened))


def with_all_above(above: Rows, claimed: Flags) -> Flags:
    """Return which nodes claim something together with all above them, circles included."""
    holds = np.append(claimed, True)
    jump = np.append(above, len(above))
    # Each round looks twice as far up; no way up is longer than there are nodes.
    for _ in range(max(len(above), 1).bit_length()):
        holds &= holds[jump]
        jump = jump[jump]
    return holds[:-1]


def _depths(above: Rows) -> tuple[Rows, Flags]:
    """Return how deep each node is, int64, and which have no way up that ends, bool."""
    depth = np.append(np.ones(len(above), dtype=np.int64), 0)
    jump = np.append(above, len(above))
    for _ in range(max(len(above), 1).bit_length()):
        depth += depth[jump]
        jump = jump[jump]
    return depth[:-1], (jump != len(above))[:-1]


def _loosened(ids: Keys, above: Rows, endless: Flags) -> list[int]:
    """Return the node with the greatest id of every circle, which becomes a root."""
    seen: set[int] = set()
    loosened = []
    for start in np.flatnonzero(endless).tolist():
        way, place = list[int](), start
        while place not in seen and place != len(above):
            seen.add(place)
            way.append(place)
            place = int(above[place])
        if place in way:
            loosened.append(max(way[way.index(place) :], key=lambda each: int(ids[each])))
    return loosened


@dataclass(frozen=True, slots=True)
class Conflict:
    """A node that two banks, by their numbers, changed apart: as it counts, and as it does not."""

    tree: str
    kept: Node
    kept_from: int
    lost: Node
    lost_from: int


@dataclass(frozen=True, slots=True)
class _State:
    """The comparable content of a line, for another of the same id."""

    node: Node
    deleted: bool
    digest: bytes
    source: int
    row: int

    @property
    def rank(self) -> tuple[int, bool, bytes]:
        return (self.node.revision, self.deleted, self.digest)


class Join:
    """One collection of several banks, whose tables are the `sides`.

    The `claims` are those of the lines that count, the first bank's nodes first.
    """

    def __init__(self, tree: str, sides: Sequence[TableSnapshot]) -> None:
        self.tree, self.sides = tree, sides
        self.conflicts: list[Conflict] = []
        self.claims = claims_of(sides[0], 0)
        for number, side in enumerate(sides[1:], start=1):
            self._add(claims_of(side, number))

    def __len__(self) -> int:
        return len(self.claims)

    @property
    def ids(self) -> Keys:
        """The nodes' ids. uint64 [nodes]."""
        ids: Keys = np.ascontiguousarray(self.claims["id"])
        return ids

    @cached_property
    def resolution(self) -> Resolution:
        """The state of the joined nodes."""
        return resolution(self.claims)

    def _add(self, claims: Claims) -> None:
        """Join what another bank's nodes claim."""
        known = places(self.ids, np.ascontiguousarray(claims["id"]))
        for here, there in zip(known.tolist(), claims, strict=True):
            if here >= 0:
                self._meet(here, there)
        self.claims = np.concatenate([self.claims, claims[known < 0]])

    def line(self, place: int) -> bytes:
        """Return the line that counts of a node."""
        claim = self.claims[place]
        return self.sides[int(claim["source"])].line(int(claim["row"]))

    def node(self, place: int) -> Node:
        """Return the node as the line that counts has it."""
        claim = self.claims[place]
        return self.sides[int(claim["source"])].node(int(claim["row"]))

    def parent(self, place: int) -> str | None:
        """Return the parent that a node claims; None for a root."""
        claim = self.claims[place : place + 1]
        return None if claim["root"][0] else str(texts(claim["parent"])[0].decode())

    def vectors(self, which: Rows) -> NDArray[np.float32]:
        """Return the vectors of some nodes, read bank by bank. float32 [which, dimensions]."""
        vectors = np.empty((len(which), self.sides[0].vectors.shape[1]), dtype=np.float32)
        claims = self.claims[which]
        for number in np.unique(claims["source"]).tolist():
            mine = claims["source"] == number
            vectors[mine] = self.sides[number].vectors[claims["row"][mine]]
        return vectors

    def _meet(self, here: int, there: np.void) -> None:
        """Another bank has a node too: take the line that counts."""
        source, row = int(there["source"]), int(there["row"])
        if self.line(here) == self.sides[source].line(row):
            return
        claim = self.claims[here]
        mine = self._state(int(claim["source"]), int(claim["row"]))
        other = self._state(source, row)
        consolidated = self.claims["consolidated"][here] | there["consolidated"]
        if other.rank != mine.rank:
            self._note(*((other, mine) if other.rank > mine.rank else (mine, other)))
        if other.rank > mine.rank:
            self.claims[here] = there
        self.claims["consolidated"][here] = consolidated

    def _note(self, winner: _State, loser: _State) -> None:
        """Report it if neither line comes of the other."""
        tie = winner.node.revision == loser.node.revision
        if tie or self._differed_before(winner, loser):
            nodes = winner.node, winner.source, loser.node, loser.source
            self.conflicts.append(Conflict(self.tree, *nodes))

    def _differed_before(self, winner: _State, loser: _State) -> bool:
        """Return whether a bank, by the lines it still has, never had what it overtakes."""
        first = self.sides[winner.source].index["first"]
        rows = np.flatnonzero(first == first[winner.row]).tolist()
        earlier = [self._state(winner.source, row) for row in rows]
        return any(each.node.revision == loser.node.revision for each in earlier) and not any(
            (each.deleted, each.digest) == (loser.deleted, loser.digest) for each in earlier
        )

    def _state(self, source: int, row: int) -> _State:
        snapshot = self.sides[source]
        node, meant = snapshot.node(row), _meant_by(snapshot, row)
        parent = node.parent if meant.parent is UNSET else meant.parent
        deleted = node.deleted if meant.deleted is UNSET else meant.deleted
        origin = asdict(node.origin)
        if not origin["sources"]:  # as in an id: nodes without any have the digest that they had
            del origin["sources"]
        # What a tombstone said does not matter: compaction takes it away.
        said = [parent] if deleted else [parent, node.label, node.payload, origin]
        digest = hashlib.sha256(orjson.dumps(said)).digest()
        return _State(node, deleted, digest, source, row)


class Update:
    """Everything the first of the joined banks has to write to one collection.

    Attributes:
        join: The joined collection.
        before: How many nodes the bank has already; they are the first of the join.
        revised: The places of the nodes it has that get another line. int64.
        written: The places of all that get a line: the new nodes, each behind its parent, and
            then the revised. int64.
        lived: Whether a node lives in the bank so far. bool [nodes].
    """

    def __init__(self, join: Join) -> None:
        self.join = join
        self.before = len(join.sides[0].births)
        self._fits = self._lines_that_fit()
        changed = ~self._fits | (join.claims["source"] > 0)
        self.revised: Rows = np.flatnonzero(changed[: self.before])
        self._new: Rows = self._parents_first(np.arange(self.before, len(join)))
        self.written: Rows = np.concatenate([self._new, self.revised])
        self.lived: Flags = np.zeros(len(join), dtype=np.bool_)
        first = join.sides[0]
        self.lived[: self.before] = ~first.index["deleted"][first.current[first.births]]

    def write(self, batch: Batch) -> Rows:
        """Put the lines, index rows and vectors into a batch, as they are: nothing is checked here.

        Returns:
            The row of each node's first line, in the order of the join. int64 [nodes].
        """
        births: Rows = np.empty(len(self.join), dtype=np.int64)
        births[: self.before] = self.join.sides[0].births
        births[self._new] = batch.next_row(self.join.tree) + np.arange(len(self._new))
        lines = [self._line(place) for place in self.written.tolist()]
        pieces = (self.written[at:][:_PIECE_LINES] for at in range(0, len(lines), _PIECE_LINES))
        vectors = map(self.join.vectors, pieces)
        batch.extend(self.join.tree, lines, self._index(births), vectors)
        return births

    def _lines_that_fit(self) -> Flags:
        """Return whether the line that counts of each node already says what holds."""
        join, holds = self.join, self.join.resolution
        claims = join.claims
        fits = np.zeros(len(join), dtype=np.bool_)
        roots = claims["root"] | holds.loosened
        displaced = holds.loosened | (~holds.living & ~claims["deleted"])
        for number, side in enumerate(join.sides):
            mine = np.flatnonzero(claims["source"] == number)
            line = side.index[claims["row"][mine]]
            parents = side.index["id"][np.maximum(line["parent"], 0)]
            claimed = texts(claims["parent"][mine])
            fits[mine] = (
                ((line["parent"] == NO_PARENT) == roots[mine])
                & (roots[mine] | (parents == claimed))
                & (line["deleted"] == ~holds.living[mine])
                & (line["consolidated"] == claims["consolidated"][mine])
                & (claims["displaced"][mine] == displaced[mine])
                & (line["deleted"] | (line["depth"] == holds.depth[mine]))
            )
        return fits

    def _parents_first(self, places: Rows) -> Rows:
        """Return some new nodes in an order in which each comes after its parent."""
        above = self.join.resolution.above[places]
        if ((above < places) | (above == len(self.join))).all():
            return places
        return places[np.argsort(self.join.resolution.depth[places], kind="stable")]

    def _line(self, place: int) -> bytes:
        """Return the line of a node, made anew if it has to say something else than it does."""
        join, holds = self.join, self.join.resolution
        if self._fits[place]:
            return join.line(place) + b"\n"
        node, meant = self._node(place), dict[str, Any]()
        if holds.loosened[place]:
            meant["parent"] = join.parent(place)
        if node.deleted and not join.claims["deleted"][place]:
            meant["deleted"] = False
        aside = b',"meant":' + orjson.dumps(meant) if meant else b""
        return checked_line(join.sides[0].table, node, aside)

    def _node(self, place: int) -> Node:
        """Return a node as it is when all claims are taken together."""
        holds = self.join.resolution
        parent = None if holds.loosened[place] else self.join.parent(place)
        return replace(
            self.join.node(place),
            parent=parent,
            kind="root" if parent is None else "residual",
            depth=int(self._depths[place]),
            consolidated=bool(self.join.claims["consolidated"][place]),
            deleted=not holds.living[place],
        )

    @cached_property
    def _depths(self) -> Rows:
        """The depths that lines state, at most what a line may; a deleted node keeps its own."""
        depths = np.minimum(self.join.resolution.depth, DEPTH_LIMIT)
        claims = self.join.claims
        for number, side in enumerate(self.join.sides):
            kept = (claims["source"] == number) & self._fits
            depths[kept] = side.index["depth"][claims["row"][kept]]
        return depths

    def _index(self, births: Rows) -> NDArray[Any]:
        holds, places = self.join.resolution, self.written
        claims = self.join.claims[places]
        index = np.zeros(len(places), dtype=INDEX_TYPE)
        index["id"] = texts(claims["id"])
        index["first"] = births[places]
        above = holds.above[places]
        roots = above == len(self.join)
        index["parent"] = np.where(roots, NO_PARENT, births[np.where(roots, 0, above)])
        index["depth"] = self._depths[places]
        index["residual"] = ~roots
        index["failure"], index["consolidated"] = claims["failure"], claims["consolidated"]
        index["deleted"] = ~holds.living[places]
        return index
