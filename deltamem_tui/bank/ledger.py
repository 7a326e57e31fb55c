"""Ledgers: tables that count of nodes by a third id, so that joining banks counts nothing twice.

*Origins* say whose counts are whose: a row per collection, node and what counted. An episode that
was learnt counts under its own id, whichever banks learn it; all else under its bank's. *Credit*
says which episodes were shown which nodes and how they ended: a row per collection, node and
episode. Of each row a merge takes the greatest counts, so it depends on no order.

A row of credit holds the node's revision when it was shown, and a verdict of each source on how
the episode ended: 0 if that said nothing, else 100000 for a failure or 200000 for a success, and
the reward in ten-thousandths on top.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import orjson
from numpy.typing import NDArray

from deltamem_tui.bank import episodes
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.node import Utility, are_ids
from deltamem_tui.bank.table import Lines, Rows, Table, TableSnapshot, collection_names
from deltamem_tui.bank.tree import Keys, key, keys, places, texts

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
    """A kind of table that counts of nodes by a third id, and the names of that and of a line."""

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
        values = ("values", "i8", (self.counters,))
        return np.dtype([("tree", "u1"), ("node", "u8"), ("third", "u8"), values])

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
        if len(found) and int(found["tree"].max()) >= len(collection_names(snapshots)):
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
        self.add(batch, new, collection_names(snapshots))
        return int(differ.sum()) + len(new)

    def add(self, batch: Batch, new: Entries, trees: Sequence[str]) -> None:
        """Add rows whose addresses the table does not have."""
        index = np.zeros(len(new), dtype=self.index_type)
        index["tree"], index["node"] = new["tree"], texts(new["node"])
        index[self.third] = texts(new["third"])
        index["first"] = batch.next_row(self.name) + np.arange(len(new))
        lines = []
        for row, entry in enumerate(index):
            address = trees[entry["tree"]], entry["node"].decode(), entry[self.third].decode()
            line_id = index["id"][row] = _line_id(*address)
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
            try:
                record = orjson.loads(line)
                tree, node, third = (record[name] for name in ("tree", "node", self.third))
                number, line_id = trees.index(tree), _line_id(tree, node, third)
                if not are_ids([node, third]) or record["id"] != line_id:
                    raise ValueError("the id is not that of its address")
            except (ValueError, KeyError, TypeError) as error:
                raise table.corrupt(f"not {self.rows_are}", f"line {row + 1}") from error
            if line_id in seen:
                raise table.corrupt(f"id {line_id} is there twice", f"line {row + 1}")
            seen.add(line_id)
            index[row] = (line_id, offset, row, number, node, third)
        return index


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


ORIGINS = Ledger("origins", "origin", 3, "a share of a node's counts")
"""Hits, recalls and successes by collection, node and origin."""


def new_origin() -> str:
    """Return a new origin: 16 random hexadecimal digits."""
    return secrets.token_hex(8)


def but(shares: Entries, origin: str) -> Entries:
    """Return only the rows of other origins."""
    others: Entries = shares[shares["third"] != key(origin)]
    return others


def shares(snapshots: Mapping[str, TableSnapshot], origin: str) -> Entries:
    """Return all counts of a bank by origin, its own share among them."""
    others = but(ORIGINS.entries(snapshots), origin)
    parts = [others]
    for number, name in enumerate(collection_names(snapshots)):
        nodes, own = _own(snapshots[name], others[others["tree"] == number])
        if (own < 0).any():
            path = snapshots[name].table.counters_file.path
            raise files.corrupt(path, next(contradictions(snapshots, origin)))
        mine = np.zeros(len(nodes), dtype=ORIGINS.entry_type)
        mine["tree"], mine["node"], mine["third"] = number, nodes, key(origin)
        mine["values"] = own
        parts.append(mine)
    every = joined(parts)
    counted: Entries = every[(every["values"] > 0).any(axis=1)]
    return counted


def contradictions(snapshots: Mapping[str, TableSnapshot], origin: str) -> Iterator[str]:
    """Yield where the table and the trees' counters do not go together, one line each."""
    others = but(ORIGINS.entries(snapshots), origin)
    for number, name in enumerate(collection_names(snapshots)):
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


