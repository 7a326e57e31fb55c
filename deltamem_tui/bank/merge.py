"""Merging banks: what several have learnt, in one, with nothing twice and nothing lost unsaid.

A plan is made first, of what the first bank has to write so that it holds what all of them
hold; making it writes nothing. Then it is written into that bank as one commit, or into a
copy of it as a new bank that appears whole. Merging is idempotent, commutative and associative
in the nodes and their counts; where banks can only keep one of several (a name, parameters),
the first one's stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from deltamem_tui.bank import episodes, ledger, transfer
from deltamem_tui.bank import manifest as manifests
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.diff import FieldChange, manifest_changes
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.episodes import EpisodeJoin
from deltamem_tui.bank.join import Conflict, Flags, Join, Update
from deltamem_tui.bank.journal import Commit
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.tree import texts
from deltamem_tui.bank.verify import require_sound
from deltamem_tui.errors import BankError

# Of the changes, in a commit's detail.
_NUMBERS = ("added", "revised", "deleted", "revived", "hidden", "loosened")
_MERGED = "merged"
_UNSAID = ("", "generic")


@dataclass(frozen=True, slots=True)
class TreeChanges:
    """The changes of a merge to one collection of the first bank. Ids, in order of birth.

    Attributes:
        added: Living nodes that it gets.
        revised: Living nodes that say something else, or have another parent.
        deleted: Nodes that another bank deleted.
        revived: Nodes that it had deleted, and another bank changed since.
        hidden: Nodes that their own bank has alive, below one that another bank deleted. They
            are kept, and come back when what is above them does.
        loosened: Nodes that became roots because they were moved below each other.
        counted: How many nodes get other counts.
    """

    added: tuple[str, ...]
    revised: tuple[str, ...]
    deleted: tuple[str, ...]
    revived: tuple[str, ...]
    hidden: tuple[str, ...]
    loosened: tuple[str, ...]
    counted: int


class MergePlan:
    """Everything the first of some banks has to write so that it holds what all of them hold.

    Args:
        banks: The banks. Each is taken as its handle shows it.
    """

    def __init__(self, banks: Sequence[Bank]) -> None:
        self.banks = tuple(banks)
        first, *others = banks
        for other in others:
            _require_same_kind(first, other)
        self.manifest, self.disagreements = _manifests_joined(
            [first.manifest, *map(_called_as_here, others)]
        )
        self.joins = {
            name: Join(name, [bank.snapshots[name] for bank in banks]) for name in first.collections
        }
        self.updates = {name: Update(join) for name, join in self.joins.items()}
        tables = [bank.snapshots[episodes.NAME] for bank in banks]
        self.episodes = EpisodeJoin.of(tables)

    @property
    def conflicts(self) -> list[Conflict]:
        """The nodes that two banks changed apart, in all collections."""
        return [conflict for join in self.joins.values() for conflict in join.conflicts]

    @cached_property
    def shares(self) -> ledger.Entries:
        """All counts by node and origin, of the nodes that are there in the end."""
        every = ledger.joined(
            [ledger.shares(bank.snapshots, bank.manifest.counts_as) for bank in self.banks]
        )
        there = np.zeros(len(every), dtype=np.bool_)
        for number, join in enumerate(self.joins.values()):
            there |= (every["tree"] == number) & np.isin(every["node"], join.ids)
        return every[there]

    @cached_property
    def credit(self) -> ledger.Entries:
        """The nodes that all episodes were shown, those that no bank has too, and all outcomes."""
        ledgers = [ledger.CREDIT.entries(bank.snapshots) for bank in self.banks]
        joint = ledger.joined(ledgers)
        # A bank that was shown nothing in an episode may still say how it ended.
        unsure = np.union1d(ledger.disputed(ledgers, joint), self.episodes.differing)
        shown = np.intersect1d(unsure, joint["third"])
        for episode, line in zip(shown, self.episodes.lines_of(shown), strict=True):
            if line:
                ledger.with_words(joint, episode, orjson.loads(line))
        return joint

    @cached_property
    def changes(self) -> Mapping[str, TreeChanges]:
        """The merge's changes to each collection of the first bank."""
        return {name: self._changes(name) for name in self.joins}

    @property
    def empty(self) -> bool:
        """True if the first bank holds all that there is already."""
        first, known = self.banks[0], self.episodes
        shares = ledger.shares(first.snapshots, first.manifest.counts_as)
        shown = ledger.joined([ledger.CREDIT.entries(first.snapshots)])
        return (
            not any(len(update.written) for update in self.updates.values())
            and not any(changes.counted for changes in self.changes.values())
            and not (known.added or len(known.revised) or len(known.learnt))
            and self.manifest == first.manifest
            and np.array_equal(self.credit, shown)
            and np.array_equal(self.shares, shares)
        )

    def check(self) -> None:
        """See that the other banks are sound."""
        for bank in self.banks[1:]:
            require_sound(bank)

    def write(self, batch: Batch, target: Bank, origin: str) -> None:
        """Put all of it into a batch of the first bank, or of a copy that counts as `origin`."""
        self.check()
        for name, update in self.updates.items():
            births = update.write(batch)
            before, totals = self._counts(name)
            differ = np.flatnonzero((before != totals).any(axis=1))
            batch.state_counters(name, births[differ], totals[differ])
        ledger.CREDIT.keep(batch, target.snapshots, self.credit)
        ledger.ORIGINS.keep(batch, target.snapshots, ledger.but(self.shares, origin))
        self._write_episodes(batch)

    def _write_episodes(self, batch: Batch) -> None:
        """Put the episodes' lines and states into a batch."""
        joined = self.episodes
        new = batch.next_row(episodes.NAME) + np.arange(joined.added)
        births = np.concatenate([joined.snapshots[0].births, new])
        written = np.concatenate([np.arange(joined.before, len(joined.records)), joined.revised])
        index = np.zeros(len(written), dtype=episodes.INDEX_TYPE)
        index["id"], index["first"] = texts(joined.records["id"][written]), births[written]
        batch.extend(episodes.NAME, [joined.line(place) for place in written.tolist()], index)
        states = joined.records["state"]
        gained = joined.before + np.flatnonzero(states[joined.before :])
        changed = np.concatenate([joined.learnt, gained])
        batch.state_counters(episodes.NAME, births[changed], states[changed][:, np.newaxis])

    def detail(self) -> dict[str, Any]:
        """Return what the journal states of the merge."""
        return {
            "from": [_described(bank) for bank in self.banks],
            "trees": {
                name: {label: len(getattr(changes, label)) for label in _NUMBERS}
                for name, changes in self.changes.items()
            },
            "conflicts": [{"tree": each.tree, "node": each.kept.id} for each in self.conflicts],
            "episodes": self.episodes.added,
        }

    def _counts(self, name: str) -> tuple[ledger.Values, ledger.Values]:
        """Return what the nodes of a join count in the first bank, and what they would.

        Both int64 [nodes, 3]; a node that it lacks counts nothing.
        """
        update = self.updates[name]
        number = list(self.joins).index(name)
        shares = self.shares[self.shares["tree"] == number]
        after = ledger.totals(shares, update.join.ids)
        before = np.zeros_like(after)
        first = update.join.sides[0]
        before[: update.before] = first.counters[first.births]
        return before, after

    def _changes(self, name: str) -> TreeChanges:
        update, (before, after) = self.updates[name], self._counts(name)
        join, holds, lived = update.join, update.join.resolution, update.lived
        new = np.arange(len(join)) >= update.before
        revised = np.isin(np.arange(len(join)), update.revised)

        def ids(mask: Flags) -> tuple[str, ...]:
            return tuple(each.decode() for each in texts(join.ids[mask]))

        return TreeChanges(
            added=ids(new & holds.living),
            revised=ids(lived & holds.living & revised),
            deleted=ids(lived & ~holds.living),
            revived=ids(~new & ~lived & holds.living),
            hidden=ids(~holds.living & ~join.claims["deleted"]),
            loosened=ids(holds.loosened & holds.living),
            counted=int((before != after).any(axis=1).sum()),
        )


