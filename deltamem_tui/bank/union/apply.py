"""From a joined tree to what a bank has to write so that it holds: lines, index rows, vectors.

A line that says what holds is taken over byte for byte, in runs as long as they come; only
where something has to be put right is a line written anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import orjson
from msgspec.structs import replace
from numpy.typing import NDArray

from deltamem_tui.bank import codec, tree_index
from deltamem_tui.bank.append import VectorRows
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.collection import DEPTH_LIMIT
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.replicas import Values
from deltamem_tui.bank.table import LINE_LIMIT, Rows, TableSnapshot, wrong_lengths
from deltamem_tui.bank.tree_index import INDEX_TYPE, NO_PARENT, keys, texts
from deltamem_tui.bank.union.columns import Flags
from deltamem_tui.bank.union.resolve import Join
from deltamem_tui.errors import BankCorruptError, BankError

_PIECE_LINES = 2048
_PIECE_ROWS = 16_384


class TreeUpdate:
    """What the first of the joined banks has to write.

    Attributes:
        join: The joined tree.
        before: How many nodes the bank has already; they are the first of the join.
        new: The places of the nodes that it gets, each behind its parent. int64.
        revised: The places of the nodes it has that get another line. int64.
        lived: Whether a node lives in the bank so far. bool [nodes].
    """

    def __init__(self, join: Join) -> None:
        self.join = join
        self.before = len(join.sides[0])
        self._fits = self._lines_that_fit()
        changed = ~self._fits | (join.source > 0)
        self.revised: Rows = np.flatnonzero(changed[: self.before])
        self.new: Rows = self._parents_first(np.arange(self.before, len(join)))
        first = join.sides[0]
        self.lived: Flags = np.zeros(len(join), dtype=np.bool_)
        self.lived[: self.before] = ~first.snapshot.index["deleted"][first.rows]

    @property
    def written(self) -> Rows:
        """All places that get a line, in the order of the lines. int64."""
        return np.concatenate([self.new, self.revised])

    def write(self, batch: Batch) -> Rows:
        """Put the lines, index rows and vectors into a batch, as they are: `check` looks first.

        Returns:
            The row of each node's first line, in the order of the join. int64 [nodes].
        """
        births = self._births(batch.next_row(self.join.tree))
        if len(self.written):
            pieces = list(self._pieces())
            batch.extend(
                self.join.tree,
                [line for piece in pieces for line in piece.lines],
                self._index(births),
                list(self._vectors()),
                np.concatenate([piece.sizes for piece in pieces]),
            )
        return births

    def node(self, place: int) -> Node:
        """Return a node as it stands when all claims are taken together."""
        join, holds = self.join, self.join.resolution
        parent = None if holds.loosened[place] else self._claimed_parent(place)
        return replace(
            join.node(place),
            parent=parent,
            kind="root" if parent is None else "residual",
            depth=int(self._depths[place]),
            consolidated=bool(join.consolidated[place]),
            deleted=not holds.living[place],
        )

    def check(self) -> None:
        """See that what is taken from other banks is what their indexes say, and sound.

        Raises:
            BankCorruptError: A line is not a node, was altered although it says otherwise,
                contradicts the index, or its vector is not a unit vector.
        """
        written = self.written
        for number, side in enumerate(self.join.sides[1:], start=1):
            rows = np.sort(self.join.rows[written[self.join.source[written] == number]])
            _check_lines(side.snapshot, rows)
            _check_vectors(side.snapshot, rows)

    def _lines_that_fit(self) -> Flags:
        """Return whether the line that counts of each node already says what holds. bool
        [nodes].
        """
        join, holds = self.join, self.join.resolution
        fits = np.zeros(len(join), dtype=np.bool_)
        roots = join.roots | holds.loosened
        displaced = holds.loosened | (~holds.living & ~join.deleted)
        for number, side in enumerate(join.sides):
            mine = np.flatnonzero(join.source == number)
            place = join.place[mine]
            index = side.snapshot.index[side.rows[place]]
            above = index["parent"]
            parents = keys(side.snapshot.index["id"][np.maximum(above, 0)])
            fits[mine] = (
                ((above == NO_PARENT) == roots[mine])
                & (roots[mine] | (parents == join.parents[mine]))
                & (index["deleted"] == ~holds.living[mine])
                & (index["consolidated"] == join.consolidated[mine])
                & (side.displaced[place] == displaced[mine])
                & (index["deleted"] | (index["depth"] == holds.depth[mine]))
                & ~join.hung[mine]
            )
        return fits

    def _parents_first(self, places: Rows) -> Rows:
        """Return some new nodes in an order in which each stands behind its parent."""
        above = self.join.resolution.above[places]
        if ((above < places) | (above == len(self.join))).all():
            return places
        return places[np.argsort(self.join.resolution.depth[places], kind="stable")]

    def _births(self, start: int) -> Rows:
        births: Rows = np.empty(len(self.join), dtype=np.int64)
        births[: self.before] = self.join.sides[0].births
        births[self.new] = start + np.arange(len(self.new))
        return births

    @cached_property
    def _sizes(self) -> list[NDArray[np.int64]]:
        """Per side, the bytes of each of its lines."""
        sizes = []
        for side in self.join.sides:
            offsets = side.snapshot.index["offset"].astype(np.int64)
            sizes.append(np.diff(offsets, append=side.snapshot.extent.bytes))
        return sizes

    def _runs(self) -> Iterator[tuple[int, Rows, bool]]:
        """Yield the written places in runs: of one side, its rows one behind the other, and
        fitting.
        """
        places = self.written
        join = self.join
        source, fits = join.source[places], self._fits[places]
        rows = self.join.rows[places]
        breaks = (np.diff(source) != 0) | (np.diff(rows) != 1) | (np.diff(fits) != 0)
        for run in np.split(places, np.flatnonzero(breaks) + 1):
            yield int(join.source[run[0]]), run, bool(self._fits[run[0]])

    def _pieces(self) -> Iterator[_Piece]:
        for number, run, fits in self._runs():
            if fits:
                snapshot = self.join.sides[number].snapshot
                rows = self.join.rows[run]
                start = int(snapshot.index["offset"][rows[0]])
                sizes = self._sizes[number][rows]
                yield _Piece([snapshot.text[start : start + int(sizes.sum())]], sizes)
            else:
                lines = [self._line(int(place)) for place in run]
                yield _Piece(lines, np.array([len(line) for line in lines], dtype=np.int64))

    def _line(self, place: int) -> bytes:
        """Return a line anew, that says what holds and keeps what its node claims."""
        join, holds = self.join, self.join.resolution
        node = self.node(place)
        meant: dict[str, Any] = {}
        if holds.loosened[place]:
            meant["parent"] = self._claimed_parent(place)
        if node.deleted and not join.deleted[place]:
            meant["deleted"] = False
        line = codec.to_line(node)
        if meant:
            line = line[:-2] + b',"meant":' + orjson.dumps(meant) + b"}\n"
        if len(line) > LINE_LIMIT:
            raise BankError(f"node {node.id} has more bytes than the {LINE_LIMIT:,} of a line")
        try:
            codec.from_line(line, join.collection, f"{join.tree}.nodes.jsonl", "new line")
        except BankCorruptError as error:
            raise BankError(f"node {node.id} cannot be stored: {error.message}") from error
        return line

    def _claimed_parent(self, place: int) -> str | None:
        if self.join.roots[place]:
            return None
        parent: bytes = texts(self.join.parents[place : place + 1])[0]
        return parent.decode()

    def _index(self, births: Rows) -> NDArray[Any]:
        join, holds, places = self.join, self.join.resolution, self.written
        index = np.zeros(len(places), dtype=INDEX_TYPE)
        index["id"] = texts(join.ids[places])
        index["first"] = births[places]
        above = holds.above[places]
        roots = above == len(join)
        index["parent"] = np.where(roots, NO_PARENT, births[np.where(roots, 0, above)])
        index["depth"] = self._stated_depths(places)
        index["residual"] = ~roots
        index["failure"] = join.failure[places]
        index["consolidated"] = join.consolidated[places]
        index["deleted"] = ~holds.living[places]
        return index

    @cached_property
    def _depths(self) -> Rows:
        """The depth that a new line states of each node; the most it may if it lies deeper."""
        return np.minimum(self.join.resolution.depth, DEPTH_LIMIT)

    def _stated_depths(self, places: Rows) -> Rows:
        """Return the depths that the lines state: what was deleted keeps the one that it had."""
        depths = self._depths[places]
        rows, source = self.join.rows[places], self.join.source[places]
        for number, side in enumerate(self.join.sides):
            kept = (source == number) & self._fits[places]
            depths[kept] = side.snapshot.index["depth"][rows[kept]]
        return depths

    def _vectors(self) -> Iterator[VectorRows]:
        for number, run, _ in self._runs():
            yield VectorRows(self.join.sides[number].snapshot.vectors, self.join.rows[run])


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some lines, in pieces of any number, and the bytes of each."""

    lines: Sequence[bytes | memoryview]
    sizes: NDArray[np.int64]


