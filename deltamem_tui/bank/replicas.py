"""Counts by origin, so that a merge counts nothing twice: the ledger and a bank's shares."""

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
from deltamem_tui.bank.codec import Keys, key, keys, places, texts
from deltamem_tui.bank.table import Rows, Table, TableSnapshot
from deltamem_tui.errors import BankCorruptError

if TYPE_CHECKING:
    from deltamem_tui.bank.batch import Batch


Values = NDArray[np.int64]
"""Counts, wide enough to be summed: int64 [rows, counters]."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """One kind of ledger.

    Attributes:
        name: Its table's name.
        party: What the third id is called in its lines.
        counters: Counters per row.
        rows_are: What a line is, for errors.
    """

    name: str
    party: str
    counters: int
    rows_are: str

    @property
    def index_type(self) -> np.dtype[Any]:
        """The structured type of an index row."""
        return np.dtype(
            [
                ("id", "S16"),
                ("offset", "<u8"),
                ("first", "<i8"),
                ("tree", "u1"),
                ("node", "S16"),
                (self.party, "S16"),
            ]
        )

    def table(self, folder: Path, trees: Sequence[str]) -> Table:
        """Return the files of the ledger of a bank with some trees."""
        return Table(
            folder=folder,
            name=self.name,
            lines_name=f"{self.name}.jsonl",
            counters_name=f"{self.name}.counts.npy",
            counters=self.counters,
            index_type=self.index_type,
            build_index=partial(self._build_index, trees),
        )

    def entries(self, snapshots: Mapping[str, TableSnapshot]) -> Entries:
        """Return what the table holds, as it lies there."""
        snapshot = snapshots[self.name]
        index = snapshot.index
        values = snapshot.counters.astype(np.int64)
        tree = index["tree"].astype(np.uint8)
        if len(tree) and int(tree.max()) >= len(tree_names(snapshots)):
            raise snapshot.table.corrupt("the index names a tree that there is not")
        return Entries(tree, keys(index["node"]), keys(index[self.party]), values)

    def keep(self, batch: Batch, snapshots: Mapping[str, TableSnapshot], wanted: Entries) -> int:
        """Let the table say `wanted`, by new lines and changed counts.

        Returns:
            How many rows were written or changed.
        """
        there = self.entries(snapshots)
        rows = rows_of(there, wanted)
        known = rows >= 0
        differ = known.copy()
        differ[known] = (there.values[rows[known]] != wanted.values[known]).any(axis=1)
        batch.state_counters(self.name, rows[differ], wanted.values[differ])
        new = wanted.kept(~known)
        self.add(batch, new, tree_names(snapshots))
        return int(differ.sum()) + len(new)

    def add(self, batch: Batch, new: Entries, trees: Sequence[str]) -> None:
        """Add rows whose addresses the table does not have."""
        lines, index = self._lines(new, trees)
        index["first"] = batch.next_row(self.name) + np.arange(len(new))
        batch.extend(self.name, lines, index)
        batch.state_counters(self.name, index["first"], new.values)

    def _lines(self, new: Entries, trees: Sequence[str]) -> tuple[list[bytes], NDArray[Any]]:
        """Return the lines of new rows and their index rows, but for `first`."""
        index = np.zeros(len(new), dtype=self.index_type)
        index["tree"], index["node"] = new.tree, texts(new.node)
        index[self.party] = texts(new.party)
        lines = []
        for row, (tree, node, party) in enumerate(
            zip(new.tree.tolist(), index["node"].tolist(), index[self.party].tolist(), strict=True)
        ):
            name, node_id, party_id = trees[tree], node.decode(), party.decode()
            line_id = _line_id(name, node_id, party_id)
            index["id"][row] = line_id
            record = {"id": line_id, "tree": name, "node": node_id, self.party: party_id}
            lines.append(orjson.dumps(record) + b"\n")
        return lines, index

    def _build_index(
        self, trees: Sequence[str], table: Table, lines: Iterator[tuple[int, int, bytes]], rows: int
    ) -> NDArray[Any]:
        """Make the index from the lines."""
        index = np.zeros(rows, dtype=self.index_type)
        seen: set[str] = set()
        for row, offset, line in table.exactly(lines, rows):
            record = self._parsed(trees, table, row, line)
            if record["id"] in seen:
                raise table.corrupt(f"id {record['id']} stands twice", f"line {row + 1}")
            seen.add(record["id"])
            index[row] = (
                record["id"],
                offset,
                row,
                trees.index(record["tree"]),
                record["node"],
                record[self.party],
            )
        return index

    def _parsed(self, trees: Sequence[str], table: Table, row: int, line: bytes) -> dict[str, Any]:
        try:
            record = orjson.loads(line)
            known = record["tree"] in trees and codec.is_id(record["node"])
            address = (record["tree"], record["node"], record[self.party])
            if known and codec.is_id(record[self.party]) and record["id"] == _line_id(*address):
                return dict(record)
        except (ValueError, KeyError, TypeError):
            pass
        raise table.corrupt(f"not {self.rows_are}", f"line {row + 1}")


def _line_id(tree: str, node: str, party: str) -> str:
    return hashlib.sha256(f"{tree} {node} {party}".encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Entries:
    """Rows of a ledger, no address twice.

    Attributes:
        tree: The tree's number among the bank's collections. uint8 [rows].
        node: The node. uint64 [rows].
        party: The third id. uint64 [rows].
        values: The counts. int64 [rows, counters].
    """

    tree: NDArray[np.uint8]
    node: Keys
    party: Keys
    values: Values

    def __len__(self) -> int:
        return len(self.node)

    def kept(self, mask: NDArray[np.bool_]) -> Entries:
        """Only some of the rows."""
        return Entries(self.tree[mask], self.node[mask], self.party[mask], self.values[mask])

    def equals(self, other: Entries) -> bool:
        """Return whether both say the same, in the same order."""
        return all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in (*_ADDRESS, "values")
        )

    def of_tree(self, number: int) -> Entries:
        """Only the rows of one tree."""
        return self.kept(self.tree == number)

    def totals(self, nodes: Keys) -> Values:
        """Return the sums over all third ids, for nodes of one tree. int64 [nodes, counters]."""
        at = places(nodes, self.node)
        found = np.zeros((len(nodes), self.values.shape[1]), dtype=np.int64)
        np.add.at(found, at[at >= 0], self.values[at >= 0])
        return found


def joined(ledgers: Sequence[Entries]) -> Entries:
    """Return the rows of several banks together: of each address the greatest of each count.

    Doing it again, in another order or in other groups gives the same.
    """
    every = Entries(
        *(
            np.concatenate([getattr(each, name) for each in ledgers])
            for name in (*_ADDRESS, "values")
        )
    )
    if not len(every):
        return every
    order = np.lexsort((every.party, every.node, every.tree))
    tree, node, party = every.tree[order], every.node[order], every.party[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (tree[1:] != tree[:-1]) | (node[1:] != node[:-1]) | (party[1:] != party[:-1])
    starts = np.flatnonzero(new)
    values = np.maximum.reduceat(every.values[order], starts, axis=0)
    return Entries(tree[starts], node[starts], party[starts], values)


def tree_names(snapshots: Mapping[str, TableSnapshot]) -> list[str]:
    """Return the names of a bank's collections; the numbers of `Entries.tree` are places in this
    list.
    """
    return [name for name, each in snapshots.items() if each.table.nodes is not None]


def rows_of(there: Entries, wanted: Entries) -> Rows:
    """Per wanted row, its row on the table, or -1. int64 [wanted]."""
    both = [np.concatenate([getattr(there, n), getattr(wanted, n)]) for n in _ADDRESS]
    order = np.lexsort(both[::-1])  # stable: of two that are the same, the table's comes first
    rows: Rows = np.full(len(wanted), -1, dtype=np.int64)
    same = np.ones(max(len(order) - 1, 0), dtype=np.bool_)
    for part in both:
        same &= part[order][1:] == part[order][:-1]
    left, right = order[:-1][same], order[1:][same]
    rows[right - len(there)] = left
    return rows


_ADDRESS = ("tree", "node", "party")


LEDGER = Ledger("origins", "origin", 3, "a share of a node's counts")
"""Hits, recalls and successes by collection, node and replica."""
NAME = LEDGER.name


def drawn() -> str:
    """Return a new replica: 16 random hexadecimal digits."""
    return secrets.token_hex(8)


def but(shares: Entries, replica: str) -> Entries:
    """Only the rows of other replicas."""
    return shares.kept(shares.party != key(replica))


def shares(snapshots: Mapping[str, TableSnapshot], replica: str) -> Entries:
    """Return all counts of a bank by replica, its own share among them.

    Raises:
        BankCorruptError: A node counts less than others are said to have counted of it.
    """
    others = but(LEDGER.entries(snapshots), replica)
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
        parts.append(Entries(numbers, nodes, np.full_like(nodes, key(replica)), own))
    every = joined(parts)
    counted: NDArray[np.bool_] = np.asarray((every.values > 0).any(axis=1))
    return every.kept(counted)


def contradictions(snapshots: Mapping[str, TableSnapshot], replica: str) -> Iterator[str]:
    """Yield where the table and the trees' counters do not go together, one line each."""
    others = but(LEDGER.entries(snapshots), replica)
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


def _own(snapshot: TableSnapshot, others: Entries) -> tuple[Keys, Values]:
    """Return all nodes of a tree, and what is left of their counts without the others'."""
    nodes, totals = totals_of(snapshot)
    return nodes, totals - others.totals(nodes)


def totals_of(snapshot: TableSnapshot) -> tuple[Keys, Values]:
    """Return all nodes of a tree, the deleted too, and what they count."""
    births = snapshot.births
    return keys(snapshot.index["id"][births]), snapshot.counters[births].astype(np.int64)


def book(batch: Batch, snapshots: Mapping[str, TableSnapshot], replica: str) -> int:
    """Write a bank's own share down under its replica, before it goes on under a new one."""
    own = shares(snapshots, replica)
    return LEDGER.keep(batch, snapshots, own.kept(own.party == key(replica)))
