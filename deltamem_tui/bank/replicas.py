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

import secrets
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank.ledger import Entries, Ledger, Values, joined, tree_names
from deltamem_tui.bank.table import TableSnapshot
from deltamem_tui.bank.tree_index import Keys, key, keys, texts
from deltamem_tui.errors import BankCorruptError

if TYPE_CHECKING:
    from deltamem_tui.bank.batch import Batch

LEDGER = Ledger("origins", "origin", 3, "a share of a node's counts")
"""Hits, recalls and successes by collection, node and replica."""
NAME = LEDGER.name


def drawn() -> str:
    """A new replica: 16 random hexadecimal digits."""
    return secrets.token_hex(8)


def but(shares: Entries, replica: str) -> Entries:
    """Only the rows of other replicas."""
    return shares.kept(shares.party != key(replica))


def shares(snapshots: Mapping[str, TableSnapshot], replica: str) -> Entries:
    """All counts of a bank by replica, its own share among them.

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
    """Where the table and the trees' counters do not go together, one line each."""
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
    return LEDGER.keep(batch, snapshots, own.kept(own.party == key(replica)))
