"""Joining what banks say of themselves and of their episodes: one manifest, one record each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from deltamem_tui.bank import episodes
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.table import Rows, TableSnapshot
from deltamem_tui.bank.tree import Keys, keys, places, texts

_MERGED = "merged"
_UNSAID = ("", "generic")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Something (`task.tau_base`, `domain`, …) that a bank says otherwise; only one can stay."""

    what: str
    kept: Any
    lost: Any
    bank: str


def joined(found: Sequence[Manifest]) -> tuple[Manifest, list[Disagreement]]:
    """Return what the first bank is, after the others were merged into it.

    What it says stays; a description or domain that it lacks is the first that another has. Its
    provenance names every bank that went into it.
    """
    first, *others = found
    description = next((each.description for each in found if each.description), "")
    domain = next((each.domain for each in found if each.domain not in _UNSAID), first.domain)
    entries = [*_earlier(first)]
    for other in others:
        entries += [*_earlier(other), _entry(other)]
    entries = [each for each in _unique(entries) if each.get("origin") != first.counts_as]
    provenance = {**first.provenance, _MERGED: entries} if entries else first.provenance
    merged = replace(first, description=description, domain=domain, provenance=provenance)
    disagreements = [each for other in others for each in _disagreements(merged, other)]
    return merged, list(dict.fromkeys(disagreements))


def _disagreements(kept: Manifest, other: Manifest) -> Iterator[Disagreement]:
    for what in ("domain", "description"):
        mine, theirs = getattr(kept, what), getattr(other, what)
        if theirs not in (*_UNSAID, mine):
            yield Disagreement(what, mine, theirs, other.name)
    mine, theirs = kept.flat_settings, other.flat_settings
    for name in sorted(mine.keys() & theirs.keys()):  # an older bank does not state all
        if mine[name] != theirs[name]:
            yield Disagreement(name, mine[name], theirs[name], other.name)


def all_merged(found: Sequence[Manifest]) -> Mapping[str, Any]:
    """Return the provenance of a new bank: nothing but the banks that it was made from."""
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
    found: dict[bytes, dict[str, Any]] = {}
    for entry in entries:
        found.setdefault(orjson.dumps({**entry, "name": ""}, option=orjson.OPT_SORT_KEYS), entry)
    return list(found.values())


_OUTCOME, _VERDICTS, _RECEIPTS = "outcome", "verdicts", "receipts"
_REPLACED = "replaced_by"
_SOURCES = ("judge", "stated", "user")
"""Sources that may state an outcome, the weightiest last."""


def united(one: bytes, other: bytes) -> bytes:
    """Return the line of an episode of which two banks have different records, without its end."""
    records = parsed(one), parsed(other)
    if gone := [record for record in records if _REPLACED in record]:
        return orjson.dumps(max(gone, key=_digest))
    verdicts: dict[str, Mapping[str, Any]] = {}
    receipts: dict[str, Mapping[str, Any]] = {}
    for record in records:
        for each in (record.get(_OUTCOME), *_listed(record, _VERDICTS)):
            if isinstance(each, dict):
                source = _source(each)
                verdicts[source] = max(verdicts.get(source, each), each, key=_rank_of_source)
        for each in _listed(record, _RECEIPTS):
            if isinstance(each, dict):
                name = str(each.get("id"))
                receipts[name] = max(receipts.get(name, each), each, key=_digest)
    longer: Mapping[str, Any] = max(records, key=_rest_rank)
    # Where records are alike but for these, which one is taken must not show.
    record = {name: longer[name] for name in longer if name not in (_VERDICTS, _RECEIPTS)}
    if verdicts:
        first, *others = sorted(verdicts.values(), key=_rank, reverse=True)
        record[_OUTCOME] = first
        if kept := [each for each in others if _source(each) in _SOURCES]:
            record[_VERDICTS] = kept
    if receipts:
        record[_RECEIPTS] = [receipts[name] for name in sorted(receipts)]
    return orjson.dumps(record)


def parsed(line: bytes) -> dict[str, Any]:
    """Return the record of a line; empty if it is none."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return record if isinstance(record, dict) else {}


def _listed(record: Mapping[str, Any], name: str) -> list[Any]:
    value = record.get(name)
    return value if isinstance(value, list) else []


def _source(verdict: Mapping[str, Any]) -> str:
    source = verdict.get("source")
    return source if isinstance(source, str) else ""


def _rank(verdict: Mapping[str, Any]) -> tuple[bool, int, bytes]:
    source = _source(verdict)
    weight = _SOURCES.index(source) if source in _SOURCES else -1
    return verdict.get("success") is not None, weight, _digest(verdict)


def _rank_of_source(verdict: Mapping[str, Any]) -> tuple[bool, tuple[bool, int, bytes]]:
    """Rank verdicts of one source: a person who cannot tell took back what they said.

    Nothing says which came later, and doubt is safer than a verdict that was withdrawn.
    """
    withdrawn = _source(verdict) == "user" and verdict.get("success") is None
    return withdrawn, _rank(verdict)


def _rest_rank(record: Mapping[str, Any]) -> tuple[int, bytes]:
    said = (_OUTCOME, _VERDICTS, _RECEIPTS)
    rest = {name: value for name, value in record.items() if name not in said}
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

    def write(self, batch: Batch) -> None:
        """Put the lines and states into a batch."""
        new = batch.next_row(episodes.NAME) + np.arange(self.added)
        births = np.concatenate([self.snapshots[0].births, new])
        written = np.concatenate([np.arange(self.before, len(self.records)), self.revised])
        index = np.zeros(len(written), dtype=episodes.INDEX_TYPE)
        index["id"], index["first"] = texts(self.records["id"][written]), births[written]
        batch.extend(episodes.NAME, [self._line(place) for place in written.tolist()], index)
        states = self.records["state"]
        changed = np.concatenate([self.learnt, self.before + np.flatnonzero(states[self.before :])])
        batch.state_counters(episodes.NAME, births[changed], states[changed][:, np.newaxis])

    def lines_of(self, ids: Keys) -> list[bytes]:
        """Return the lines of some episodes; empty for one that no bank has."""
        found = places(np.ascontiguousarray(self.records["id"]), ids).tolist()
        return [self._line(place) if place >= 0 else b"" for place in found]

    def _line(self, place: int) -> bytes:
        record = self.records[place]
        snapshot, row = self.snapshots[int(record["source"])], int(record["row"])
        line = self.united.get(place) or snapshot.line(row)
        if parsed(line).get("id") != f"{int(record['id']):016x}":
            raise snapshot.table.corrupt("the index contradicts the line", f"line {row + 1}")
        return line + b"\n"


_RECORD = np.dtype([("id", "u8"), ("source", "i8"), ("row", "i8"), ("state", "i8")])


def join(snapshots: Sequence[TableSnapshot]) -> EpisodeJoin:
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
    return EpisodeJoin(records, before, snapshots, made, records["id"][sorted(differing)])


def _records(snapshot: TableSnapshot, source: int) -> NDArray[Any]:
    births = snapshot.births
    records = np.zeros(len(births), dtype=_RECORD)
    records["id"], records["source"] = keys(snapshot.index["id"][births]), source
    records["row"], records["state"] = snapshot.current[births], snapshot.counters[births, 0]
    if len(records) and int(records["state"].max()) > max(EpisodeState):
        raise snapshot.table.corrupt("an episode is in an unknown state")
    return records
