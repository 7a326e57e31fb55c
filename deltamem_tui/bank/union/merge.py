"""Merging banks: what several have learnt, in one, with nothing twice and nothing lost unsaid.

A plan is made first, of what the first bank has to write so that it holds what all of them
hold; making it writes nothing. Then it is written into that bank as one commit, or into a
copy of it as a new bank that appears whole. Merging is idempotent, commutative and associative
in the nodes and their counts; where banks can only keep one of several (a name, parameters),
the first one's stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from deltamem_tui.bank import episodes, origins
from deltamem_tui.bank import manifest as manifests
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits import journal
from deltamem_tui.bank.commits.batch import Batch
from deltamem_tui.bank.commits.journal import Journal
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.keys import texts
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.node import TREES, TreeName
from deltamem_tui.bank.origins import Shares
from deltamem_tui.bank.travel import copying
from deltamem_tui.bank.union import claims, episode_join
from deltamem_tui.bank.union.claims import Claims, Flags
from deltamem_tui.bank.union.episode_join import EpisodeJoin
from deltamem_tui.bank.union.grafting import Graft
from deltamem_tui.bank.union.joining import Conflict, Join

_MERGED = "merged"


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What shall happen to nodes of a bank before its tree is joined.

    Attributes:
        left_out: Nodes that are not taken, with all that claim a place below. bool [nodes].
        hung: Roots that are hung below others: their place in the bank, and in the join.
    """

    left_out: Flags | None = None
    hung: Sequence[tuple[int, int]] = ()


Reconcile = Callable[[Join, Claims], Reconciliation]
"""Looks at what was joined so far and at what comes next."""


