"""The episodes that a bank was given, learnt or waiting, and the union of those of several banks.

They are JSON records. Of what is in them only a union looks at something: verdicts and receipts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from deltamem_tui.bank.disk import files
from deltamem_tui.bank.node import are_ids
from deltamem_tui.bank.table import Rows, Table, TableSnapshot
from deltamem_tui.bank.tree import Keys, keys, places

NAME = "trajectories"

INDEX_TYPE = np.dtype([("id", "S16"), ("offset", "<u8"), ("first", "<i8")])
_OUTCOME, _VERDICTS, _RECEIPTS = "outcome", "verdicts", "receipts"
_REPLACED = "replaced_by"
_SOURCES = ("judge", "stated", "user")
"""Sources that may state an outcome, the weightiest last."""
_RECORD = np.dtype([("id", "u8"), ("source", "i8"), ("row", "i8"), ("state", "i8")])


class EpisodeState(IntEnum):
    """True if an episode was learnt; the one counter of its row.

    One that was replaced no longer counts: its session went on, and a longer record of it is
    another episode. Its last line says which.
    """

    WAITING = 0
    LEARNT = 1
    REPLACED = 2


def table(folder: Path) -> Table:
    """Return the files of the episodes."""
    return Table(
        folder=folder,
        name=NAME,
        lines_name="trajectories.jsonl",
        counters_name="trajectories.states.npy",
        counters=1,
        index_type=INDEX_TYPE,
        build_index=build_index,
    )


def standing(snapshot: TableSnapshot, *, replaced: bool = False) -> Rows:
    """Return the rows of the first lines of all episodes, in order of import. int64 [episodes].

    Those of which a longer record took the place are left out, or are the only ones.
    """
    births = snapshot.births
    is_replaced = snapshot.counters[births, 0] == EpisodeState.REPLACED
    rows: Rows = births[is_replaced == replaced]
    return rows


def build_index(table: Table, lines: Iterator[tuple[int, int, bytes]], rows: int) -> NDArray[Any]:
    """Make the index from the lines."""
    index = np.zeros(rows, dtype=INDEX_TYPE)
    births: dict[str, int] = {}
    for row, offset, line in table.exactly(lines, rows):
        record_id = _parse(table, row, line)["id"]
        index[row] = (record_id.encode(), offset, births.setdefault(record_id, row))
    return index


def _parse(table: Table, row: int, line: bytes) -> dict[str, Any]:
    try:
        record = orjson.loads(line)
        if are_ids([record["id"]]):
            return dict(record)
    except (ValueError, KeyError, TypeError):
        pass
    raise table.corrupt("not an episode", f"line {row + 1}")


class Episodes:
    """The episodes of a bank at one commit, in order of import."""

    def __init__(self, snapshot: TableSnapshot) -> None:
        self.snapshot = snapshot

    def __len__(self) -> int:
        return len(standing(self.snapshot))

    def ids(self) -> list[str]:
        """Return all ids, in order of import."""
        rows = standing(self.snapshot)
        return [bytes(value).decode() for value in self.snapshot.index["id"][rows]]

    def waiting(self) -> list[str]:
        """Return the ids of the episodes that were not learnt yet, in order of import."""
        births = self.snapshot.births
        waiting = births[self.snapshot.counters[births, 0] == EpisodeState.WAITING]
        return [bytes(value).decode() for value in self.snapshot.index["id"][waiting]]

    def learnt(self) -> int:
        """Return how many episodes were learnt."""
        states = self.snapshot.counters[self.snapshot.births, 0]
        return int(np.count_nonzero(states == EpisodeState.LEARNT))

    def state(self, episode_id: str) -> EpisodeState | None:
        """Return whether an episode was learnt; None if the bank does not have it."""
        birth = self.snapshot.first_row(episode_id)
        if birth is None:
            return None
        state = int(self.snapshot.counters[birth, 0])
        if state > max(EpisodeState):
            path = self.snapshot.table.counters_file.path
            raise files.corrupt(path, f"no state {state}", f"row {birth}")
        return EpisodeState(state)

    def record(self, episode_id: str) -> Mapping[str, Any] | None:
        """Return an episode's record as last given; None if the bank does not have it.

        Of one that was replaced it says by which.
        """
        if (row := self._row(episode_id)) is None:
            return None
        return _parse(self.snapshot.table, row, self.snapshot.line(row))

    def line(self, episode_id: str) -> bytes | None:
        """Return an episode's record as last given, not parsed; None if the bank does not have
        it.
        """
        row = self._row(episode_id)
        return None if row is None else self.snapshot.line(row)

    def _row(self, episode_id: str) -> int | None:
        birth = self.snapshot.first_row(episode_id)
        return None if birth is None else int(self.snapshot.current[birth])


def united(one: bytes, other: bytes) -> bytes:
    """Return the line of an episode of which two banks have different records, without its end."""
    records = _parsed(one), _parsed(other)
    if gone := [record for record in records if _REPLACED in record]:
        return orjson.dumps(max(gone, key=_digest))
    verdicts: dict[Any, dict[str, Any]] = {}
    receipts: dict[str, dict[str, Any]] = {}
    for record in records:
        for each in _dicts([record.get(_OUTCOME)], record.get(_VERDICTS)):
            source = str(each.get("source", ""))
            verdicts[source] = max(verdicts.get(source, each), each, key=_rank_of_source)
        for each in _dicts(record.get(_RECEIPTS)):
            name = str(each.get("id"))
            receipts[name] = max(receipts.get(name, each), each, key=_digest)
    # Where records are alike but for these, which one is taken must not show.
    rest = [{k: v for k, v in each.items() if k not in (_VERDICTS, _RECEIPTS)} for each in records]
    record = max(rest, key=_rest_rank)
    if verdicts:
        record[_OUTCOME], *others = sorted(verdicts.values(), key=_rank, reverse=True)
        if kept := [each for each in others if each.get("source") in _SOURCES]:
            record[_VERDICTS] = kept
    if receipts:
        record[_RECEIPTS] = [receipts[name] for name in sorted(receipts)]
    return orjson.dumps(record)


def _parsed(line: bytes) -> dict[str, Any]:
    """Return the record of a line; empty if it is none."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return record if isinstance(record, dict) else {}


