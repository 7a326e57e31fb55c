"""A tree: the nodes of one collection as they are at one commit, found without parsing the file.

A node is addressed by its id, or by its row: the number of its last line. Its first line's
row is its `birth`; parents and counters are kept by birth, so an edit moves neither.

The index says of every line where it begins and what its node is. It is derived: made again
whenever it is missing, and whenever a bank is verified.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank import node as nodes
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.node import DIGITS, ID_LENGTH, Collection, Line, Node
from deltamem_tui.bank.table import Lines, Rows, Table, TableSnapshot
from deltamem_tui.errors import BankCorruptError, NodeNotFoundError, wrong_argument

NO_PARENT = -1
_MEANT = re.compile(rb'"meant"\s*:')
_PIECE_LINES = 256  # few enough objects at a time that Python does not stop to look for garbage
_PIECE_BYTES = 4 * 1024 * 1024  # a stranger's lines may be long

_Known = tuple[int, int, int | None]
"""A node's first row, and its last line's revision and hash."""

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


def index_row(node: Node | Line, offset: int, first: int, parent: int) -> tuple[Any, ...]:
    """Return the index row of a node's line."""
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


def read_lines(
    table: Table, lines: Lines, rows: int, *, born: bool = False
) -> tuple[NDArray[Any], list[int]]:
    """Make the index from the lines, and look whether the nodes are as they were born.

    Returns:
        The index, and the rows whose nodes were altered although they say otherwise.
    """
    index = np.zeros(rows, dtype=INDEX_TYPE)
    altered: list[int] = []
    known: dict[str, _Known] = {}
    count, collection = 0, table.collection
    lines = table.exactly(lines, rows)
    while taken := _piece(lines):
        texts = [line for _, _, line in taken]
        records = parse_lines(table, texts, (row for row, _, _ in taken))
        if born:
            altered += [
                row
                for row, record in enumerate(records, count)
                if not record.revision and not nodes.is_as_born(table.name, record, collection)
            ]
        ties = [
            _ties(table, known, row, record, hash(text))
            for row, (record, text) in enumerate(zip(records, texts, strict=True), count)
        ]
        index[count : count + len(taken)] = [
            index_row(record, offset, *tie)
            for record, (_, offset, _), tie in zip(records, taken, ties, strict=True)
        ]
        count += len(taken)
    return index, altered


def _ties(
    table: Table, known: dict[str, _Known], row: int, record: Line, text: int
) -> tuple[int, int]:
    """Return the rows of the first lines of a line's node and of its parent."""
    above = NO_PARENT
    if record.parent is not None:
        if record.parent not in known:
            raise table.corrupt(f"parent {record.parent} does not exist", f"line {row + 1}")
        above, *_ = known[record.parent]
    first, revision, before = known.get(record.id, (row, 0, None))
    # A merge may put a node right without changing its revision.
    if record.revision < revision or text == before:
        raise table.corrupt(f"id {record.id} is there twice", f"line {row + 1}")
    known[record.id] = first, record.revision, text
    return first, above


def _piece(lines: Lines) -> list[tuple[int, int, bytes]]:
    """Return the next few lines."""
    taken, size = [], 0
    for each in islice(lines, _PIECE_LINES):
        taken.append(each)
        size += len(each[2])
        if size >= _PIECE_BYTES:
            break
    return taken


def parse_lines(table: Table, lines: Sequence[bytes], rows: Iterable[int]) -> list[Line]:
    """Read some lines of a tree, at these rows."""
    positions = (f"line {row + 1}" for row in rows)
    return nodes.read_lines(lines, positions, table.collection, str(table.lines_path))


def displaced_rows(snapshot: TableSnapshot) -> Rows:
    """Return the rows of the lines that keep a claim aside. int64.

    No text of a node can look like a claim: in it, quotation marks are escaped.
    """
    found = [match.start() for match in _MEANT.finditer(snapshot.text)]
    offsets = snapshot.index["offset"]
    rows: Rows = np.searchsorted(offsets, np.array(found, dtype=np.uint64), side="right") - 1
    return np.unique(rows)


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


def table(folder: Path, name: str, collection: Collection, dimensions: int) -> Table:
    """Return the files of a tree."""
    return Table(
        folder=folder,
        name=name,
        lines_name=f"{name}.nodes.jsonl",
        counters_name=f"{name}.counts.npy",
        counters=3,
        index_type=INDEX_TYPE,
        build_index=lambda *given: read_lines(*given)[0],
        dimensions=dimensions,
        nodes=collection,
    )


def _text(node_id: object) -> str:
    if not isinstance(node_id, str):
        raise wrong_argument("id", "text", node_id)
    return node_id


