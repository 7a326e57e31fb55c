"""Recalled nodes and how their episodes ended: a row per collection, node and episode.

An episode that was shown a node counts once for it, however often the node stood in its receipts
and whichever bank it is learnt in. So the sums, which are made of these rows when they are asked
for, depend on no order, and joining banks counts nothing twice.

A row holds the node's revision when it was shown, and a word of each source on how the episode
ended: 0 if that said nothing, else 100000 for a failure or 200000 for a success, and the reward in
ten-thousandths on top.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank import codec, episodes
from deltamem_tui.bank.codec import Keys
from deltamem_tui.bank.node import Utility
from deltamem_tui.bank.replicas import Entries, Ledger, rows_of, tree_names
from deltamem_tui.bank.table import TableSnapshot

if TYPE_CHECKING:
    from deltamem_tui.bank.batch import Batch

LEDGER = Ledger("credit", "episode", 4, "an episode that was shown a node")
"""Revision, and the words of the log, of a judge and of a person."""
NAME = LEDGER.name

UNIT = 10_000
"""Utility is counted in this part of a success."""
_FAILURE = 10 * UNIT
_REVISION, _STATED, _JUDGE, _USER = range(4)

Source = Literal["stated", "judge", "user"]
Counts64 = NDArray[np.int64]

_COLUMNS: Mapping[Source, int] = {"stated": _STATED, "judge": _JUDGE, "user": _USER}


@dataclass(frozen=True, slots=True)
class Use:
    """The nodes that an episode was shown, and its outcome.

    Attributes:
        nodes: The nodes, as (collection, node, revision when it was shown).
        words: Per source, whether it succeeded, and its reward.
    """

    episode: str
    nodes: Sequence[tuple[str, str, int]]
    words: Mapping[Source, tuple[bool, float | None]]

    @property
    def values(self) -> list[int]:
        """The words as a row holds them, behind the revision."""
        row = [0] * LEDGER.counters
        for source, (success, reward) in self.words.items():
            # In a bank from elsewhere a reward may be any number.
            share = float(success) if reward is None else min(max(reward, 0.0), 1.0)
            row[_COLUMNS[source]] = _FAILURE * (1 + success) + round(share * UNIT)
        return row


def put(batch: Batch, snapshots: Mapping[str, TableSnapshot], uses: Iterable[Use]) -> None:
    """Let the table say what some episodes were shown, and how they ended.

    Each episode once. What the table has of an episode stays, and gets the same words; nodes of
    collections that the bank lacks are left out.
    """
    given = {use.episode: use for use in uses}
    snapshot, trees = snapshots[NAME], tree_names(snapshots)
    index = snapshot.index
    ids = np.array([each.encode() for each in given], dtype="S16")
    rows = np.flatnonzero(np.isin(index["episode"], ids))
    known: dict[tuple[str, int, bytes], int] = {}
    changed: dict[int, list[int]] = {}
    for row, (*_, tree, node, episode) in zip(rows.tolist(), index[rows].tolist(), strict=True):
        known[episode.decode(), tree, node] = row
        revision = int(snapshot.counters[row, _REVISION])
        changed[row] = [revision, *given[episode.decode()].values[1:]]
    new: dict[tuple[str, int, bytes], list[int]] = {}
    for use in given.values():
        for collection, node_id, revision in use.nodes:
            if collection in trees:
                address = use.episode, trees.index(collection), node_id.encode()
                at = known.get(address)
                shown = new.setdefault(address, use.values) if at is None else changed[at]
                shown[_REVISION] = max(shown[_REVISION], revision)
    values = np.array([*changed.values()], dtype=np.int64).reshape(-1, LEDGER.counters)
    differ = (snapshot.counters[rows] != values).any(axis=1)
    batch.state_counters(NAME, rows[differ], values[differ])
    entries = [
        (tree, int(node, 16), int(episode, 16), shown)
        for (episode, tree, node), shown in new.items()
    ]
    LEDGER.add(batch, np.array(entries, dtype=LEDGER.entry_type), trees)


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
    """The credit of some nodes for the episodes of one class of evaluators.

    Attributes:
        judged: Episodes that were shown the node and whose end is known. int64 [nodes].
        utility: The sum of what they were worth, in ten-thousandths. int64 [nodes].
    """

    judged: Counts64
    utility: Counts64


@dataclass(frozen=True, slots=True)
class Credit:
    """The credit of all nodes of a tree, by the row of a node's first line.

    Attributes:
        shown: Episodes that were shown the node. int64 [rows].
        strict: What log and person say, the person before the log.
        coarse: What the judge says, where others said something too.
        last: The place of the last of them among the bank's episodes, from 1; 0 if there is none,
            or the bank does not have it. int64 [rows].
    """

    shown: Counts64
    strict: Sums
    coarse: Sums
    last: Counts64


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

    birth: Counts64
    place: Counts64
    revision: Counts64
    words: Counts64
    rows: int

    def credit(self, utility: Utility = "success") -> Credit:
        """Return the sums, for all nodes of the tree."""
        stated, judge, user = self.words.T
        strict = np.where(user > 0, user, stated)
        last = np.zeros(self.rows, dtype=np.int64)
        np.maximum.at(last, self.birth, self.place)
        return Credit(
            _sums(self.birth, self.rows),
            self._sums_of(strict, utility),
            self._sums_of(judge, utility),
            last,
        )

    def kept(self, mask: NDArray[np.bool_]) -> ShownTo:
        """Only some of the uses."""
        birth, place, revision = self.birth[mask], self.place[mask], self.revision[mask]
        return ShownTo(birth, place, revision, self.words[mask], self.rows)

    def _sums_of(self, words: Counts64, utility: Utility) -> Sums:
        judged = words > 0
        worth = words % _FAILURE if utility == "reward" else (words // _FAILURE - 1) * UNIT
        births = self.birth[judged]
        return Sums(_sums(births, self.rows), _sums(births, self.rows, worth[judged]))


def _sums(rows: Counts64, count: int, values: Counts64 | None = None) -> Counts64:
    """Per row how often it stands there, or the sum of its values. Exact up to 2⁵³."""
    return np.bincount(rows, values, minlength=count).astype(np.int64)


def shown_to(snapshots: Mapping[str, TableSnapshot], tree: str) -> ShownTo:
    """Return which episodes were shown which nodes of a tree. Nodes that it lacks are left out."""
    entries = LEDGER.entries(snapshots)
    entries = entries[entries["tree"] == tree_names(snapshots).index(tree)]
    nodes, given = snapshots[tree], snapshots[episodes.NAME]
    births = nodes.births
    at = codec.places(codec.keys(nodes.index["id"][births]), entries["node"])
    gone = codec.keys(episodes.replaced(given))
    counts = (at >= 0) & ~np.isin(entries["third"], gone)
    entries, at = entries[counts], at[counts]
    there = codec.keys(given.index["id"][episodes.standing(given)])
    order = codec.places(there, entries["third"])
    values = entries["values"]
    return ShownTo(births[at], order + 1, values[:, _REVISION], values[:, 1:], len(nodes.index))
