"""Joining what banks say of themselves and of their episodes: one manifest, one record each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import orjson

from deltamem_tui.bank import episodes
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.table import Rows, TableSnapshot
from deltamem_tui.bank.tree_index import Keys, keys, places, texts

_MERGED = "merged"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Something (`task.tau_base`, `domain`, …) that a bank says otherwise, so that one stays."""

    what: str
    kept: Any
    lost: Any
    bank: str


def joined(found: Sequence[Manifest]) -> tuple[Manifest, list[Disagreement]]:
    """Return what the first bank is, after the others were merged into it.

    Its own word stays wherever it says something; a description or domain that it lacks is
    taken from the first that has one.
    """
    first = found[0]
    description = next((each.description for each in found if each.description), "")
    domain = next((each.domain for each in found if each.domain not in _UNSAID), first.domain)
    merged = replace(
        first,
        description=description,
        domain=domain,
        provenance=_provenance(found),
    )
    disagreements = [
        disagreement for other in found[1:] for disagreement in _disagreements(merged, other)
    ]
    return merged, list(dict.fromkeys(disagreements))


_UNSAID = ("", "generic")


def _disagreements(kept: Manifest, other: Manifest) -> Iterator[Disagreement]:
    for what in ("domain", "description"):
        mine, theirs = getattr(kept, what), getattr(other, what)
        if theirs not in (*_UNSAID, mine):
            yield Disagreement(what, mine, theirs, other.name)
    mine, theirs = kept.flat_settings, other.flat_settings
    for name in sorted(mine.keys() & theirs.keys()):  # an older bank does not state all
        if mine[name] != theirs[name]:
            yield Disagreement(name, mine[name], theirs[name], other.name)


def _provenance(found: Sequence[Manifest]) -> Mapping[str, Any]:
    """Return the first bank's facts, and under `merged` those of every bank that went into it."""
    first = found[0]
    entries = [*_earlier(first)]
    for other in found[1:]:
        entries += [*_earlier(other), _entry(other)]
    others = [each for each in _unique(entries) if each.get("origin") != first.counts_as]
    return {**first.provenance, _MERGED: others} if others else first.provenance


def all_merged(banks: Sequence[Bank]) -> Mapping[str, Any]:
    """Return the provenance of a new bank: nothing of its own, everything of those it was made
    from.
    """
    found = map(called_as_here, banks)
    return {
        _MERGED: _unique([entry for each in found for entry in (*_earlier(each), _entry(each))])
    }


def called_as_here(bank: Bank) -> Manifest:
    """Return a bank's manifest under the name that people know the bank by."""
    return bank.manifest.called(bank.name)


def _entry(bank: Manifest) -> dict[str, Any]:
    own = {key: value for key, value in bank.provenance.items() if key != _MERGED}
    return {"name": bank.name, "origin": bank.counts_as, **own}


def _earlier(bank: Manifest) -> list[dict[str, Any]]:
    merged = bank.provenance.get(_MERGED, [])
    return [each for each in merged if isinstance(each, dict)] if isinstance(merged, list) else []


def _unique(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return every bank once; one that was merged under two names keeps the first."""
    unique: list[dict[str, Any]] = []
    for entry in entries:
        if not any({**entry, "name": each.get("name")} == each for each in unique):
            unique.append(entry)
    return unique


_OUTCOME, _VERDICTS, _RECEIPTS = "outcome", "verdicts", "receipts"
_REPLACED = "replaced_by"
_SOURCES = ("judge", "stated", "user")
"""Who may say how an episode ended, the weightiest last."""


def united(one: bytes, other: bytes) -> bytes:
    """Return the line of an episode that two banks keep otherwise, without its end."""
    records = parsed(one), parsed(other)
    if gone := [record for record in records if _REPLACED in record]:
        return orjson.dumps(max(gone, key=_digest))
    words: dict[str, Mapping[str, Any]] = {}
    for record in records:
        for word in _words(record):
            source = _source(word)
            words[source] = max(words.get(source, word), word, key=_rank)
    longer: Mapping[str, Any] = max(records, key=_rest_rank)
    # Where records are alike but for these, which one is taken must not show.
    record = {name: longer[name] for name in longer if name not in (_VERDICTS, _RECEIPTS)}
    if words:
        first, *others = sorted(words.values(), key=_rank, reverse=True)
        record[_OUTCOME] = first
        kept = [each for each in others if _source(each) in _SOURCES]
        if kept:
            record[_VERDICTS] = kept
    if receipts := _receipts(records):
        record[_RECEIPTS] = receipts
    return orjson.dumps(record)


def parsed(line: bytes) -> dict[str, Any]:
    """Return the record of a line; empty if it is none."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return record if isinstance(record, dict) else {}


def _receipts(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the receipts of all records, each once; of two with one id that of the greater
    digest.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for record in records:
        given = record.get(_RECEIPTS)
        for each in given if isinstance(given, list) else ():
            if isinstance(each, dict):
                name = str(each.get("id"))
                found[name] = max(found.get(name, each), each, key=_digest)
    return [found[name] for name in sorted(found)]


def _words(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    verdicts = record.get(_VERDICTS)
    for each in (record.get(_OUTCOME), *(verdicts if isinstance(verdicts, list) else ())):
        if isinstance(each, dict):
            yield each


def _source(word: Mapping[str, Any]) -> str:
    source = word.get("source")
    return source if isinstance(source, str) else ""


def _rank(word: Mapping[str, Any]) -> tuple[bool, int, bytes]:
    source = _source(word)
    weight = _SOURCES.index(source) if source in _SOURCES else -1
    return word.get("success") is not None, weight, _digest(word)


def _rest_rank(record: Mapping[str, Any]) -> tuple[int, bytes]:
    rest = {
        name: value
        for name, value in record.items()
        if name not in (_OUTCOME, _VERDICTS, _RECEIPTS)
    }
    return len(orjson.dumps(rest)), _digest(rest)


def _digest(value: Mapping[str, Any]) -> bytes:
    return hashlib.sha256(orjson.dumps(value)).digest()


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
        """Return the lines of some episodes; empty for one that no bank has."""
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
    """Return the ids, last rows and states of a bank's episodes."""
    births = snapshot.births
    states = snapshot.counters[births, 0].astype(np.int64)
    if len(states) and int(states.max()) > max(EpisodeState):
        raise snapshot.table.corrupt("an episode is in a state that there is not")
    return keys(snapshot.index["id"][births]), snapshot.current[births], states