def book(batch: Batch, snapshots: Mapping[str, TableSnapshot], origin: str) -> int:
    """Write a bank's own share down under its origin, before it goes on under a new one."""
    own = shares(snapshots, origin)
    return ORIGINS.keep(batch, snapshots, own[own["third"] == key(origin)])


def count_learnt(
    batch: Batch,
    snapshots: Mapping[str, TableSnapshot],
    episode: str,
    counts: Mapping[tuple[str, str], Sequence[int]],
) -> None:
    """Count for nodes, as (collection, node), that an episode was learnt: of each count once."""
    trees, snapshot = collection_names(snapshots), snapshots[ORIGINS.name]
    rows = np.flatnonzero(snapshot.index[ORIGINS.third] == episode.encode())
    its = snapshot.index[rows][["tree", "node"]].tolist()
    known = {(trees[at], node.decode()): row for (at, node), row in zip(its, rows, strict=True)}
    new = []
    for (tree, node), values in counts.items():
        row = known.get((tree, node))
        before = [0, 0, 0] if row is None else snapshot.counters[row].tolist()
        after = [*map(max, before, values)]
        hits, recalls, successes = (one - other for one, other in zip(after, before, strict=True))
        batch.count(tree, node, hits=hits, recalls=recalls, successes=successes)
        if row is None:
            new.append((trees.index(tree), int(node, 16), int(episode, 16), after))
        else:
            batch.state_counters(ORIGINS.name, np.array([row]), np.array([after]))
    ORIGINS.add(batch, np.array(new, dtype=ORIGINS.entry_type), trees)


CREDIT = Ledger("credit", "episode", 4, "an episode that was shown a node")
"""Revision, and the words of the log, of a judge and of a person."""

UNIT = 10_000
"""Utility is counted in this part of a success."""
_FAILURE = 10 * UNIT
_REVISION, _STATED, _JUDGE, _USER = range(4)

Source = Literal["stated", "judge", "user"]

_COLUMNS: Mapping[Source, int] = {"stated": _STATED, "judge": _JUDGE, "user": _USER}


@dataclass(frozen=True, slots=True)
class Use:
    """The nodes, as (collection, node, revision), that an episode was shown, and its outcome.

    Per source, its `words` are whether it succeeded, and its reward.
    """

    episode: str
    nodes: Sequence[tuple[str, str, int]]
    words: Mapping[Source, tuple[bool, float | None]]

    @property
    def values(self) -> list[int]:
        """The words as a row holds them, behind the revision."""
        row = [0] * CREDIT.counters
        for source, (success, reward) in self.words.items():
            # In a bank from elsewhere a reward may be any number.
            share = float(success) if reward is None else min(max(reward, 0.0), 1.0)
            row[_COLUMNS[source]] = _FAILURE * (1 + success) + round(share * UNIT)
        return row


def put(batch: Batch, snapshots: Mapping[str, TableSnapshot], uses: Iterable[Use]) -> None:
    """Let the table say what some episodes were shown, and how they ended.

    What the table has of an episode stays, and gets the same words; nodes of collections that the
    bank lacks are left out.
    """
    given = {int(use.episode, 16): use for use in uses}
    trees, there = collection_names(snapshots), CREDIT.entries(snapshots)
    known = there[np.isin(there["third"], np.array([*given], dtype=np.uint64))]
    for row in known:
        row["values"][1:] = given[int(row["third"])].values[1:]
    new = [
        (trees.index(collection), int(node, 16), episode, [revision, *use.values[1:]])
        for episode, use in given.items()
        for collection, node, revision in use.nodes
        if collection in trees
    ]
    CREDIT.keep(batch, snapshots, joined([known, np.array(new, dtype=CREDIT.entry_type)]))


def disputed(ledgers: Sequence[Entries], joint: Entries) -> Keys:
    """Return the episodes of which some ledger says otherwise than all together how they ended."""
    found = [
        each["third"][(joint["values"][rows_of(joint, each), 1:] != each["values"][:, 1:]).any(1)]
        for each in ledgers
    ]
    return np.unique(np.concatenate(found))