@dataclass(frozen=True, slots=True)
class TreeChanges:
    """What a merge changes in one tree of the first bank. Ids, in order of birth.

    Attributes:
        added: Living nodes that it gets.
        revised: Living nodes that say something else, or stand elsewhere.
        deleted: Nodes that another bank deleted.
        revived: Nodes that it had deleted, and another bank changed since.
        hidden: Nodes that their own bank has alive, below one that another bank deleted. They
            are kept, and come back when what is above them does.
        loosened: Nodes that became roots because they were moved below each other.
        tombstones: How many deleted nodes it gets that it never had alive.
        left_out: How many nodes were not taken.
        counted: How many nodes get other counts.
        too_deep: How many living nodes stand deeper than the tree's D_max.
    """

    added: tuple[str, ...]
    revised: tuple[str, ...]
    deleted: tuple[str, ...]
    revived: tuple[str, ...]
    hidden: tuple[str, ...]
    loosened: tuple[str, ...]
    tombstones: int
    left_out: int
    counted: int
    too_deep: int


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Something that banks say differently, and of which only one can stay.

    Attributes:
        what: `task.tau_base`, `domain`, `description`, ….
        kept: The value that stays.
        lost: The one that does not.
        bank: The name of the bank that says so.
    """

    what: str
    kept: Any
    lost: Any
    bank: str


class Plan:
    """What the first of some banks has to write so that it holds what all of them hold.

    Args:
        banks: The banks. Each is taken as its handle shows it.
        reconcile: What to do with each next bank's roots; nothing if not given.
        with_episodes: Whether the episodes are merged too.
    """

    def __init__(
        self,
        banks: Sequence[Bank],
        *,
        reconcile: Reconcile | None = None,
        with_episodes: bool = True,
    ) -> None:
        self.banks = tuple(banks)
        first, *others = banks
        self.manifest, self.disagreements = merged_manifest(
            [first.manifest, *map(_called_as_here, others)]
        )
        self._left_out: dict[TreeName, int] = dict.fromkeys(TREES, 0)
        self.joins = {name: self._join(name, reconcile) for name in TREES}
        self.grafts = {name: Graft(join) for name, join in self.joins.items()}
        self.episodes = self._join_episodes() if with_episodes else None

    @property
    def conflicts(self) -> list[Conflict]:
        """The nodes that two banks changed apart, in both trees."""
        return [conflict for join in self.joins.values() for conflict in join.conflicts]

    @cached_property
    def shares(self) -> Shares:
        """All counts by node and origin, of the nodes that are there in the end."""
        every = origins.joined(
            [origins.shares(bank.snapshots, bank.manifest.counts_as) for bank in self.banks]
        )
        there = np.zeros(len(every), dtype=np.bool_)
        for number, name in enumerate(TREES):
            there |= (every.tree == number) & np.isin(every.node, self.joins[name].ids)
        return every.kept(there)

    @cached_property
    def changes(self) -> Mapping[TreeName, TreeChanges]:
        """What the merge changes in each tree of the first bank."""
        return {name: self._changes(name) for name in TREES}

    @property
    def empty(self) -> bool:
        """Whether the first bank holds all that there is already."""
        nodes = any(len(graft.written) for graft in self.grafts.values())
        counts = any(changes.counted for changes in self.changes.values())
        known = self.episodes is None or not (
            self.episodes.added or len(self.episodes.revised) or len(self.episodes.learnt)
        )
        same = self.manifest == self.banks[0].manifest
        first = self.banks[0]
        shares = origins.shares(first.snapshots, first.manifest.counts_as)
        return not nodes and not counts and known and same and self.shares.equals(shares)

    def counts(self, name: TreeName) -> tuple[origins.Values, origins.Values]:
        """What the nodes of a tree count in the first bank, and what they would.

        Both int64 [nodes, 3], in the order of the join; a node that it lacks counts nothing.
        """
        graft = self.grafts[name]
        after = self.shares.of_tree(name).totals(graft.join.ids)
        before = np.zeros_like(after)
        first = graft.join.sides[0]
        before[: graft.before] = first.snapshot.counters[first.births]
        return before, after

    def write(self, batch: Batch, target: Bank, origin: str) -> None:
        """Put all of it into a batch.

        Args:
            batch: A batch of the first bank, or of a copy of it.
            target: That bank.
            origin: What that bank counts as.
        """
        for name, graft in self.grafts.items():
            births = graft.write(batch)
            before, totals = self.counts(name)
            differ = np.flatnonzero((before != totals).any(axis=1))
            batch.state_counters(name, births[differ], totals[differ])
        origins.keep(batch, target.snapshots[origins.NAME], self.shares.but(origin))
        if self.episodes is not None:
            self.episodes.write(batch)

    def detail(self) -> dict[str, Any]:
        """What the journal tells of the merge."""
        return {
            "from": [_described(bank) for bank in self.banks],
            "trees": {
                name: {
                    "added": len(changes.added),
                    "revised": len(changes.revised),
                    "deleted": len(changes.deleted),
                    "revived": len(changes.revived),
                    "hidden": list(changes.hidden),
                    "loosened": list(changes.loosened),
                    "left_out": changes.left_out,
                    "counted": changes.counted,
                }
                for name, changes in self.changes.items()
            },
            "conflicts": [
                {
                    "tree": each.tree,
                    "node": each.kept.id,
                    "kept_from": self.banks[each.kept_from].name,
                    "lost_from": self.banks[each.lost_from].name,
                }
                for each in self.conflicts
            ],
            "episodes": self.episodes.added if self.episodes is not None else 0,
        }

    def _join(self, name: TreeName, reconcile: Reconcile | None) -> Join:
        first, *others = self.banks
        join = Join(name, first.snapshots[name])
        for bank in others:
            side = claims.read(bank.snapshots[name])
            found = reconcile(join, side) if reconcile else Reconciliation()
            join.add(side, found.left_out)
            for child, parent in found.hung:
                join.hang(int(join.find(side.ids[child : child + 1])[0]), parent)
            if found.left_out is not None:
                self._left_out[name] += int(found.left_out.sum())
        return join

    def _join_episodes(self) -> EpisodeJoin:
        return episode_join.join([bank.snapshots[episodes.NAME] for bank in self.banks])

    def _changes(self, name: TreeName) -> TreeChanges:
        graft = self.grafts[name]
        join, holds = graft.join, graft.join.holding
        lived = np.zeros(len(join), dtype=np.bool_)
        first = join.sides[0]
        lived[: graft.before] = ~first.snapshot.index["deleted"][first.rows]
        new = np.arange(len(join)) >= graft.before
        revised = np.zeros(len(join), dtype=np.bool_)
        revised[graft.revised] = True
        d_max = self.manifest.parameters.get(name, {}).get("d_max")
        deepest = d_max if isinstance(d_max, int) else len(join) + 1
        before, after = self.counts(name)

        def ids(mask: Flags) -> tuple[str, ...]:
            return tuple(each.decode() for each in texts(join.ids[mask]))

        return TreeChanges(
            added=ids(new & holds.living),
            revised=ids(lived & holds.living & revised),
            deleted=ids(lived & ~holds.living),
            revived=ids(~new & ~lived & holds.living),
            hidden=ids(~holds.living & ~join.deleted),
            loosened=ids(holds.loosened & holds.living),
            tombstones=int((new & join.deleted).sum()),
            left_out=self._left_out[name],
            counted=int((before != after).any(axis=1).sum()),
            too_deep=int((holds.living & (holds.depth > deepest)).sum()),
        )


def merge_into(target: Bank, plan: Callable[[], Plan]) -> Plan:
    """Merge banks into the first of them, as one commit.

    The plan is made while others may write; only if one did is it made again in the writer's
    turn. A bank that holds everything already is not even locked: no file of it is touched.

    Args:
        target: That bank; its handle shows the new state afterwards.
        plan: Makes the plan, of what the bank's handle shows. It may be called twice.

    Returns:
        What was done. If the bank held everything already, nothing was written.

    Raises:
        BankFrozenError: The bank is frozen.
        BankCorruptError: One of the others is not sound.
        StorageError: The disk refused; the bank is as it was.
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


