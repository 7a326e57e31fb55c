"""Whose counts are whose: what keeps a merge from counting anything twice.

A bank counts under its own *replica*, an id in `bank.json`. What it got from others it keeps
on the table `replicas`: one line per tree, node and replica, with the counts made there. The
trees' counters stay the totals that the method reads; a bank's own share of them is what is
left when the others' is taken off. Counts of one replica only ever grow, so of two states of
them the greater is the later: a merge takes the greater of each, and the total is their sum.

Two banks must not count under one replica. So a bank that becomes independent of another, as
a copy or by being unfrozen, draws a new replica and books what was counted so far under the
old one. Lines under a bank's present replica say nothing: they are left from a booking that
was cut short.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
from numpy.typing import NDArray

from deltamem_tui.bank import codec
from deltamem_tui.bank.table import Rows, Table, TableSnapshot
from deltamem_tui.bank.tree_index import Keys, key, keys, places, texts
from deltamem_tui.errors import BankCorruptError

if TYPE_CHECKING:
    from deltamem_tui.bank.batch import Batch

NAME = "origins"
COUNTERS = 3

INDEX_TYPE = np.dtype(
    [
        ("id", "S16"),
        ("offset", "<u8"),
        ("first", "<i8"),
        ("tree", "u1"),
        ("node", "S16"),
        ("origin", "S16"),
    ]
)

Values = NDArray[np.int64]
"""Counts as the trees keep them, wide enough to be summed: int64 [rows, 3]."""


def drawn() -> str:
    """A new replica: 16 random hexadecimal digits."""
    return secrets.token_hex(8)


def table(folder: Path, trees: Sequence[str]) -> Table:
    """The files of the counts that other banks made, of nodes of some trees."""
    return Table(
        folder=folder,
        name=NAME,
        lines_name="origins.jsonl",
        counters_name="origins.counts.npy",
        counters=COUNTERS,
        index_type=INDEX_TYPE,
        build_index=partial(build_index, trees),
    )


def build_index(
    trees: Sequence[str], table: Table, lines: Iterator[tuple[int, int, bytes]], rows: int
) -> NDArray[Any]:
    """Make the index from the lines."""
    index = np.zeros(rows, dtype=INDEX_TYPE)
    seen: set[str] = set()
    for row, offset, line in table.exactly(lines, rows):
        record = _parsed(trees, table, row, line)
        if record["id"] in seen:
            raise table.corrupt(f"id {record['id']} stands twice", f"line {row + 1}")
        seen.add(record["id"])
        index[row] = (
            record["id"],
            offset,
            row,
            trees.index(record["tree"]),
            record["node"],
            record["origin"],
        )
    return index


def _parsed(trees: Sequence[str], table: Table, row: int, line: bytes) -> dict[str, Any]:
    try:
        record = orjson.loads(line)
        known = record["tree"] in trees and codec.is_id(record["node"])
        address = (record["tree"], record["node"], record["origin"])
        if known and codec.is_id(record["origin"]) and record["id"] == _line_id(*address):
            return dict(record)
    except (ValueError, KeyError, TypeError):
        pass
    raise table.corrupt("not a share of a node's counts", f"line {row + 1}")


def _line_id(tree: str, node: str, replica: str) -> str:
    return hashlib.sha256(f"{tree} {node} {replica}".encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Shares:
    """Counts by tree, node and replica, a row each, none twice and none without a count.

    Attributes:
        tree: The tree's number among the bank's collections. uint8 [rows].
        node: The node. uint64 [rows].
        replica: Where it was counted. uint64 [rows].
        values: Hits, recalls and successes. int64 [rows, 3].
    """

    tree: NDArray[np.uint8]
    node: Keys
    replica: Keys
    values: Values

    def __len__(self) -> int:
        return len(self.node)

    def kept(self, mask: NDArray[np.bool_]) -> Shares:
        """Only some of the rows."""
        return Shares(self.tree[mask], self.node[mask], self.replica[mask], self.values[mask])

    def equals(self, other: Shares) -> bool:
        """Whether both say the same, in the same order."""
        return all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in (*_ADDRESS, "values")
        )

    def of_tree(self, number: int) -> Shares:
        """Only the rows of one tree."""
        return self.kept(self.tree == number)

    def but(self, replica: str) -> Shares:
        """Only the rows of other replicas."""
        return self.kept(self.replica != key(replica))

    def totals(self, nodes: Keys) -> Values:
        """The sums over all replicas, for nodes of one tree. int64 [nodes, 3]."""
        at = places(nodes, self.node)
        found = np.zeros((len(nodes), COUNTERS), dtype=np.int64)
        np.add.at(found, at[at >= 0], self.values[at >= 0])
        return found


def joined(shares: Sequence[Shares]) -> Shares:
    """The counts of several banks together: of each tree, node and replica the greatest.

    Doing it again, in another order or in other groups gives the same.
    """
    every = Shares(
        *(
            np.concatenate([getattr(each, name) for each in shares])
            for name in (*_ADDRESS, "values")
        )
    )
    if not len(every):
        return every
    order = np.lexsort((every.replica, every.node, every.tree))
    tree, node, replica = every.tree[order], every.node[order], every.replica[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (tree[1:] != tree[:-1]) | (node[1:] != node[:-1]) | (replica[1:] != replica[:-1])
    starts = np.flatnonzero(new)
    values = np.maximum.reduceat(every.values[order], starts, axis=0)
    return Shares(tree[starts], node[starts], replica[starts], values)


def inherited(snapshots: Mapping[str, TableSnapshot]) -> Shares:
    """What the table holds, as it lies there."""
    snapshot = snapshots[NAME]
    index = snapshot.index
    values = snapshot.counters.astype(np.int64)
    tree = index["tree"].astype(np.uint8)
    if len(tree) and int(tree.max()) >= len(tree_names(snapshots)):
        raise snapshot.table.corrupt("the index names a tree that there is not")
    return Shares(tree, keys(index["node"]), keys(index["origin"]), values)


def tree_names(snapshots: Mapping[str, TableSnapshot]) -> list[str]:
    """The names of a bank's collections; the numbers of `Shares.tree` are places in this list."""
    return [name for name, each in snapshots.items() if each.table.nodes is not None]


