"""Joining what banks say of themselves: of most of it only one can stay, and that is the first's.

What the others say differently is reported. Where a bank has its contents from is not a matter
of choice: its provenance names every bank that went into it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.manifest import Manifest

_MERGED = "merged"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Something (`task.tau_base`, `domain`, …) that a bank says otherwise, so that one stays."""

    what: str
    kept: Any
    lost: Any
    bank: str


def joined(found: Sequence[Manifest]) -> tuple[Manifest, list[Disagreement]]:
    """What the first bank is, after the others were merged into it.

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
    """The first bank's facts, and under `merged` those of every bank that went into it."""
    first = found[0]
    entries = [*_earlier(first)]
    for other in found[1:]:
        entries += [*_earlier(other), _entry(other)]
    others = [each for each in _unique(entries) if each.get("origin") != first.counts_as]
    return {**first.provenance, _MERGED: others} if others else first.provenance


def all_merged(banks: Sequence[Bank]) -> Mapping[str, Any]:
    """The provenance of a new bank: nothing of its own, everything of those it was made from."""
    found = map(called_as_here, banks)
    return {
        _MERGED: _unique([entry for each in found for entry in (*_earlier(each), _entry(each))])
    }


def called_as_here(bank: Bank) -> Manifest:
    """A bank's manifest under the name that people know the bank by."""
    return bank.manifest.called(bank.name)


def _entry(bank: Manifest) -> dict[str, Any]:
    own = {key: value for key, value in bank.provenance.items() if key != _MERGED}
    return {"name": bank.name, "origin": bank.counts_as, **own}


def _earlier(bank: Manifest) -> list[dict[str, Any]]:
    merged = bank.provenance.get(_MERGED, [])
    return [each for each in merged if isinstance(each, dict)] if isinstance(merged, list) else []


def _unique(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every bank once; one that was merged under two names keeps the first."""
    unique: list[dict[str, Any]] = []
    for entry in entries:
        if not any({**entry, "name": each.get("name")} == each for each in unique):
            unique.append(entry)
    return unique
