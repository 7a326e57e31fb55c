"""Merging banks: what several have learnt, in one, with nothing twice and nothing lost unsaid.

A plan is made first, of what the first bank has to write so that it holds what all of them
hold; making it writes nothing. Then it is written into that bank as one commit, or into a
copy of it as a new bank that appears whole. Merging is idempotent, commutative and associative
in the nodes and their counts; where banks can only keep one of several (a name, parameters),
the first one's stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from deltamem_tui.bank import credit, episodes, replicas
from deltamem_tui.bank import manifest as manifests
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.commits import journal
from deltamem_tui.bank.commits.journal import Journal
from deltamem_tui.bank.diff import (
    BankDiff,
    CountChange,
    EpisodeDiff,
    TreeDiff,
    changed_nodes,
    manifest_changes,
    moved_nodes,
)
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.table import Rows
from deltamem_tui.bank.transfer import package
from deltamem_tui.bank.tree import Counts, Tree
from deltamem_tui.bank.tree_index import places, texts
from deltamem_tui.bank.union import columns, forks, joins
from deltamem_tui.bank.union.apply import TreeChanges, TreeUpdate, tree_changes
from deltamem_tui.bank.union.columns import Claims, Flags
from deltamem_tui.bank.union.resolve import Conflict, Join
from deltamem_tui.errors import BankError


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


class MergePlan:
    """What the first of some banks has to write so that it holds what all of them hold.

    Args:
        banks: The banks. Each is taken as its handle shows it.
        reconcile: What to do with each next bank's roots; nothing if not given.
        with_episodes: Whether the episodes are merged too.

    Raises:
        BankError: The banks are of different methods, or have different collections.
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
        for other in others:
            _require_same_kind(first, other)
        self.manifest, self.disagreements = joins.joined(
            [first.manifest, *map(joins.called_as_here, others)]
        )
        self._left_out = dict.fromkeys(first.collections, 0)
        self.joins = {name: self._join(name, reconcile) for name in first.collections}
        self.updates = {name: TreeUpdate(join) for name, join in self.joins.items()}
        tables = [bank.snapshots[episodes.NAME] for bank in banks]
        self.episodes = joins.join(tables) if with_episodes else None

    @property
    def conflicts(self) -> list[Conflict]:
        """The nodes that two banks changed apart, in both trees."""
        return [conflict for join in self.joins.values() for conflict in join.conflicts]

    @cached_property
    def shares(self) -> replicas.Entries:
        """All counts by node and origin, of the nodes that are there in the end."""
        every = replicas.joined(
            [replicas.shares(bank.snapshots, bank.manifest.counts_as) for bank in self.banks]
        )
        there = np.zeros(len(every), dtype=np.bool_)
        for number, join in enumerate(self.joins.values()):
            there |= (every.tree == number) & np.isin(every.node, join.ids)
        return every.kept(there)

    @cached_property
    def credit(self) -> replicas.Entries:
        """What all episodes were shown, those of nodes too that no bank has, and how they ended."""
        ledgers = [credit.LEDGER.entries(bank.snapshots) for bank in self.banks]
        joint = replicas.joined(ledgers)
        if self.episodes is not None:
            # A bank that was shown nothing in an episode may still say how it ended.
            unsure = np.union1d(credit.disputed(ledgers, joint), self.episodes.differing)
            shown = np.intersect1d(unsure, joint.party)
            for episode, line in zip(shown, self.episodes.lines_of(shown), strict=True):
                if line:
                    credit.with_words(joint, episode, orjson.loads(line))
        return joint

    @cached_property
    def changes(self) -> Mapping[str, TreeChanges]:
        """What the merge changes in each tree of the first bank."""
        return {name: self._changes(name) for name in self.joins}

    @cached_property
    def counted_as_one(self) -> list[tuple[str, str]]:
        """Names of banks that counted apart under one origin: the greater of each count stays."""
        return [
            (one.name, two.name)
            for one, two in combinations(self.banks, 2)
            if forks.counted_apart(one, two)
        ]

    @property
    def empty(self) -> bool:
        """True if the first bank holds all that there is already."""
        nodes = any(len(update.written) for update in self.updates.values())
        counts = any(changes.counted for changes in self.changes.values())
        known = self.episodes is None or not (
            self.episodes.added or len(self.episodes.revised) or len(self.episodes.learnt)
        )
        same = self.manifest == self.banks[0].manifest
        first = self.banks[0]
        shares = replicas.shares(first.snapshots, first.manifest.counts_as)
        same &= self.credit.equals(replicas.joined([credit.LEDGER.entries(first.snapshots)]))
        return not nodes and not counts and known and same and self.shares.equals(shares)

    def check(self) -> None:
        """See that what is taken from the other banks is sound."""
        for update in self.updates.values():
            update.check()

    def counts(self, name: str) -> tuple[replicas.Values, replicas.Values]:
        """Return what the nodes of a tree count in the first bank, and what they would.

        Both int64 [nodes, 3], in the order of the join; a node that it lacks counts nothing.
        """
        update = self.updates[name]
        after = self.shares.of_tree(list(self.joins).index(name)).totals(update.join.ids)
        before = np.zeros_like(after)
        first = update.join.sides[0]
        before[: update.before] = first.snapshot.counters[first.births]
        return before, after

    def write(self, batch: Batch, target: Bank, origin: str) -> None:
        """Put all of it into a batch of the first bank, or of a copy that counts as `origin`."""
        self.check()
        for name, update in self.updates.items():
            births = update.write(batch)
            before, totals = self.counts(name)
            differ = np.flatnonzero((before != totals).any(axis=1))
            batch.state_counters(name, births[differ], totals[differ])
        credit.LEDGER.keep(batch, target.snapshots, self.credit)
        replicas.LEDGER.keep(batch, target.snapshots, replicas.but(self.shares, origin))
        if self.episodes is not None:
            self.episodes.write(batch)

    def detail(self) -> dict[str, Any]:
        """Return what the journal states of the merge."""
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
            "counted_as_one": self.counted_as_one,
            "episodes": self.episodes.added if self.episodes is not None else 0,
        }

    def _join(self, name: str, reconcile: Reconcile | None) -> Join:
        first, *others = self.banks
        join = Join(name, first.snapshots[name])
        for bank in others:
            side = columns.read(bank.snapshots[name])
            found = reconcile(join, side) if reconcile else Reconciliation()
            join.add(side, found.left_out)
            if len(found.hung):
                children, parents = np.array(found.hung, dtype=np.int64).T
                join.hang(places(join.ids, side.ids[children]), parents)
            if found.left_out is not None:
                self._left_out[name] += int(found.left_out.sum())
        return join

    def _changes(self, name: str) -> TreeChanges:
        d_max = self.manifest.settings.get(name, {}).get("d_max")
        return tree_changes(
            self.updates[name],
            *self.counts(name),
            deepest=d_max if isinstance(d_max, int) else None,
            left_out=self._left_out[name],
        )