def _dicts(*lists: Any) -> list[dict[str, Any]]:
    every = [each for found in lists if isinstance(found, list) for each in found]
    return [each for each in every if isinstance(each, dict)]


def _rank(verdict: Mapping[str, Any]) -> tuple[bool, int, bytes]:
    source = verdict.get("source")
    weight = _SOURCES.index(source) if source in _SOURCES else -1
    return verdict.get("success") is not None, weight, _digest(verdict)


def _rank_of_source(verdict: Mapping[str, Any]) -> tuple[bool, tuple[bool, int, bytes]]:
    """Rank verdicts of one source: a person who cannot tell took back what they said.

    Nothing says which came later, and doubt is safer than a verdict that was withdrawn.
    """
    withdrawn = verdict.get("source") == "user" and verdict.get("success") is None
    return withdrawn, _rank(verdict)


def _rest_rank(record: Mapping[str, Any]) -> tuple[int, bytes]:
    rest = {name: value for name, value in record.items() if name != _OUTCOME}
    return len(orjson.dumps(rest)), _digest(rest)


def _digest(value: Mapping[str, Any]) -> bytes:
    return hashlib.sha256(orjson.dumps(value)).digest()


@dataclass(frozen=True, slots=True)
class EpisodeJoin:
    """Everything the first of some banks has to write so that it holds the episodes of all.

    Attributes:
        records: The episodes, those of the first bank first: their `id`, the `source` that has the
            record that counts, the `row` of its line there, and the greatest `state` of all.
        before: How many the first bank has.
        snapshots: The banks' tables.
        united: By place, the lines that no bank has, made of those of several.
        differing: The ids of those of which banks have different records. uint64 [differing].
    """

    records: NDArray[Any]
    before: int
    snapshots: Sequence[TableSnapshot]
    united: Mapping[int, bytes]
    differing: Keys

    @classmethod
    def of(cls, snapshots: Sequence[TableSnapshot]) -> EpisodeJoin:
        """Join the episodes of several banks."""
        first, *others = snapshots
        records = _records(first, 0)
        before = len(records)
        made: dict[int, bytes] = {}
        differing: set[int] = set()
        for number, snapshot in enumerate(others, start=1):
            theirs = _records(snapshot, number)
            known = places(np.ascontiguousarray(records["id"]), np.ascontiguousarray(theirs["id"]))
            for place, row in zip(known.tolist(), theirs["row"].tolist(), strict=True):
                if place < 0:
                    continue
                source = snapshots[int(records["source"][place])]
                mine = made.get(place) or source.line(int(records["row"][place]))
                other = snapshot.line(row)
                if mine == other:
                    continue
                differing.add(place)
                line = united(mine, other)
                if line == other:
                    records["source"][place], records["row"][place] = number, row
                    made.pop(place, None)
                elif line != mine:
                    made[place] = line
            shared = known >= 0
            np.maximum.at(records["state"], known[shared], theirs["state"][shared])
            records = np.concatenate([records, theirs[~shared]])
        return cls(records, before, snapshots, made, records["id"][sorted(differing)])

    @property
    def added(self) -> int:
        """How many episodes the first bank gets."""
        return len(self.records) - self.before

    @property
    def revised(self) -> Rows:
        """Places of the episodes that the first bank has, and gets another record of."""
        changed = self.records["source"][: self.before] > 0
        changed[[place for place in self.united if place < self.before]] = True
        revised: Rows = np.flatnonzero(changed)
        return revised

    @property
    def learnt(self) -> Rows:
        """Places of the episodes that wait in the first bank, and were learnt in another."""
        first = self.snapshots[0]
        states = first.counters[first.births, 0]
        learnt: Rows = np.flatnonzero(self.records["state"][: self.before] != states)
        return learnt

    def lines_of(self, ids: Keys) -> list[bytes]:
        """Return the lines of some episodes; empty for one that no bank has."""
        found = places(np.ascontiguousarray(self.records["id"]), ids).tolist()
        return [self.line(place) if place >= 0 else b"" for place in found]

    def line(self, place: int) -> bytes:
        """Return the line of an episode, newline included."""
        record = self.records[place]
        snapshot, row = self.snapshots[int(record["source"])], int(record["row"])
        line = self.united.get(place) or snapshot.line(row)
        if _parsed(line).get("id") != f"{int(record['id']):016x}":
            raise snapshot.table.corrupt("the index contradicts the line", f"line {row + 1}")
        return line + b"\n"


def _records(snapshot: TableSnapshot, source: int) -> NDArray[Any]:
    births = snapshot.births
    records = np.zeros(len(births), dtype=_RECORD)
    records["id"], records["source"] = keys(snapshot.index["id"][births]), source
    records["row"], records["state"] = snapshot.current[births], snapshot.counters[births, 0]
    if len(records) and int(records["state"].max()) > max(EpisodeState):
        raise snapshot.table.corrupt("an episode is in an unknown state")
    return records
