"""A verdict that overturns what episodes were learnt as: what they taught is taken back.

An episode waits again, and is learnt anew as the bank's admission lets it. What it wrote is
deleted, but a node that others' nodes hang below is relabelled, since a delta means nothing
without its base. What it revised is as it was, unless that was changed since; what it counted is
taken off. Sets that come of many episodes stay and are due: their methods see that what they came
of is deleted. Chains that were fused stay. The journal has each node's revision before, and the
counts, so that all of it can be undone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.commits.journal import Commit
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.ledger import tree_names
from deltamem_tui.bank.node import Label, Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.bank.undo import version_before
from deltamem_tui.errors import TrajectoryError
from deltamem_tui.memory.episodes.withdrawal import (
    LearnCommit,
    is_revision,
    learn_commits,
    line_before,
    uncount,
    written_by,
)
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.typed import converted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Overturning:
    """What a verdict does to the nodes that were learnt from its episodes.

    Attributes:
        episodes: The ids of those that it overturns: they wait again.
        deleted: Collections and nodes that go, each before its parent.
        relabelled: Those that stay under the other label, because others hang below them.
    """

    episodes: tuple[str, ...]
    deleted: tuple[tuple[str, Node], ...]
    relabelled: tuple[tuple[str, Node], ...]

    @property
    def nodes(self) -> frozenset[tuple[str, str]]:
        """All of them, as collection and id."""
        return frozenset((tree, node.id) for tree, node in (*self.deleted, *self.relabelled))


def overturning(bank: Bank, *episodes: Trajectory, success: bool) -> Overturning | None:
    """What a person's verdict on episodes would do. Nothing is written.

    Returns:
        None if it does nothing to any node: each episode waits, or ended so by what counts, or
        all of its nodes are labelled so by now.
    """
    label = label_of(success=success)
    ids = {each.id for each in episodes if _ended_otherwise(bank, each, success)}
    rows = {name: _living(bank.tree(name), ids) for name in tree_names(bank.snapshots) if ids}
    written = [bank.tree(name).node_at(row) for name in rows for row in rows[name]]
    wrong = {each.origin.trajectory for each in written if each.label != label}
    right = {each.origin.trajectory for each in written} - wrong
    overturned = tuple(each.id for each in episodes if each.id in ids and each.id not in right)
    deleted: list[tuple[str, Node]] = []
    kept: list[tuple[str, Node]] = []
    for name, found in rows.items():
        tree = bank.tree(name)
        gone: set[int] = set()
        for row in sorted(found, key=lambda each: -int(tree.depth[each])):
            node = tree.node_at(row)
            if node.origin.trajectory in right:
                continue
            if gone.issuperset(tree.child_rows(row).tolist()):
                gone.add(row)
                deleted.append((name, node))
            elif node.label != label:
                kept.append((name, node))
    return Overturning(overturned, tuple(deleted), tuple(kept)) if overturned else None


def _ended_otherwise(bank: Bank, episode: Trajectory, success: bool) -> bool:
    """Whether an episode was learnt, and as having ended otherwise."""
    is_learnt = bank.episodes.state(episode.id) == EpisodeState.LEARNT
    return is_learnt and episode.outcome.success not in (None, success)


def _living(tree: Tree, ids: Collection[str]) -> list[int]:
    return [row for row in written_by(tree, *ids) if not tree.dead[row]]


def label_of(*, success: bool) -> Label:
    """The label of what is learnt from an episode that ended so."""
    return "success" if success else "failure"


class _TakenBack(Struct):
    """What the journal has of it.

    Attributes:
        nodes: By collection and node, the revision before.
        counts: By collection and node, what was taken off: hits, recalls and successes.
        episodes: Those that wait again; empty if it is the one that the commit names.
    """

    nodes: dict[str, dict[str, int]]
    counts: dict[str, dict[str, tuple[int, int, int]]]
    episodes: tuple[str, ...] = ()


def take_back_lessons(
    bank: Bank, batch: Batch, found: Overturning, label: Label
) -> Mapping[str, Any]:
    """Take back what episodes taught, and let them wait; returns what the journal is to have."""
    revisions: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for name, node in found.deleted:
        revisions[name][node.id] = node.revision
        batch.revise_node(name, structs.replace(node, deleted=True))
    for name, node in found.relabelled:
        revisions[name][node.id] = node.revision
        batch.revise_node(name, structs.replace(node, label=label))
    commits = learn_commits(bank, found.episodes).values()
    counts: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for name in tree_names(bank.snapshots):
        _take_back_revisions(bank, batch, name, commits, revisions[name])
        ids = bank.snapshots[name].index["id"]
        own = _counted(commits, name)
        for row, values in uncount(bank, batch, name, own).items() if own else ():
            counts[name][bytes(ids[row]).decode()] = values
    for each in found.episodes:
        batch.set_state(each, EpisodeState.WAITING)
    return {"nodes": revisions, "counts": counts, "episodes": found.episodes}


def _counted(commits: Iterable[LearnCommit], name: str) -> dict[int, NDArray[np.int64]]:
    """What episodes counted in a tree, by the row of a node's first line."""
    found: dict[int, NDArray[np.int64]] = {}
    for commit in commits:
        for tree, row in commit.counted:
            if tree == name:
                more = commit.added((tree, row))
                found[row] = found[row] + more if row in found else more
    return found


def _take_back_revisions(
    bank: Bank, batch: Batch, name: str, commits: Iterable[LearnCommit], known: dict[str, int]
) -> None:
    """Let nodes of other episodes that these revised say again what they did."""
    tree = bank.tree(name)
    rows = {row for commit in commits for row in commit.rows(name) if is_revision(tree, row)}
    for row in sorted(rows):
        if tree.snapshot.current[tree.birth[row]] != row:
            continue
        node, (before, at) = tree.node_at(row), line_before(tree, row)
        while at in rows:
            before, at = line_before(tree, at)
        if node.id not in known:
            known[node.id] = node.revision
            batch.revise_node(name, before, tree.embeddings[at])


def give_lessons_again(bank: Bank, batch: Batch, commit: Commit) -> None:
    """Undo what a verdict's commit took back, if it did; its episodes are learnt again.

    Raises:
        BankError: A node was changed since, or its earlier line is gone.
        TrajectoryError: The journal does not say what was taken back.
    """
    if (record := commit.detail.get("taken_back")) is None:
        return
    try:
        taken = converted(record, _TakenBack)
    except msgspec.ValidationError as error:
        raise TrajectoryError(
            "the journal does not say what was taken back", source=str(bank.journal.path)
        ) from error
    for name, revisions in taken.nodes.items():
        tree = bank.tree(name)
        before = [version_before(tree, *each, commit) for each in revisions.items()]
        for node, row in sorted(before, key=lambda version: version[0].depth):
            batch.revise_node(name, node, tree.embeddings[row])
    for name, counts in taken.counts.items():
        for node_id, (hits, recalls, successes) in counts.items():
            batch.count(name, node_id, hits=hits, recalls=recalls, successes=successes)
    for each in taken.episodes or (str(commit.detail.get("trajectory")),):
        batch.set_state(each, EpisodeState.LEARNT)