def merge_to(path: Path, plan: Plan) -> Bank:
    """Merge banks into a new one, which appears whole or not at all.

    Args:
        path: The new bank's folder; its last part is the bank's name.
        plan: What is merged. Whether the episodes go along is the plan's matter.

    Raises:
        BankExistsError: Something is at `path` already.
        BankCorruptError: One of the banks is not sound.
        StorageError: The disk refused; nothing is left behind.
    """
    with _copy(path, plan) as copy:
        batch = Batch(None, copy.snapshots)
        batch.log("merge", plan.detail())
        plan.write(batch, copy, copy.manifest.counts_as)
        first = batch.write_unseen()
        Journal(copy.path / journal.FILE_NAME).append(None, first)
        merged = replace(
            plan.manifest, name=path.name, origin=copy.manifest.origin, frozen=False, digests={}
        )
        manifests.write(copy.path, replace(merged, provenance=_all_merged(plan)))
    return Bank.open(path)


@contextmanager
def _copy(path: Path, plan: Plan) -> Iterator[Bank]:
    with files.new_folder(path) as draft:
        yield copying.copy_into(
            draft,
            plan.banks[0],
            name=path.name,
            history=False,
            learnt=plan.episodes is not None,
        )


def merged_manifest(found: Sequence[Manifest]) -> tuple[Manifest, list[Disagreement]]:
    """What the first bank is, after the others were merged into it.

    Its own word stays wherever it says something; a description or domain that it lacks is
    taken from the first that has one.

    Returns:
        The manifest, and everything that others say differently.
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
    for tree in sorted({*kept.parameters, *other.parameters}):
        mine, theirs = kept.parameters.get(tree, {}), other.parameters.get(tree, {})
        for name in sorted({*mine, *theirs}):
            if mine.get(name) != theirs.get(name):
                yield Disagreement(f"{tree}.{name}", mine.get(name), theirs.get(name), other.name)


def _provenance(found: Sequence[Manifest]) -> Mapping[str, Any]:
    """The first bank's facts, and under `merged` those of every bank that went into it."""
    first = found[0]
    entries = [*_earlier(first)]
    for other in found[1:]:
        entries += [*_earlier(other), _entry(other)]
    others = [each for each in _unique(entries) if each.get("origin") != first.counts_as]
    return {**first.provenance, _MERGED: others} if others else first.provenance


def _all_merged(plan: Plan) -> Mapping[str, Any]:
    """The provenance of a new bank: nothing of its own, everything of those it was made from."""
    found = map(_called_as_here, plan.banks)
    return {
        _MERGED: _unique([entry for each in found for entry in (*_earlier(each), _entry(each))])
    }


def _called_as_here(bank: Bank) -> Manifest:
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


def _described(bank: Bank) -> dict[str, Any]:
    digest = bank.manifest.digests.get(manifests.FILE_NAME)
    described = {
        "name": bank.name,
        "origin": bank.manifest.counts_as,
        "commit": bank.commit.sequence,
        "nodes": {name: len(tree) for name, tree in bank.trees.items()},
        "episodes": len(bank.episodes),
    }
    return {**described, "digest": digest} if digest else described