class Tree:
    """The living nodes of one tree at one commit."""

    def __init__(self, name: str, snapshot: TableSnapshot) -> None:
        self.name = name
        self.snapshot = snapshot

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Node]:
        """Yield all living nodes, in order of birth."""
        return (self.node_at(int(row)) for row in self.rows)

    @cached_property
    def rows(self) -> Rows:
        """The rows of all living nodes, in order of birth. int64 [nodes]."""
        rows = self.snapshot.current[self.snapshot.births]
        living: Rows = rows[~self.snapshot.index["deleted"][rows]]
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
        """Return the row of a living node."""
        birth = self.snapshot.first_row(_text(node_id))
        row = None if birth is None else int(self.snapshot.current[birth])
        if row is None or (self.snapshot.index["deleted"][row] and self.node_at(row).deleted):
            raise NodeNotFoundError(
                f"no node {node_id} in the {self.name} tree",
                hint="`deltamem node tree` lists the nodes with their ids",
            )
        return row

    def find(self, prefix: str) -> list[str]:
        """Return the ids of living nodes that begin with `prefix`, at most 20."""
        ids = self.snapshot.index["id"][self.rows]
        start = _text(prefix).encode(errors="replace")
        stop = start + b"\xff"
        found = ids[(ids >= start) & (ids < stop)]
        return [bytes(value).decode() for value in found[:20]]

    def node(self, node_id: str) -> Node:
        """Return the living node with this id."""
        return self.node_at(self.row(node_id))

    def node_at(self, row: int) -> Node:
        """Return the node whose last line is at `row`."""
        node = self.snapshot.node(row)
        stated = self.snapshot.index[row].item()
        _, offset, first, parent, *_ = stated
        if stated != index_row(node, offset, first, parent):
            raise self._lying(row)
        return node

    def chain(self, node_id: str) -> tuple[Node, ...]:
        """Root to node (equation 7)."""
        return self.chain_at(self.row(node_id))

    def chain_at(self, row: int) -> tuple[Node, ...]:
        """Root to the node at `row` (equation 7)."""
        rows = self.chain_rows(row)
        chain = tuple(self.node_at(step) for step in rows)
        above = None
        for step, node in zip(rows, chain, strict=True):
            if node.parent != above:
                raise self._lying(step)
            above = node.id
        return chain

    def chain_rows(self, row: int) -> list[int]:
        """Return the rows from the root to `row`, as the index has them.

        Returns:
            The current row of each node of the chain, the root's first and `row` last.
        """
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

    def _lying(self, row: int) -> BankCorruptError:
        table = self.snapshot.table
        path = table.index_file.path
        archived = files.is_archive(table.folder)
        cure = "restore the archive" if archived else f"delete {path.name}, it is made again"
        return BankCorruptError(
            f"contradicts line {row + 1} of {table.lines_name}",
            source=str(path),
            position=f"row {row}",
            hint=f"{cure}; `deltamem bank verify` lists all that is broken",
        )

    def _broken(self, row: int) -> BankCorruptError:
        return self.snapshot.table.corrupt(
            "the node's parent and depth contradict each other", f"line {row + 1}"
        )

    @cached_property
    def _by_parent(self) -> tuple[Rows, Rows]:
        """Living rows ordered by parent and birth, and the parents in that order."""
        parents = self.snapshot.index["parent"][self.rows]
        order = np.argsort(parents, kind="stable")
        return self.rows[order], parents[order]

    def child_rows(self, row: int | None) -> Rows:
        """Return the rows of a node's children in order of birth; of all roots, if `row` is
        None.
        """
        rows, parents = self._by_parent
        parent = NO_PARENT if row is None else int(self.birth[row])
        start, stop = np.searchsorted(parents, [parent, parent + 1])
        return rows[start:stop]

    def roots(self) -> Iterator[Node]:
        """Yield all roots, in order of birth."""
        return (self.node_at(int(row)) for row in self.child_rows(None))

    def children(self, node_id: str) -> Iterator[Node]:
        """Yield a node's children, in order of birth."""
        return (self.node_at(int(row)) for row in self.child_rows(self.row(node_id)))

    def counts(self, node_id: str) -> Counts:
        """Return how often a node was of use."""
        return self.counts_at(self.row(node_id))

    def counts_at(self, row: int) -> Counts:
        """Return how often the node at `row` was of use."""
        return Counts(*(int(value) for value in self.snapshot.counters[self.birth[row]]))


Keys = NDArray[np.uint64]
"""Ids as numbers."""


def key(text: str) -> np.uint64:
    """Return one id as a number."""
    return np.uint64(int(text, 16))


def keys(ids: NDArray[Any]) -> Keys:
    """Return ids, bytes [n] of 16 hexadecimal digits each, as numbers."""
    digits = ids.tobytes()
    if digits.translate(None, DIGITS):
        raise BankCorruptError(
            "an index names something that is not an id",
            hint="delete the bank's `.index.npy` files, and they are made again",
        )
    return np.frombuffer(bytes.fromhex(digits.decode()), dtype=">u8").astype(np.uint64)


def texts(numbers: Keys) -> NDArray[Any]:
    """Return numbers as ids: bytes [n]."""
    digits = numbers.astype(">u8").tobytes().hex().encode()
    return np.frombuffer(digits, dtype=f"S{ID_LENGTH}").copy()


def places(ids: Keys, wanted: Keys) -> NDArray[np.int64]:
    """Return where the wanted ids stand among others, each once, in any order; -1 for the missing.

    uint64 [n] and uint64 [wanted] to int64 [wanted].
    """
    if not len(ids):
        return np.full(len(wanted), -1, dtype=np.int64)
    order = np.argsort(ids)
    at = np.searchsorted(ids[order], wanted)  # a sorted copy is quicker than looking by `sorter`
    found: NDArray[np.int64] = order[np.minimum(at, len(ids) - 1)]
    return np.where(ids[found] == wanted, found, -1)
