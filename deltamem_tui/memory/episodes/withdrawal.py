"""Taking back what an episode taught a bank, because a longer record of it takes its place.

What it counted is taken off again, by the difference that its commit made. In each tree what it
wrote is deleted, and what it revised is as it was; but only as a whole, and only while nothing
else was built on it: no node of another episode hangs below, no other episode counted it, and it
was not changed. Otherwise what stands on it would mean something else, so it stays, and the longer
record is learnt on top. A chain that it made due stays fused: that is made of other episodes.

A compaction or a merge leaves no record of what an episode counted; then its counts stay.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from msgspec import structs

from deltamem_tui.bank import replicas
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.commits.journal import Commit, Extent
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.ledger import tree_names
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.bank.tree_index import keys
from deltamem_tui.bank.undo import commits_since

if TYPE_CHECKING:
    from numpy.typing import NDArray

Address = tuple[str, int]
"""A tree's name, and the row of a node's first line."""


@dataclass(slots=True)
class LearnCommit:
    """What learning an episode changed, as far as the journal tells.

    Attributes:
        after: How much of each table counted from then on, and `before` until then.
        counted: By address, the node's counts then, and `earlier` those before.
    """

    after: Mapping[str, Extent] = field(default_factory=dict)
    before: Mapping[str, Extent] = field(default_factory=dict)
    counted: dict[Address, Sequence[int]] = field(default_factory=dict)
    earlier: dict[Address, Sequence[int]] = field(default_factory=dict)

    def added(self, address: Address) -> NDArray[np.int64]:
        """What the episode added to a node's counts."""
        now = np.array(self.counted[address], dtype=np.int64)
        before = self.earlier.get(address)
        return now if before is None else now - np.array(before, dtype=np.int64)

    def rows(self, tree: str) -> range:
        """The rows of the lines that it added to a tree."""
        first, last = self.before.get(tree, Extent()), self.after.get(tree, Extent())
        return range(first.rows, last.rows)


def withdraw(bank: Bank, batch: Batch, episode_ids: Sequence[str]) -> int:
    """Take back what some episodes taught a bank; those that wait taught it nothing.

    Returns:
        How many nodes stay although these episodes wrote them, because others build on them.
    """
    learnt = [each for each in episode_ids if bank.episodes.state(each) == EpisodeState.LEARNT]
    if not learnt:
        return 0
    known = learn_commits(bank, learnt)
    counts: defaultdict[str, dict[int, NDArray[np.int64]]] = defaultdict(dict)
    stays = 0
    for episode_id in learnt:
        commit = known.get(episode_id, LearnCommit())
        for name, row in commit.counted:
            more = commit.added((name, row))
            counts[name][row] = counts[name].get(row, np.zeros_like(more)) + more
        for name in tree_names(bank.snapshots):
            stays += _take_back(batch, bank.tree(name), episode_id, commit)
    for name, given in counts.items():
        uncount(bank, batch, name, given)
    return stays


def learn_commits(bank: Bank, episode_ids: Collection[str]) -> dict[str, LearnCommit]:
    """By episode, what learning it changed; the journal is read once, from its end."""
    trees = tree_names(bank.snapshots)
    found: dict[str, LearnCommit] = {}
    unresolved: dict[Address, LearnCommit] = {}
    last: LearnCommit | None = None
    for commit in commits_since(bank, -1):
        if last:
            last.before, last = commit.extents, None
        for address, values in _cells(commit, trees):
            if owner := unresolved.pop(address, None):
                owner.earlier[address] = values
        name = str(commit.detail.get("trajectory")) if commit.event == "learn" else ""
        if name in episode_ids and name not in found:
            last = found[name] = LearnCommit(commit.extents, {}, dict(_cells(commit, trees)))
            unresolved |= dict.fromkeys(last.counted, last)
        if len(found) == len(episode_ids) and not unresolved and not last:
            break
    return found


