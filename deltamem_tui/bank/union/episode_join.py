"""Joining the episodes of several banks by id: each once, learnt if it was learnt anywhere, and
replaced if it was replaced in any of them.

Episodes have no revisions. Where two banks keep the same episode otherwise, `verdict_join` makes
one record of both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deltamem_tui.bank import episodes
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.table import Rows, TableSnapshot
from deltamem_tui.bank.tree_index import Keys, keys, places, texts
from deltamem_tui.bank.union.verdict_join import parsed, united


@dataclass(frozen=True, slots=True)
class EpisodeJoin:
    """What the first of some banks has to write so that it holds the episodes of all.

    Attributes:
        ids: All episodes, those of the first bank first. uint64 [episodes].
        before: How many the first bank has.
        source: Which bank's record counts. int64 [episodes].
        rows: The row of that record's last line there. int64 [episodes].
        states: The greatest of all states. int64 [episodes].
        snapshots: The banks' tables.
        united: By place, the lines that no bank has, made of those of several.
        differing: The ids of those that some banks keep otherwise. uint64 [differing].
    """

    ids: Keys
    before: int
    source: Rows
    rows: Rows
    states: Rows
    snapshots: Sequence[TableSnapshot]
    united: Mapping[int, bytes]
    differing: Keys

    @property
    def added(self) -> int:
        """How many episodes the first bank gets."""
        return len(self.ids) - self.before

    @property
    def revised(self) -> Rows:
        """Places of the episodes that the first bank has, and gets another record of."""
        changed = self.source[: self.before] > 0
        changed[[place for place in self.united if place < self.before]] = True
        revised: Rows = np.flatnonzero(changed)
        return revised

    @property
    def learnt(self) -> Rows:
        """Places of the episodes that wait in the first bank, and were learnt in another."""
        first = self.snapshots[0]
        states = first.counters[first.births, 0]
        learnt: Rows = np.flatnonzero(self.states[: self.before] != states)
        return learnt

    def write(self, batch: Batch) -> None:
        """Put the lines and states into a batch."""
        births = np.empty(len(self.ids), dtype=np.int64)
        births[: self.before] = self.snapshots[0].births
        start = batch.next_row(episodes.NAME)
        births[self.before :] = start + np.arange(self.added)
        written = np.concatenate([np.arange(self.before, len(self.ids)), self.revised])
        lines = [self._line(int(place)) for place in written]
        index = np.zeros(len(written), dtype=episodes.INDEX_TYPE)
        index["id"], index["first"] = texts(self.ids[written]), births[written]
        batch.extend(episodes.NAME, lines, index)
        added = np.flatnonzero(self.states[self.before :])
        states = np.concatenate([self.learnt, self.before + added])
        batch.state_counters(episodes.NAME, births[states], self.states[states][:, np.newaxis])

    def lines_of(self, ids: Keys) -> list[bytes]:
        """The lines of some episodes; empty for one that no bank has."""
        found = places(self.ids, ids).tolist()
        return [self._line(place) if place >= 0 else b"" for place in found]

    def _line(self, place: int) -> bytes:
        snapshot, row = self.snapshots[int(self.source[place])], int(self.rows[place])
        line = self.united.get(place) or snapshot.line(row)
        wanted = texts(self.ids[place : place + 1])[0].decode()
        if parsed(line).get("id") != wanted:
            raise snapshot.table.corrupt("the index contradicts the line", f"line {row + 1}")
        return line + b"\n"


def join(snapshots: Sequence[TableSnapshot]) -> EpisodeJoin:
    """Join the episodes of several banks."""
    first, *others = snapshots
    ids, rows, states = _episodes(first)
    before = len(ids)
    source: Rows = np.zeros(before, dtype=np.int64)
    made: dict[int, bytes] = {}
    differing: set[int] = set()
    for number, snapshot in enumerate(others, start=1):
        their_ids, their_rows, their_states = _episodes(snapshot)
        known = places(ids, their_ids)
        for place, row in zip(known.tolist(), their_rows.tolist(), strict=True):
            if place < 0:
                continue
            mine = made.get(place) or snapshots[int(source[place])].line(int(rows[place]))
            other = snapshot.line(row)
            if mine == other:
                continue
            differing.add(place)
            line = united(mine, other)
            if line == other:
                source[place], rows[place] = number, row
                made.pop(place, None)
            elif line != mine:
                made[place] = line
        shared = known >= 0
        np.maximum.at(states, known[shared], their_states[shared])
        new = ~shared
        ids = np.concatenate([ids, their_ids[new]])
        rows = np.concatenate([rows, their_rows[new]])
        states = np.concatenate([states, their_states[new]])
        source = np.concatenate([source, np.full(int(new.sum()), number, dtype=np.int64)])
    differ = ids[sorted(differing)]
    return EpisodeJoin(ids, before, source, rows, states, snapshots, made, differ)


def _episodes(snapshot: TableSnapshot) -> tuple[Keys, Rows, Rows]:
    """The ids, last rows and states of a bank's episodes."""
    births = snapshot.births
    states = snapshot.counters[births, 0].astype(np.int64)
    if len(states) and int(states.max()) > max(EpisodeState):
        raise snapshot.table.corrupt("an episode is in a state that there is not")
    return keys(snapshot.index["id"][births]), snapshot.current[births], states
