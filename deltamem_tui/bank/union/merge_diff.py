"""What a merge would change in the first bank, as a difference, before anything is written.

It is what `diff` would say of that bank as it is and as it would be, in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from deltamem_tui.bank.diff import (
    BankDiff,
    CountChange,
    EpisodeDiff,
    TreeDiff,
    changed_nodes,
    manifest_changes,
    moved_nodes,
)
from deltamem_tui.bank.table import Rows
from deltamem_tui.bank.tree import Counts, Tree
from deltamem_tui.bank.tree_index import texts
from deltamem_tui.bank.union.merge import MergePlan


def difference(plan: MergePlan) -> BankDiff:
    """What differs between the first bank and what it would be."""
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

    def ids(places: Iterable[int]) -> tuple[str, ...]:
        return tuple(each.decode() for each in texts(joined.ids[list(places)]))

    return EpisodeDiff(
        added=ids(range(joined.before, len(joined.ids))),
        changed=ids(joined.revised.tolist()),
        learnt=ids(joined.learnt.tolist()),
    )