def shares(snapshots: Mapping[str, TableSnapshot], replica: str) -> Shares:
    """All counts of a bank by replica, its own share among them.

    Raises:
        BankCorruptError: A node counts less than others are said to have counted of it.
    """
    others = inherited(snapshots).but(replica)
    parts = [others]
    for number, name in enumerate(tree_names(snapshots)):
        nodes, own = _own(snapshots[name], others.of_tree(number))
        if (own < 0).any():
            raise BankCorruptError(
                next(contradictions(snapshots, replica)),
                source=str(snapshots[name].table.counters_file.path),
                hint="restore the file from a copy of the bank",
            )
        numbers = np.full(len(nodes), number, dtype=np.uint8)
        parts.append(Shares(numbers, nodes, np.full_like(nodes, key(replica)), own))
    every = joined(parts)
    counted: NDArray[np.bool_] = np.asarray((every.values > 0).any(axis=1))
    return every.kept(counted)


def contradictions(snapshots: Mapping[str, TableSnapshot], replica: str) -> Iterator[str]:
    """Where the table and the trees' counters do not go together, one line each."""
    others = inherited(snapshots).but(replica)
    for number, name in enumerate(tree_names(snapshots)):
        mine = others.of_tree(number)
        nodes, own = _own(snapshots[name], mine)
        for node in texts(nodes[(own < 0).any(axis=1)]).tolist():
            yield (
                f"the {name} tree counts less of node {node.decode()} than the banks that it "
                "was merged from"
            )
        for node in texts(np.unique(mine.node[~np.isin(mine.node, nodes)])).tolist():
            yield f"the {name} tree has no node {node.decode()}, of which others counted"


def _own(snapshot: TableSnapshot, others: Shares) -> tuple[Keys, Values]:
    """All nodes of a tree, and what is left of their counts without the others'."""
    nodes, totals = totals_of(snapshot)
    return nodes, totals - others.totals(nodes)


def totals_of(snapshot: TableSnapshot) -> tuple[Keys, Values]:
    """All nodes of a tree, the deleted too, and what they count."""
    births = snapshot.births
    return keys(snapshot.index["id"][births]), snapshot.counters[births].astype(np.int64)


def book(batch: Batch, snapshots: Mapping[str, TableSnapshot], replica: str) -> int:
    """Write a bank's own share down under its replica, before it goes on under a new one."""
    own = shares(snapshots, replica)
    return keep(batch, snapshots, own.kept(own.replica == key(replica)))


def keep(batch: Batch, snapshots: Mapping[str, TableSnapshot], wanted: Shares) -> int:
    """Let the table say `wanted`, by new lines and changed counts.

    Returns:
        How many shares were written or changed.
    """
    there = inherited(snapshots)
    rows = rows_of(there, wanted)
    known = rows >= 0
    differ = known.copy()
    differ[known] = (there.values[rows[known]] != wanted.values[known]).any(axis=1)
    batch.state_counters(NAME, rows[differ], wanted.values[differ])
    new = wanted.kept(~known)
    lines, index = _lines(new, tree_names(snapshots))
    index["first"] = batch.next_row(NAME) + np.arange(len(new))
    batch.extend(NAME, lines, index)
    batch.state_counters(NAME, index["first"], new.values)
    return int(differ.sum()) + len(new)


def rows_of(there: Shares, wanted: Shares) -> Rows:
    """Per wanted share, its row on the table, or -1. int64 [wanted]."""
    both = [np.concatenate([getattr(there, n), getattr(wanted, n)]) for n in _ADDRESS]
    order = np.lexsort(both[::-1])  # stable: of two that are the same, the table's comes first
    rows: Rows = np.full(len(wanted), -1, dtype=np.int64)
    same = np.ones(max(len(order) - 1, 0), dtype=np.bool_)
    for part in both:
        same &= part[order][1:] == part[order][:-1]
    left, right = order[:-1][same], order[1:][same]
    rows[right - len(there)] = left
    return rows


_ADDRESS = ("tree", "node", "replica")


def _lines(new: Shares, trees: Sequence[str]) -> tuple[list[bytes], NDArray[Any]]:
    """The lines of new shares and their index rows, but for `first`."""
    index = np.zeros(len(new), dtype=INDEX_TYPE)
    index["tree"], index["node"], index["origin"] = new.tree, texts(new.node), texts(new.replica)
    lines = []
    for row, (tree, node, replica) in enumerate(
        zip(new.tree.tolist(), index["node"].tolist(), index["origin"].tolist(), strict=True)
    ):
        name, node_id, replica_id = trees[tree], node.decode(), replica.decode()
        line_id = _line_id(name, node_id, replica_id)
        index["id"][row] = line_id
        record = {"id": line_id, "tree": name, "node": node_id, "origin": replica_id}
        lines.append(orjson.dumps(record) + b"\n")
    return lines, index
