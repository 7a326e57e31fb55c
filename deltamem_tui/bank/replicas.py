"""Counts by origin, so that a merge counts nothing twice; and the kind of table that holds them."""

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
from deltamem_tui.bank.table import Lines, Rows, Table, TableSnapshot
from deltamem_tui.errors import BankCorruptError

if TYPE_CHECKING:
    from deltamem_tui.bank.batch import Batch

Values = NDArray[np.int64]
"""Counts, wide enough to be summed: int64 [rows, counters]."""
Entries = NDArray[Any]
"""Rows of a ledger, no address twice: the number of the `tree` among the bank's collections, the
`node` and the `third` id, which are the address, and the `values`."""

_ADDRESS = ["tree", "node", "third"]


@dataclass(frozen=True, slots=True)
class Ledger:
    """A kind of table that counts of nodes, by a third id.

    Attributes:
        name: Its table's name.
        third: What the third id is called in its lines.
        counters: Counters per row.
        rows_are: What a line is, for errors.
    """

    name: str
    third: str
    counters: int
    rows_are: str

    @property
    def index_type(self) -> np.dtype[Any]:
        """The structured type of an index row."""
        ids = [("tree", "u1"), ("node", "S16"), (self.third, "S16")]
        return np.dtype([("id", "S16"), ("offset", "<u8"), ("first", "<i8"), *ids])

    @property
    def entry_type(self) -> np.dtype[Any]:
        """The structured type of `Entries`."""
        ids = [("tree", "u1"), ("node", "u8"), ("third", "u8")]
        return np.dtype([*ids, ("values", "i8", (self.counters,))])

    def table(self, folder: Path, trees: Sequence[str]) -> Table:
        """Return the files of the ledger of a bank with some collections."""
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
        """Return what the table holds, in its order."""
        snapshot = snapshots[self.name]
        index = snapshot.index
        found = np.zeros(len(index), dtype=self.entry_type)
        found["tree"], found["values"] = index["tree"], snapshot.counters
        found["node"], found["third"] = keys(index["node"]), keys(index[self.third])
        if len(found) and int(found["tree"].max()) >= len(tree_names(snapshots)):
            raise snapshot.table.corrupt("the index names an unknown tree")
        return found

    def keep(self, batch: Batch, snapshots: Mapping[str, TableSnapshot], wanted: Entries) -> int:
        """Let the table say `wanted`, by new lines and changed counts.

        Returns:
            How many rows were written or changed.
        """
        there = self.entries(snapshots)
        rows = rows_of(there, wanted)
        known = wanted[rows >= 0]
        rows, new = rows[rows >= 0], wanted[rows < 0]
        differ = (there["values"][rows] != known["values"]).any(axis=1)
        batch.state_counters(self.name, rows[differ], known["values"][differ])
        self.add(batch, new, tree_names(snapshots))
        return int(differ.sum()) + len(new)

    def add(self, batch: Batch, new: Entries, trees: Sequence[str]) -> None:
        """Add rows whose addresses the table does not have."""
        index = np.zeros(len(new), dtype=self.index_type)
        index["tree"], index["node"] = new["tree"], texts(new["node"])
        index[self.third] = texts(new["third"])
        index["first"] = batch.next_row(self.name) + np.arange(len(new))
        lines = []
        for row in range(len(new)):
            entry = index[row]
            address = trees[entry["tree"]], entry["node"].decode(), entry[self.third].decode()
            line_id = _line_id(*address)
            index["id"][row] = line_id
            record = dict(zip(("id", "tree", "node", self.third), (line_id, *address), strict=True))
            lines.append(orjson.dumps(record) + b"\n")
        batch.extend(self.name, lines, index)
        batch.state_counters(self.name, index["first"], new["values"])

    def _build_index(
        self, trees: Sequence[str], table: Table, lines: Lines, rows: int
    ) -> NDArray[Any]:
        """Make the index from the lines."""
        index = np.zeros(rows, dtype=self.index_type)
        seen: set[str] = set()
        for row, offset, line in table.exactly(lines, rows):
            line_id, tree, node, third = self._parsed(trees, table, row, line)
            if line_id in seen:
                raise table.corrupt(f"id {line_id} is there twice", f"line {row + 1}")
            seen.add(line_id)
            index[row] = (line_id, offset, row, trees.index(tree), node, third)
        return index

    def _parsed(
        self, trees: Sequence[str], table: Table, row: int, line: bytes
    ) -> tuple[str, str, str, str]:
        try:
            record = orjson.loads(line)
            tree, node, third = record["tree"], record["node"], record[self.third]
            known = tree in trees and codec.are_ids([node, third])
            if known and record["id"] == _line_id(tree, node, third):
                return record["id"], tree, node, third
        except (ValueError, KeyError, TypeError):
            pass
        raise table.corrupt(f"not {self.rows_are}", f"line {row + 1}")


