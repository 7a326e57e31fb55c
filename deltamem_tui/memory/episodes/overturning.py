"""A verdict that overturns what an episode was learnt as: what it taught is taken back.

The episode waits again, and is learnt anew as the bank's admission lets it. What it wrote is
deleted, but a node that others' nodes hang below is relabelled, since a delta means nothing
without its base. What it revised is as it was, unless that was changed since; what it counted is
taken off. Sets that come of many episodes, and chains that were fused, stay until they are made
anew. The journal has each node's revision before, and the counts, so that all of it can be undone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct, structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.commits.journal import Commit
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.ledger import tree_names
from deltamem_tui.bank.node import Label, Node
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


@dataclass(frozen=True, slots=True)
class Overturning:
    """What a verdict does to the nodes that were learnt from its episode.

    Attributes:
        deleted: Collections and nodes that go, each before its parent.
        relabelled: Those that stay under the other label, because others hang below them.
    """

    deleted: tuple[tuple[str, Node], ...]
    relabelled: tuple[tuple[str, Node], ...]

    @property
    def nodes(self) -> frozenset[tuple[str, str]]:
        """All of them, as collection and id."""
        return frozenset((tree, node.id) for tree, node in (*self.deleted, *self.relabelled))


def overturning(bank: Bank, episode: Trajectory, *, success: bool) -> Overturning | None:
    """What a person's verdict would do. Nothing is written.

    Returns:
        None if it does nothing to any node: the episode waits, or ended so by what counts, or all
        of its nodes are labelled so by now.
    """
    is_learnt = bank.episodes.state(episode.id) == EpisodeState.LEARNT
    if not is_learnt or episode.outcome.success in (None, success):
        return None
    label = label_of(success=success)
    deleted: list[tuple[str, Node]] = []
    kept: list[tuple[str, Node]] = []
    right = []
    for name in tree_names(bank.snapshots):
        tree = bank.tree(name)
        rows = [row for row in written_by(tree, episode.id) if not tree.dead[row]]
        gone: set[int] = set()
        for row in sorted(rows, key=lambda each: -int(tree.depth[each])):
            node = tree.node_at(row)
            right.append(node.label == label)
            if gone.issuperset(tree.child_rows(row).tolist()):
                gone.add(row)
                deleted.append((name, node))
            elif node.label != label:
                kept.append((name, node))
    if right and all(right):
        return None
    return Overturning(tuple(deleted), tuple(kept))


def label_of(*, success: bool) -> Label:
    """The label of what is learnt from an episode that ended so."""
    return "success" if success else "failure"


class _TakenBack(Struct):
    """What the journal has of it.

    Attributes:
        nodes: By collection and node, the revision before.
        counts: By collection and node, what was taken off: hits, recalls and successes.
    """

    nodes: dict[str, dict[str, int]]
    counts: dict[str, dict[str, tuple[int, int, int]]]


def take_back_lessons(
    bank: Bank, batch: Batch, episode_id: str, found: Overturning, label: Label
) -> Mapping[str, Any]:
    """Take back what an episode taught, and let it wait; returns what the journal is to have."""
    revisions: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for name, node in found.deleted:
        revisions[name][node.id] = node.revision
        batch.revise_node(name, structs.replace(node, deleted=True))
    for name, node in found.relabelled:
        revisions[name][node.id] = node.revision
        batch.revise_node(name, structs.replace(node, label=label))
    commit = learn_commits(bank, [episode_id]).get(episode_id, LearnCommit())
    counts: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for name in tree_names(bank.snapshots):
        _take_back_revisions(bank, batch, name, commit, revisions[name])
        ids = bank.snapshots[name].index["id"]
        own = {row: commit.added((tree, row)) for tree, row in commit.counted if tree == name}
        for row, values in uncount(bank, batch, name, own).items() if own else ():
            counts[name][bytes(ids[row]).decode()] = values
    batch.set_state(episode_id, EpisodeState.WAITING)
    return {"nodes": revisions, "counts": counts}


def _take_back_revisions(
    bank: Bank, batch: Batch, name: str, commit: LearnCommit, known: dict[str, int]
) -> None:
    """Let nodes of other episodes that this one revised say again what they did."""
    tree = bank.tree(name)
    for row in commit.rows(name):
        if tree.snapshot.current[tree.birth[row]] != row or not is_revision(tree, row):
            continue
        node, (before, at) = tree.node_at(row), line_before(tree, row)
        if node.id not in known:
            known[node.id] = node.revision
            batch.revise_node(name, before, tree.embeddings[at])


def give_lessons_again(bank: Bank, batch: Batch, episode_id: str, commit: Commit) -> None:
    """Undo what a verdict's commit took back, if it did; the episode is learnt again.

    Raises:
        BankError: A node was changed since, or its earlier line is gone.
        TrajectoryError: The journal does not say what was taken back.
    """
    if (record := commit.detail.get("taken_back")) is None:
        return
    try:
        taken = msgspec.convert(record, _TakenBack)
    except msgspec.ValidationError as error:
        raise TrajectoryError(
            "the journal does not say what was taken back", source=episode_id
        ) from error
    for name, revisions in taken.nodes.items():
        tree = bank.tree(name)
        before = [version_before(tree, *each, commit) for each in revisions.items()]
        for node, row in sorted(before, key=lambda version: version[0].depth):
            batch.revise_node(name, node, tree.embeddings[row])
    for name, counts in taken.counts.items():
        for node_id, (hits, recalls, successes) in counts.items():
            batch.count(name, node_id, hits=hits, recalls=recalls, successes=successes)
    batch.set_state(episode_id, EpisodeState.LEARNT)