def merge_into(target: Bank, plan: Callable[[], MergePlan]) -> MergePlan:
    """Merge banks into the first of them, as one commit.

    The plan is made while others may write; only if one did is it made again in the writer's
    turn. A bank that holds everything already is not even locked: no file of it is touched.

    `plan` makes the plan, of what the bank's handle shows; it may be called twice.

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


def merge_to(path: Path, plan: MergePlan) -> Bank:
    """Merge banks into a new one, called like its folder, which appears whole or not at all.

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
            plan.manifest.upgraded,
            name=path.name,
            replica=copy.manifest.replica,
            frozen=False,
            digests={},
        )
        provenance = joins.all_merged(plan.banks)
        manifests.write(copy.path, replace(merged, provenance=provenance))
    return Bank.open(path)


@contextmanager
def _copy(path: Path, plan: MergePlan) -> Iterator[Bank]:
    with files.new_folder(path) as draft:
        yield package.copy_into(
            draft,
            plan.banks[0],
            name=path.name,
            history=False,
            learnt=plan.episodes is not None,
        )


def _require_same_kind(first: Bank, other: Bank) -> None:
    """See that two banks are of one method, with the same collections."""
    one, two = first.manifest, other.manifest
    if one.method != two.method:
        raise BankError(
            f"the bank is of the method {two.method!r}, and {first.name} of {one.method!r}",
            source=str(other.path),
            hint="only banks of one method can be merged",
        )
    if list(one.collections.items()) != list(two.collections.items()):
        raise BankError(
            f"the bank declares other collections than {first.name}",
            source=str(other.path),
            hint="only banks with the same collections can be merged",
        )


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


def difference(plan: MergePlan) -> BankDiff:
    """Return what differs between the first bank as it is and as it would be, as `diff` would say
    it.
    """
    return BankDiff(
        manifest=tuple(manifest_changes(plan.banks[0].manifest, plan.manifest)),
        trees={name: _tree_difference(plan, name) for name in plan.joins},
        episodes=_episode_difference(plan),
    )


def _tree_difference(plan: MergePlan, name: str) -> TreeDiff:
    update = plan.updates[name]
    join, first = update.join, update.join.sides[0]
    before = Tree(name, first.snapshot)
    lived, living = update.lived, join.resolution.living
    order: Rows = np.concatenate([np.arange(update.before), update.new])
    pairs = [
        (before.node_at(int(first.rows[place])), update.node(place))
        for place in update.revised.tolist()
        if lived[place] and living[place]
    ]
    old, new = plan.counts(name)
    counted = np.flatnonzero(lived & living & (old != new).any(axis=1)).tolist()
    return TreeDiff(
        added=tuple(update.node(int(place)) for place in order[(living & ~lived)[order]]),
        removed=tuple(
            before.node_at(int(first.rows[place])) for place in np.flatnonzero(lived & ~living)
        ),
        changed=changed_nodes(pairs),
        moved=moved_nodes(pairs),
        counted=tuple(
            CountChange(join.id(place), Counts(*old[place].tolist()), Counts(*new[place].tolist()))
            for place in counted
        ),
    )


def _episode_difference(plan: MergePlan) -> EpisodeDiff:
    joined = plan.episodes
    if joined is None:
        return EpisodeDiff()

    def ids(numbers: Iterable[int]) -> tuple[str, ...]:
        return tuple(each.decode() for each in texts(joined.ids[list(numbers)]))

    return EpisodeDiff(
        added=ids(range(joined.before, len(joined.ids))),
        changed=ids(joined.revised.tolist()),
        learnt=ids(joined.learnt.tolist()),
    )