def merge_into(target: Bank, plan: Callable[[], MergePlan]) -> MergePlan:
    """Merge banks into the first of them, as one commit, and return what was done.

    `plan` makes the plan, of what the bank's handle shows, while others may write; only if one
    did is it made again in the writer's turn. A bank that holds everything already is not even
    locked: no file of it is touched.

    Raises:
        BankFrozenError: The bank is frozen.
        BankCorruptError: One of the others is not sound.
    """
    target.refresh()
    target.require_writable()
    made = plan()
    if made.empty:
        return made
    planned_for = (target.tail, target.manifest)
    with target.writing() as batch:
        if (target.tail, target.manifest) != planned_for:
            made = plan()
        if not made.empty:
            made.write(batch, target, target.manifest.counts_as)
            if made.manifest != target.manifest:
                batch.replace_manifest(made.manifest)
            batch.log("merge", made.detail())
    return made


def merge_to(path: Path, plan: MergePlan) -> Bank:
    """Merge banks into a new one, called like its folder, which appears whole or not at all."""
    with files.new_folder(path) as draft:
        first = plan.banks[0]
        copy = transfer.copy_into(draft, first, name=path.name, episodes=True, history=False)
        with copy.writing() as batch:
            batch.log("merge", plan.detail())
            plan.write(batch, copy, copy.manifest.counts_as)
        transfer.settle(copy, history=False)
        made = copy.commit
        copy.journal.append(None, Commit(0, "merge", made.time, made.detail, made.extents))
        merged = replace(
            plan.manifest.upgraded,
            name=path.name,
            origin=copy.manifest.origin,
            frozen=False,
            digests={},
            provenance={_MERGED: _lineage([*map(_called_as_here, plan.banks)])},
        )
        manifests.write(copy.path, merged)
    return Bank.open(path)