def with_words(joint: Entries, episode: np.uint64, record: Mapping[str, Any]) -> None:
    """Let the rows of an episode say, in place, what its record does of how it ended."""
    verdicts = record.get("verdicts")
    words: dict[Source, tuple[bool, float | None]] = {}
    for word in (record.get("outcome"), *(verdicts if isinstance(verdicts, list) else ())):
        said = word if isinstance(word, dict) else {}
        success, reward = said.get("success"), said.get("reward")
        for source in _COLUMNS:
            if said.get("source") == source and isinstance(success, bool):
                words[source] = success, reward if isinstance(reward, int | float) else None
    joint["values"][joint["third"] == episode, 1:] = Use("", (), words).values[1:]


@dataclass(frozen=True, slots=True)
class Sums:
    """How many episodes of known end were shown a node, and their worth in ten-thousandths.

    Both int64 [nodes].
    """

    judged: Values
    utility: Values


@dataclass(frozen=True, slots=True)
class Credit:
    """The credit of all nodes of a tree, by the row of a node's first line.

    Attributes:
        shown: Episodes that were shown the node. int64 [rows].
        strict: What log and person say, the person before the log.
        coarse: What the judge says, where others said something too.
    """

    shown: Values
    strict: Sums
    coarse: Sums


@dataclass(frozen=True, slots=True)
class ShownTo:
    """Which episodes were shown which nodes of a tree.

    Attributes:
        birth: The row of the node's first line. int64 [uses].
        place: The place of the episode among the bank's, from 1; 0 if it is not there.
            int64 [uses].
        revision: The node's revision then. int64 [uses].
        words: The rows' words: of the log, a judge, a person. int64 [uses, 3].
        rows: How many rows the tree has.
    """

    birth: Values
    place: Values
    revision: Values
    words: Values
    rows: int

    def credit(self, utility: Utility = "success") -> Credit:
        """Return the sums, for all nodes of the tree."""
        stated, judge, user = self.words.T
        strict = np.where(user > 0, user, stated)
        return Credit(
            self._summed(np.ones(len(self.birth), dtype=np.bool_)),
            self._sums_of(strict, utility),
            self._sums_of(judge, utility),
        )

    def kept(self, mask: NDArray[np.bool_]) -> ShownTo:
        """Only some of the uses."""
        birth, place, revision = self.birth[mask], self.place[mask], self.revision[mask]
        return ShownTo(birth, place, revision, self.words[mask], self.rows)

    def _sums_of(self, words: Values, utility: Utility) -> Sums:
        judged = words > 0
        worth = words % _FAILURE if utility == "reward" else (words // _FAILURE - 1) * UNIT
        return Sums(self._summed(judged), self._summed(judged, worth[judged]))

    def _summed(self, mask: NDArray[np.bool_], values: Values | None = None) -> Values:
        """Per node how many of the uses there are, or the sum of their values: exact to 2⁵³."""
        return np.bincount(self.birth[mask], values, minlength=self.rows).astype(np.int64)


def shown_to(snapshots: Mapping[str, TableSnapshot], tree: str) -> ShownTo:
    """Return which episodes were shown which nodes of a tree. Nodes that it lacks are left out."""
    entries = CREDIT.entries(snapshots)
    entries = entries[entries["tree"] == collection_names(snapshots).index(tree)]
    nodes, given = snapshots[tree], snapshots[episodes.NAME]
    births = nodes.births
    at = places(keys(nodes.index["id"][births]), entries["node"])
    gone = keys(given.index["id"][episodes.standing(given, replaced=True)])
    counts = (at >= 0) & ~np.isin(entries["third"], gone)
    entries, at = entries[counts], at[counts]
    there = keys(given.index["id"][episodes.standing(given)])
    order = places(there, entries["third"])
    values = entries["values"]
    return ShownTo(births[at], order + 1, values[:, _REVISION], values[:, 1:], len(nodes.index))
