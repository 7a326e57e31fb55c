"""Exports: a bank packed, searched for secrets, and its provenance noted.

Episodes lose their secrets when they are imported, but a model may have seen more, a person
edits nodes by hand, and a bank may be older than a rule. So before a bank leaves, every text
in it is searched once more, by the same rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from deltamem_tui.bank import episodes
from deltamem_tui.bank import transfer as package
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.journal import FILE_NAME as JOURNAL
from deltamem_tui.bank.manifest import FILE_NAME as MANIFEST
from deltamem_tui.bank.node import Origin
from deltamem_tui.bank.transfer import Package
from deltamem_tui.bank.tree import parse_lines
from deltamem_tui.trajectory.secrets.redaction import kinds_of_secrets, may_hold_secrets

_CONTENTS = "contents"


@dataclass(frozen=True, slots=True)
class Leak:
    """A place where a secret would leave; the secret itself is not in it.

    Attributes:
        place: `task` or `env`, `trajectories`, `journal.jsonl` or `bank.json`.
        record: The node's or episode's id, or the commit's sequence; empty for `bank.json`.
    """

    place: str
    record: str
    field: str
    kind: str


@dataclass(frozen=True, slots=True)
class PreparedExport:
    """A bank that is ready to leave, with what it was learnt from: see `_contents`."""

    package: Package
    contents: Mapping[str, Any]
    leaks: tuple[Leak, ...]


def prepare(
    bank: Bank, *, with_episodes: bool = False, with_journal: bool = False, builder: str = ""
) -> PreparedExport:
    """Pack what a bank's handle shows, and search it for secrets. Nothing is written.

    The provenance names the `builder`, if one is given.
    """
    contents = _contents(bank)
    by = {"builder": builder} if builder else {}
    provenance = {**bank.manifest.provenance, **by, _CONTENTS: contents}
    found = [*_table_leaks(bank, with_episodes=with_episodes)]
    if with_journal and bank.journal.exists:
        for commit in bank.journal.commits():
            if commit.sequence <= bank.commit.sequence:
                found += _record_leaks(JOURNAL, str(commit.sequence), commit.detail)
    manifest = bank.manifest
    record = {
        "name": manifest.name,
        "description": manifest.description,
        "domain": manifest.domain,
        "embedder": manifest.embedder,
        "parameters": manifest.settings,
        "provenance": provenance,
    }
    found += _record_leaks(MANIFEST, "", record)
    packed = package.pack(
        bank, with_episodes=with_episodes, with_journal=with_journal, provenance=provenance
    )
    return PreparedExport(packed, contents, tuple(dict.fromkeys(found)))


def _table_leaks(bank: Bank, *, with_episodes: bool) -> Iterator[Leak]:
    """Yield the secrets in the lines of nodes, dead ones too, and of episodes if wanted."""
    for name in (*bank.trees, *([episodes.NAME] if with_episodes else [])):
        snapshot = bank.snapshots[name]
        for _, _, line in snapshot.table.lines(snapshot.extent):
            if may_hold_secrets(line):
                try:
                    record = orjson.loads(line)
                except ValueError as error:
                    raise snapshot.table.corrupt("holds a line that breaks the format") from error
                yield from _record_leaks(name, str(record.get("id", "")), record)


def _record_leaks(place: str, record_id: str, record: Mapping[str, Any]) -> Iterator[Leak]:
    """Return the secrets in a JSON object, by the field of it that holds them."""
    for name, value in record.items():
        for kind in sorted(
            {kind for text in _texts(name, value) for kind in kinds_of_secrets(text)}
        ):
            yield Leak(place, record_id, name, kind)


def _texts(name: str, value: Any) -> Iterator[str]:
    """Yield all texts of a JSON value, also as `name=text`: some secrets are known by name only."""
    waiting = [(name, value)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, str):
            yield f"{name}={value}"
            yield value
        elif isinstance(value, Mapping):
            waiting += value.items()
        elif isinstance(value, list | tuple):
            waiting += [(name, each) for each in value]


def _contents(bank: Bank) -> dict[str, Any]:
    """Return how many episodes left something in a bank, by its lines or by its manifest, and the
    extractors and models that wrote it.
    """
    origins = set[Origin]()
    for name in bank.trees:
        snapshot = bank.snapshots[name]
        for row, _, line in snapshot.table.lines(snapshot.extent):
            origins.add(parse_lines(snapshot.table, [line], [row])[0].origin)
    learnt = set(bank.episodes.ids()) - set(bank.episodes.waiting())
    found = learnt.union(*(each.episodes for each in origins)) - {""}
    before = bank.manifest.provenance.get(_CONTENTS)
    stated = before.get("episodes") if isinstance(before, Mapping) else None
    return {
        "episodes": max(len(found), stated if isinstance(stated, int) else 0),
        "extractors": sorted({each.extractor for each in origins} - {""}),
        "models": sorted({each.model for each in origins} - {""}),
    }
