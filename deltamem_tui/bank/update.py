"""From a joined collection to what the first bank has to write: lines, index rows, vectors.

A line that says what holds is taken over byte for byte; only where something has to be put right
is a line written anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import orjson
from msgspec.structs import replace
from numpy.typing import NDArray

from deltamem_tui.bank.batch import Batch, checked_line
from deltamem_tui.bank.join import Flags, Join
from deltamem_tui.bank.node import DEPTH_LIMIT, Node
from deltamem_tui.bank.table import Rows, TableSnapshot, wrong_lengths
from deltamem_tui.bank.tree import INDEX_TYPE, NO_PARENT, altered_places, parse_lines, state, texts
from deltamem_tui.errors import BankCorruptError

_PIECE_LINES = 2048


class TreeUpdate:
    """Everything the first of the joined banks has to write.

    Attributes:
        join: The joined collection.
        before: How many nodes the bank has already; they are the first of the join.
        new: The places of the nodes that it gets, each behind its parent. int64.
        revised: The places of the nodes it has that get another line. int64.
        lived: Whether a node lives in the bank so far. bool [nodes].
    """

    def __init__(self, join: Join) -> None:
        self.join = join
        self.before = len(join.sides[0].births)
        self._fits = self._lines_that_fit()
        changed = ~self._fits | (join.claims["source"] > 0)
        self.revised: Rows = np.flatnonzero(changed[: self.before])
        self.new: Rows = self._parents_first(np.arange(self.before, len(join)))
        self.lived: Flags = np.zeros(len(join), dtype=np.bool_)
        first = join.sides[0]
        self.lived[: self.before] = ~first.index["deleted"][first.current[first.births]]

    @property
    def written(self) -> Rows:
        """All places that get a line, in the order of the lines. int64."""
        return np.concatenate([self.new, self.revised])

    def write(self, batch: Batch) -> Rows:
        """Put the lines, index rows and vectors into a batch, as they are: `check` looks first.

        Returns:
            The row of each node's first line, in the order of the join. int64 [nodes].
        """
        births: Rows = np.empty(len(self.join), dtype=np.int64)
        births[: self.before] = self.join.sides[0].births
        births[self.new] = batch.next_row(self.join.tree) + np.arange(len(self.new))
        lines = [self._line(place) for place in self.written.tolist()]
        batch.extend(self.join.tree, lines, self._index(births), self._vectors())
        return births

    def check(self) -> None:
        """See that what is taken from other banks is what their indexes say, and sound.

        Raises:
            BankCorruptError: A line is not a node, was altered although it says otherwise,
                contradicts the index, or its vector is not a unit vector.
        """
        claims = self.join.claims[self.written]
        for number, side in enumerate(self.join.sides[1:], start=1):
            rows = np.sort(claims["row"][claims["source"] == number])
            for start in range(0, len(rows), _PIECE_LINES):
                _check(side, rows[start : start + _PIECE_LINES])

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

    def _vectors(self) -> Iterator[NDArray[np.float32]]:
        for start in range(0, len(self.written), _PIECE_LINES):
            yield self.join.vectors(self.written[start : start + _PIECE_LINES])


def _check(snapshot: TableSnapshot, rows: Rows) -> None:
    """See that lines from another bank are nodes as they were born, unless they say that they were
    changed, that its index says of them what they say, and their vectors.
    """
    table = snapshot.table
    records = parse_lines(table, snapshot.lines(rows), rows.tolist())
    for place in altered_places(table, records):
        message = f"node {records[place].id} does not say what its id was made from"
        raise table.corrupt(message, f"line {int(rows[place]) + 1}")
    entries = snapshot.index[rows]
    stated = entries.copy()
    state(stated, records)
    parents = snapshot.index["id"][np.maximum(entries["parent"], 0)].astype("S16")
    parents[entries["parent"] < 0] = b""
    named = np.array([record.parent or "" for record in records], dtype="S16")
    for place in np.flatnonzero((entries != stated) | (parents != named)).tolist():
        raise table.corrupt("the index contradicts the line", f"line {int(rows[place]) + 1}")
    for place, _ in wrong_lengths(np.asarray(snapshot.vectors[rows])):
        raise BankCorruptError(
            "a vector is not of unit length",
            source=str(table.vectors_file.path) if table.vectors_file else None,
            position=f"row {int(rows[place])}",
            hint="`deltamem bank verify` shows more",
        )