def _check_lines(snapshot: TableSnapshot, rows: Rows) -> None:
    """Lines from another bank are nodes as they were born, unless they say that they were
    changed, and its index says of them what they say.
    """
    index, table = snapshot.index, snapshot.table
    for start in range(0, len(rows), _PIECE_LINES):
        piece = rows[start : start + _PIECE_LINES]
        records = tree_index.parse(
            table, [snapshot.line(int(row)) for row in piece], piece.tolist()
        )
        for place in tree_index.altered_places(table, records):
            raise table.corrupt(
                f"node {records[place].id} does not say what its id was made from",
                f"line {int(piece[place]) + 1}",
            )
        entries = index[piece]
        stated = entries.copy()
        tree_index.state(stated, records)
        parents = index["id"][np.maximum(entries["parent"], 0)].astype("S16")
        parents[entries["parent"] < 0] = b""
        named = np.array([record.parent or "" for record in records], dtype="S16")
        agree = (entries == stated) & (parents == named)
        if not agree.all():
            row = int(piece[int(np.flatnonzero(~agree)[0])])
            raise table.corrupt("the index contradicts the line", f"line {row + 1}")


def _check_vectors(snapshot: TableSnapshot, rows: Rows) -> None:
    for start in range(0, len(rows), _PIECE_ROWS):
        piece = rows[start : start + _PIECE_ROWS]
        for row, _ in wrong_lengths(np.asarray(snapshot.vectors[piece])):
            matrix = snapshot.table.vectors_file
            raise BankCorruptError(
                "a vector is not of unit length",
                source=str(matrix.path) if matrix else None,
                position=f"row {int(piece[row])}",
                hint="`deltamem verify` shows more",
            )