def _require_same_kind(first: Bank, other: Bank) -> None:
    """See that two banks are of one method, with the same collections."""
    one, two = first.manifest, other.manifest
    message = ""
    if one.method != two.method:
        message = f"the bank is of the method {two.method!r}, and {first.name} of {one.method!r}"
    elif list(one.collections.items()) != list(two.collections.items()):
        message = f"the bank declares other collections than {first.name}"
    if message:
        hint = "only banks of one method with the same collections can be merged"
        raise BankError(message, source=str(other.path), hint=hint)


def _described(bank: Bank) -> dict[str, Any]:
    name, origin = bank.name, bank.manifest.counts_as
    return {"name": name, "origin": origin, "commit": bank.commit.sequence}


Disagreement = tuple[str, FieldChange]
"""A bank, and what it says otherwise (`task.tau_base`, `domain`, …); only one can stay."""


def _manifests_joined(found: Sequence[Manifest]) -> tuple[Manifest, list[Disagreement]]:
    """Return what the first bank is, after the others were merged into it.

    What it says stays; a description or domain that it lacks is the first that another has. Its
    provenance names every bank that went into it.
    """
    first, *others = found
    description = next((each.description for each in found if each.description), "")
    domain = next((each.domain for each in found if each.domain not in _UNSAID), first.domain)
    entries = [each for each in _lineage(found) if each.get("origin") != first.counts_as]
    provenance = {**first.provenance, _MERGED: entries} if entries else first.provenance
    merged = replace(first, description=description, domain=domain, provenance=provenance)
    disagreements = [
        (other.name, change)
        for other in others
        for change in manifest_changes(merged, replace(other, embedder=merged.embedder))
        if change.after not in _UNSAID
    ]
    return merged, list(dict.fromkeys(disagreements))


def _lineage(found: Sequence[Manifest]) -> list[dict[str, Any]]:
    """Return all banks that some were made from, each once, by the first name it was merged by."""
    entries: dict[bytes, dict[str, Any]] = {}
    for bank in found:
        own = dict(bank.provenance)
        earlier = own.pop(_MERGED, [])
        known = earlier if isinstance(earlier, list) else []
        known = [each for each in known if isinstance(each, dict)]
        for entry in (*known, {"name": bank.name, "origin": bank.counts_as, **own}):
            same = orjson.dumps({**entry, "name": ""}, option=orjson.OPT_SORT_KEYS)
            entries.setdefault(same, entry)
    return list(entries.values())


def _called_as_here(bank: Bank) -> Manifest:
    """Return a bank's manifest under the name that people know the bank by."""
    return bank.manifest.called(bank.name)