def _cells(commit: Commit, trees: Sequence[str]) -> Iterator[tuple[Address, Sequence[int]]]:
    for name in trees:
        for row, values in commit.cells.get(name, {}).items():
            yield (name, row), values


def _take_back(batch: Batch, tree: Tree, episode_id: str, commit: LearnCommit) -> int:
    """Take back what an episode wrote in a tree; returns how many nodes have to stay."""
    written = [row for row in written_by(tree, episode_id) if not tree.dead[row]]
    revised = [row for row in commit.rows(tree.name) if is_revision(tree, row)]
    current, births = tree.snapshot.current, tree.birth
    untouched = all(int(current[births[row]]) == row for row in revised)
    untouched = untouched and all(_stands_alone(tree, row, written, commit) for row in written)
    if not untouched:
        return len(written)
    for row in written:
        batch.revise_node(tree.name, structs.replace(tree.node_at(row), deleted=True))
    for row in revised:
        before, at = line_before(tree, row)
        batch.revise_node(tree.name, before, tree.embeddings[at])
    return 0


def written_by(tree: Tree, *episode_ids: str) -> list[int]:
    """The rows of the last lines of the nodes that episodes wrote, deleted ones among them."""
    snapshot, wanted = tree.snapshot, {each.encode() for each in episode_ids}
    one = re.escape(episode_ids[0]) if len(wanted) == 1 else '[^"]+'  # many are not sought singly
    named = re.compile(f'"trajectory":"({one})"'.encode())
    offsets = [match.start() for match in named.finditer(snapshot.text) if match[1] in wanted]
    if not offsets:
        return []
    rows = snapshot.index["offset"].searchsorted(offsets, side="right") - 1
    last = np.unique(snapshot.current[tree.birth[rows]]).tolist()
    return [row for row in last if tree.node_at(row).origin.trajectory in episode_ids]


def _stands_alone(tree: Tree, row: int, written: list[int], commit: LearnCommit) -> bool:
    """Whether nothing but the episode itself has to do with a node that it wrote."""
    birth = int(tree.birth[row])
    given = commit.counted.get((tree.name, birth))
    counts = tree.snapshot.counters[birth].tolist()
    own = counts == list(given) if given is not None else not any(counts)
    return own and row == birth and {*tree.child_rows(row).tolist()} <= {*written}


def is_revision(tree: Tree, row: int) -> bool:
    """Whether a line is a node's later one, and does more than mark its chain as fused."""
    if int(tree.birth[row]) == row or tree.snapshot.index["deleted"][row]:
        return False
    before = line_before(tree, row)[0]
    return structs.replace(tree.node_at(row), revision=before.revision) != structs.replace(
        before, consolidated=True
    )


def line_before(tree: Tree, row: int) -> tuple[Node, int]:
    """What a node said before one of its later lines, and the row of that."""
    at = int(np.flatnonzero(tree.birth[:row] == tree.birth[row])[-1])
    return tree.node_at(at), at


def uncount(
    bank: Bank, batch: Batch, name: str, given: Mapping[int, NDArray[np.int64]]
) -> dict[int, list[int]]:
    """Take counts off some nodes, at most as many as this bank counted itself.

    Returns:
        What was taken off, by the row of a node's first line.
    """
    snapshot, rows = bank.snapshots[name], np.array(sorted(given), dtype=np.int64)
    shares = replicas.but(replicas.LEDGER.entries(bank.snapshots), bank.manifest.counts_as)
    others = shares.of_tree(tree_names(bank.snapshots).index(name))
    least = others.totals(keys(snapshot.index["id"][rows]))
    counts = snapshot.counters[rows].astype(np.int64)
    left = np.maximum(counts - np.stack([given[row] for row in rows.tolist()]), least)
    batch.state_counters(name, rows, left)
    return dict(zip(rows.tolist(), (counts - left).tolist(), strict=True))