def _line_id(tree: str, node: str, third: str) -> str:
    return hashlib.sha256(f"{tree} {node} {third}".encode()).hexdigest()[:16]


def joined(ledgers: Sequence[Entries]) -> Entries:
    """Return the rows of several banks together: of each address the greatest of each count.

    Doing it again, in another order or in other groups gives the same.
    """
    every: Entries = np.concatenate(ledgers)
    if not len(every):
        return every
    every = every[np.lexsort((every["third"], every["node"], every["tree"]))]
    addresses = every[_ADDRESS]
    starts = np.flatnonzero(np.append(True, addresses[1:] != addresses[:-1]))
    found: Entries = every[starts]
    found["values"] = np.maximum.reduceat(every["values"], starts, axis=0)
    return found


def rows_of(there: Entries, wanted: Entries) -> Rows:
    """Per wanted row, its row on the table, or -1. int64 [wanted]."""
    both = np.concatenate([there[_ADDRESS], wanted[_ADDRESS]])
    # Stable: of two that are the same, the table's comes first.
    order = np.lexsort((both["third"], both["node"], both["tree"]))
    same = both[order[1:]] == both[order[:-1]]
    rows: Rows = np.full(len(wanted), -1, dtype=np.int64)
    rows[order[1:][same] - len(there)] = order[:-1][same]
    return rows


def totals(entries: Entries, nodes: Keys) -> Values:
    """Return the sums over all third ids, for nodes of one tree. int64 [nodes, counters]."""
    at = places(nodes, entries["node"])
    found = np.zeros((len(nodes), entries["values"].shape[1]), dtype=np.int64)
    np.add.at(found, at[at >= 0], entries["values"][at >= 0])
    return found


def tree_names(snapshots: Mapping[str, TableSnapshot]) -> list[str]:
    """Return the names of a bank's collections, in the order in which ledgers number them."""
    return [name for name, each in snapshots.items() if each.table.nodes is not None]


LEDGER = Ledger("origins", "origin", 3, "a share of a node's counts")
"""Hits, recalls and successes by collection, node and replica."""
NAME = LEDGER.name


def drawn() -> str:
    """Return a new replica: 16 random hexadecimal digits."""
    return secrets.token_hex(8)


def but(shares: Entries, replica: str) -> Entries:
    """Only the rows of other replicas."""
    others: Entries = shares[shares["third"] != key(replica)]
    return others


def shares(snapshots: Mapping[str, TableSnapshot], replica: str) -> Entries:
    """Return all counts of a bank by replica, its own share among them.

    Raises:
        BankCorruptError: A node counts less than others are said to have counted of it.
    """
    others = but(LEDGER.entries(snapshots), replica)
    parts = [others]
    for number, name in enumerate(tree_names(snapshots)):
        nodes, own = _own(snapshots[name], others[others["tree"] == number])
        if (own < 0).any():
            raise BankCorruptError(
                next(contradictions(snapshots, replica)),
                source=str(snapshots[name].table.counters_file.path),
                hint="restore the file from a copy of the bank",
            )
        mine = np.zeros(len(nodes), dtype=LEDGER.entry_type)
        mine["tree"], mine["node"], mine["third"] = number, nodes, key(replica)
        mine["values"] = own
        parts.append(mine)
    every = joined(parts)
    counted: Entries = every[(every["values"] > 0).any(axis=1)]
    return counted


def contradictions(snapshots: Mapping[str, TableSnapshot], replica: str) -> Iterator[str]:
    """Yield where the table and the trees' counters do not go together, one line each."""
    others = but(LEDGER.entries(snapshots), replica)
    for number, name in enumerate(tree_names(snapshots)):
        mine = others[others["tree"] == number]
        nodes, own = _own(snapshots[name], mine)
        for node in texts(nodes[(own < 0).any(axis=1)]).tolist():
            yield (
                f"the {name} tree counts less of node {node.decode()} than the banks that it "
                "was merged from"
            )
        for node in texts(np.setdiff1d(mine["node"], nodes)).tolist():
            yield f"the {name} tree has no node {node.decode()}, of which others counted"


def _own(snapshot: TableSnapshot, others: Entries) -> tuple[Keys, Values]:
    """Return all nodes of a tree, and what is left of their counts without the others'."""
    births = snapshot.births
    nodes = keys(snapshot.index["id"][births])
    return nodes, snapshot.counters[births].astype(np.int64) - totals(others, nodes)


def book(batch: Batch, snapshots: Mapping[str, TableSnapshot], replica: str) -> int:
    """Write a bank's own share down under its replica, before it goes on under a new one."""
    own = shares(snapshots, replica)
    return LEDGER.keep(batch, snapshots, own[own["third"] == key(replica)])