@dataclass(frozen=True, slots=True)
class TreeChanges:
    """What a merge changes in one tree of the first bank. Ids, in order of birth.

    Attributes:
        added: Living nodes that it gets.
        revised: Living nodes that say something else, or stand elsewhere.
        deleted: Nodes that another bank deleted.
        revived: Nodes that it had deleted, and another bank changed since.
        hidden: Nodes that their own bank has alive, below one that another bank deleted. They
            are kept, and come back when what is above them does.
        loosened: Nodes that became roots because they were moved below each other.
        tombstones: How many deleted nodes it gets that it never had alive.
        left_out: How many nodes were not taken.
        counted: How many nodes get other counts.
        too_deep: How many living nodes stand deeper than the tree's D_max.
    """

    added: tuple[str, ...]
    revised: tuple[str, ...]
    deleted: tuple[str, ...]
    revived: tuple[str, ...]
    hidden: tuple[str, ...]
    loosened: tuple[str, ...]
    tombstones: int
    left_out: int
    counted: int
    too_deep: int


def tree_changes(
    update: TreeUpdate, before: Values, after: Values, *, deepest: int | None, left_out: int
) -> TreeChanges:
    """Return what is going to change."""
    join, holds, lived = update.join, update.join.resolution, update.lived
    new = np.arange(len(join)) >= update.before
    revised = np.zeros(len(join), dtype=np.bool_)
    revised[update.revised] = True
    too_deep = holds.living & (holds.depth > (len(join) if deepest is None else deepest))

    def ids(mask: Flags) -> tuple[str, ...]:
        return tuple(each.decode() for each in texts(join.ids[mask]))

    return TreeChanges(
        added=ids(new & holds.living),
        revised=ids(lived & holds.living & revised),
        deleted=ids(lived & ~holds.living),
        revived=ids(~new & ~lived & holds.living),
        hidden=ids(~holds.living & ~join.deleted),
        loosened=ids(holds.loosened & holds.living),
        tombstones=int((new & join.deleted).sum()),
        left_out=left_out,
        counted=int((before != after).any(axis=1).sum()),
        too_deep=int(too_deep.sum()),
    )
