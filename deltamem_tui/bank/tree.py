"""A tree: the nodes of one shelf as they stand at one commit, found without parsing the file.

A node is addressed by its id, or by its row: the number of its last line. Its first line's
row is its `birth`; parents and counters are kept by birth, so an edit moves neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank import codec, files, regions
from deltamem_tui.bank.node import Node, TreeName
from deltamem_tui.bank.shelf import Rows, Shelf, ShelfSnapshot
from deltamem_tui.errors import BankCorruptError, NodeNotFoundError

NO_PARENT = -1
_PIECE_LINES = 256  # few enough objects at a time that Python does not stop to look for garbage

INDEX_TYPE = np.dtype(
    [
        ("id", "S16"),
        ("offset", "<u8"),
        ("first", "<i8"),
        ("parent", "<i8"),
        ("depth", "<u4"),
        ("failure", "?"),
        ("residual", "?"),
        ("consolidated", "?"),
        ("deleted", "?"),
    ]
)


@dataclass(frozen=True, slots=True)
class Counts:
    """How often a node was of use.

    Attributes:
        hits: Successful episodes whose match was this node: c(v) of equation 8.
        recalls: Episodes whose chain held this node.
        successes: How many of those succeeded.
    """

    hits: int = 0
    recalls: int = 0
    successes: int = 0


def shelf(folder: Path, name: TreeName, dimensions: int) -> Shelf:
    """The files of a tree."""
    return Shelf(
        folder=folder,
        name=name,
        lines_name=f"{name}.nodes.jsonl",
        counters_name=f"{name}.counts.npy",
        counters=3,
        index_type=INDEX_TYPE,
        build_index=build_index,
        dimensions=dimensions,
    )


def index_row(node: Node, offset: int, first: int, parent: int) -> tuple[Any, ...]:
    """The index row of a node's line.

    Args:
        node: The node that the line holds.
        offset: Where the line begins, in bytes.
        first: The row of the node's first line.
        parent: The row of the parent's first line, or `NO_PARENT`.
    """
    return (
        node.id.encode(),
        offset,
        first,
        parent,
        node.depth,
        node.label == "failure",
        node.kind == "residual",
        node.consolidated,
        node.deleted,
    )


def build_index(shelf: Shelf, lines: Iterator[tuple[int, int, bytes]], rows: int) -> NDArray[Any]:
    """Make the index from the lines.

    Raises:
        BankCorruptError: A line is not a node, has an id twice at the same revision, or a
            parent that is not there.
    """
    index, _ = read_lines(shelf, lines, rows)
    return index


def read_lines(
    shelf: Shelf,
    lines: Iterator[tuple[int, int, bytes]],
    rows: int,
    tree: str = "",
) -> tuple[NDArray[Any], list[int]]:
    """Make the index from the lines, and look whether the nodes are as they were born.

    Args:
        shelf: The tree's files.
        lines: All lines that count.
        rows: How many there are.
        tree: The tree's name, to look at that too.

    Returns:
        The index, and the rows whose nodes were altered although they say otherwise.

    Raises:
        BankCorruptError: As `build_index`.
    """
    index = np.zeros(rows, dtype=INDEX_TYPE)
    altered: list[int] = []
    births: dict[str, int] = {}
    revisions: dict[str, int] = {}
    again: list[int] = []
    count = 0
    while taken := list(islice(lines, _PIECE_LINES)):
        outline = _outline(shelf, taken, tree)
        altered += [count + place for place in outline.altered]
        stop = count + len(taken)
        if stop > rows:
            raise shelf.corrupt("more lines than the journal states", f"line {rows + 1}")
        piece = index[count:stop]
        piece["id"] = outline.ids
        piece["offset"] = [offset for _, offset, _ in taken]
        piece["depth"] = outline.depths
        piece["failure"] = outline.failures
        piece["residual"] = outline.residuals
        piece["consolidated"] = outline.consolidated
        piece["deleted"] = outline.deleted
        parents = _parents_of_newborn(outline, count, births, revisions)
        if parents is not None:
            piece["first"] = np.arange(count, stop)
            piece["parent"] = parents
        else:
            ties = list(_ties(shelf, outline, count, births, revisions, again))
            piece["first"] = [first for first, _ in ties]
            piece["parent"] = [parent for _, parent in ties]
        count = stop
    if count != rows:
        raise shelf.corrupt(f"holds {count} lines where {rows} were written: it was cut short")
    _refuse_repeated(shelf, index, again)
    return index, altered


def _refuse_repeated(shelf: Shelf, index: NDArray[Any], again: Sequence[int]) -> None:
    """A merge may put a node right without changing its revision, but no line stands twice."""
    if not again:
        return
    order = np.argsort(index["first"], kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    with files.storage_errors(shelf.lines_path), regions.opened(shelf.lines_path) as stream:

        def line(row: int) -> bytes:
            stream.seek(int(index["offset"][row]))
            return stream.readline()

        for row in again:
            if line(row) == line(int(order[place[row] - 1])):
                node_id = bytes(index["id"][row]).decode()
                raise shelf.corrupt(f"id {node_id} stands twice", f"line {row + 1}")


def _outline(shelf: Shelf, lines: Sequence[tuple[int, int, bytes]], tree: str) -> codec.Outline:
    """What the index keeps of some lines, each of which is a node."""
    outline = codec.outline([line for _, _, line in lines], tree)
    if outline is not None:
        return outline
    source = str(shelf.lines_path)
    nodes = [codec.from_line(line, source, f"line {row + 1}") for row, _, line in lines]
    return codec.Outline.of(nodes, tree)


def _parents_of_newborn(
    outline: codec.Outline, start: int, births: dict[str, int], revisions: dict[str, int]
) -> Rows | None:
    """The rows of the parents of lines that are each their node's first, as almost all are.

    Returns:
        None if one is not, or is wrong, and each has to be looked at; nothing is noted then.
    """
    stop = start + len(outline.ids)
    new = dict(zip(outline.ids, range(start, stop), strict=True))
    if len(new) < len(outline.ids) or not births.keys().isdisjoint(new):
        return None
    births.update(new)
    # No node is called None, so a root finds none either.
    found = [births.get(parent) for parent in outline.parents]  # type: ignore[arg-type]
    parents = np.array([NO_PARENT if row is None else row for row in found], dtype=np.int64)
    lost = found.count(None) != outline.parents.count(None)
    if lost or bool(np.any(parents >= np.arange(start, stop))):
        for node_id in new:
            del births[node_id]
        return None
    revisions.update(zip(outline.ids, outline.revisions, strict=True))
    return parents


def _ties(
    shelf: Shelf,
    outline: codec.Outline,
    start: int,
    births: dict[str, int],
    revisions: dict[str, int],
    again: list[int],
) -> Iterator[tuple[int, int]]:
    """Per line from row `start` on, the rows of its node's and its parent's first lines.

    Rows whose revision is that of the node's line before are noted in `again`.
    """
    lines = zip(outline.ids, outline.parents, outline.revisions, strict=True)
    for row, (node_id, parent, revision) in enumerate(lines, start):
        first = births.get(node_id)
        if first is not None and revision <= revisions[node_id]:
            if revision < revisions[node_id]:
                raise shelf.corrupt(f"id {node_id} stands twice", f"line {row + 1}")
            again.append(row)
        above = NO_PARENT if parent is None else births.get(parent)
        if above is None:
            raise shelf.corrupt(f"parent {parent} does not exist", f"line {row + 1}")
        if first is None:
            first = births[node_id] = row
        revisions[node_id] = revision
        yield first, above


class Tree:
    """The living nodes of one tree at one commit."""

    def __init__(self, name: TreeName, snapshot: ShelfSnapshot) -> None:
        self.name: TreeName = name
        self.snapshot = snapshot

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Node]:
        """All living nodes, in order of birth."""
        return (self.node_at(int(row)) for row in self.rows)

    @cached_property
    def rows(self) -> Rows:
        """The rows of all living nodes, in order of birth. int64 [nodes]."""
        index = self.snapshot.index
        births = np.flatnonzero(index["first"] == np.arange(len(index)))
        rows: Rows = self.snapshot.current[births]
        living: Rows = rows[~index["deleted"][rows]]
        return living

    @cached_property
    def dead(self) -> NDArray[np.bool_]:
        """Per row, whether a later line took its place or it was deleted. bool [rows]."""
        dead = np.ones(len(self.snapshot.index), dtype=np.bool_)
        dead[self.rows] = False
        return dead

    @property
    def failure(self) -> NDArray[np.bool_]:
        """Per row, whether its label is failure. bool [rows]."""
        failure: NDArray[np.bool_] = self.snapshot.index["failure"]
        return failure

    @property
    def birth(self) -> Rows:
        """Per row, the row of its node's first line. int64 [rows]."""
        birth: Rows = self.snapshot.index["first"]
        return birth

    @property
    def depth(self) -> Rows:
        """Per row, its node's depth: 1 for a root. int64 [rows]."""
        depth: Rows = self.snapshot.index["depth"].astype(np.int64)
        return depth

    @property
    def embeddings(self) -> NDArray[np.float32]:
        """The activation conditions' vectors, dead rows included. float32 [rows, dimensions]."""
        return self.snapshot.vectors

    def row(self, node_id: str) -> int:
        """The row of a living node.

        Raises:
            NodeNotFoundError: No living node has this id.
        """
        birth = self.snapshot.first_row(node_id)
        row = None if birth is None else int(self.snapshot.current[birth])
        if row is None or self.snapshot.index["deleted"][row]:
            raise NodeNotFoundError(
                f"no node {node_id} in the {self.name} tree",
                hint="`deltamem tree` lists the nodes with their ids",
            )
        return row

    def find(self, prefix: str) -> list[str]:
        """The ids of living nodes that begin with `prefix`, at most 20."""
        ids = self.snapshot.index["id"][self.rows]
        start = prefix.encode(errors="replace")
        stop = start + b"\xff"
        found = ids[(ids >= start) & (ids < stop)]
        return [bytes(value).decode() for value in found[:20]]

    def node(self, node_id: str) -> Node:
        """The living node with this id.

        Raises:
            NodeNotFoundError: There is none.
        """
        return self.node_at(self.row(node_id))

    def node_at(self, row: int) -> Node:
        """The node whose last line is at `row`.

        Raises:
            BankCorruptError: The line is not that node.
        """
        shelf = self.snapshot.shelf
        position = f"line {row + 1}"
        node = codec.from_line(self.snapshot.line(row), str(shelf.lines_path), position)
        if node.id.encode() != self.snapshot.index["id"][row]:
            raise shelf.corrupt("the index names another node", position)
        return node

    def chain(self, node_id: str) -> tuple[Node, ...]:
        """Root to node (equation 7)."""
        return self.chain_at(self.row(node_id))

    def chain_at(self, row: int) -> tuple[Node, ...]:
        """Root to the node at `row` (equation 7).

        Raises:
            BankCorruptError: The way up does not end at a root, or is not the one that the
                nodes themselves name.
        """
        rows = self.chain_rows(row)
        chain = tuple(self.node_at(step) for step in rows)
        above = None
        for step, node in zip(rows, chain, strict=True):
            if node.parent != above:
                raise self.snapshot.shelf.corrupt(
                    "the index names another parent", f"line {step + 1}"
                )
            above = node.id
        return chain

    def chain_rows(self, row: int) -> list[int]:
        """The rows from the root to `row`."""
        index = self.snapshot.index
        rows = [row]
        while (parent := int(index["parent"][rows[-1]])) != NO_PARENT:
            above = int(self.snapshot.current[parent]) if 0 <= parent < len(index) else -1
            if above < 0 or index["depth"][above] + 1 != index["depth"][rows[-1]]:
                raise self._broken(rows[-1])
            rows.append(above)
        if index["depth"][rows[-1]] != 1:
            raise self._broken(rows[-1])
        return rows[::-1]

    def _broken(self, row: int) -> BankCorruptError:
        return self.snapshot.shelf.corrupt(
            "the node's parent and depth contradict each other", f"line {row + 1}"
        )

    @cached_property
    def _by_parent(self) -> tuple[Rows, Rows]:
        """Living rows ordered by parent and birth, and the parents in that order."""
        parents = self.snapshot.index["parent"][self.rows]
        order = np.argsort(parents, kind="stable")
        return self.rows[order], parents[order]

    def child_rows(self, row: int | None) -> Rows:
        """The rows of a node's children in order of birth; of all roots, if `row` is None."""
        rows, parents = self._by_parent
        parent = NO_PARENT if row is None else int(self.birth[row])
        start, stop = np.searchsorted(parents, [parent, parent + 1])
        return rows[start:stop]

    def roots(self) -> Iterator[Node]:
        """All roots, in order of birth."""
        return (self.node_at(int(row)) for row in self.child_rows(None))

    def children(self, node_id: str) -> Iterator[Node]:
        """A node's children, in order of birth."""
        return (self.node_at(int(row)) for row in self.child_rows(self.row(node_id)))

    def counts(self, node_id: str) -> Counts:
        """How often a node was of use."""
        return self.counts_at(self.row(node_id))

    def counts_at(self, row: int) -> Counts:
        """How often the node at `row` was of use."""
        return Counts(*(int(value) for value in self.snapshot.counters[self.birth[row]]))
