"""Relearning: what an episode taught is marked when its outcome is overturned, then replaced.

A verdict that contradicts what an episode was learnt as lets it wait again. Its nodes stay, under
the label of the verdict, and its record says what they were learnt as. When the episode is learnt
again, they are deleted first, but for those that nodes of others build on: a delta means nothing
without its base. What the episode counted, and what it revised of others, stays.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.node import Label, Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.text import counted
from deltamem_tui.trajectory.model import Trajectory

LEARNT_AS = "learnt_as"
"""In the metadata of an episode that waits again: `success` or `failure`."""


@dataclass(frozen=True, slots=True)
class Overturned:
    """The effect of a verdict on the nodes that were learnt from its episodes.

    Attributes:
        episodes: The ids of the learnt episodes that wait again.
        nodes: Collections and nodes that get the other label.
        label: That label.
    """

    episodes: tuple[str, ...]
    nodes: tuple[tuple[str, Node], ...]
    label: Label

    @property
    def text(self) -> str:
        """The effect as one sentence for a person."""
        nodes, one = counted(len(self.nodes), "node"), len(self.episodes) == 1
        waits = (
            f"{counted(len(self.episodes), 'learnt episode')} {'waits' if one else 'wait'} again"
        )
        return (
            f"{waits}; {nodes} marked as {self.label} until {'it is' if one else 'they are'} learnt"
        )


def label_of(*, success: bool) -> Label:
    """Return the label of what is learnt from an episode that ended so."""
    return "success" if success else "failure"


def overturned(
    bank: Bank, before: Sequence[Trajectory], after: Sequence[Trajectory]
) -> Overturned | None:
    """Return what it does to nodes if the outcomes of episodes change; None if nothing.

    Nothing is written. All that change end the same after.
    """
    changed = {
        old.id: new.outcome.success
        for old, new in zip(before, after, strict=True)
        if new.outcome.success not in (None, old.outcome.success)
        and (
            LEARNT_AS in old.metadata
            or (old.outcome.known and bank.episodes.state(old.id) == EpisodeState.LEARNT)
        )
    }
    label = label_of(success=True in changed.values())
    nodes = [(tree.name, node) for tree in bank.trees.values() for node in _living(tree, changed)]
    # What was learnt by another's verdict, as the admission `coarse` does, may be right already.
    wrong = {node.origin.trajectory for _, node in nodes if node.label != label}
    right = {node.origin.trajectory for _, node in nodes} - wrong
    marked = tuple((name, node) for name, node in nodes if node.label != label)
    again = tuple(each for each in changed if each not in right)
    return Overturned(again, marked, label) if again else None


def mark(
    batch: Batch, found: Overturned | None, episodes: Sequence[Trajectory]
) -> list[Trajectory]:
    """Mark nodes and let their episodes wait; return the episodes as they are to be kept."""
    if found is None:
        return [*episodes]
    for name, node in found.nodes:
        batch.revise_node(name, structs.replace(node, label=found.label))
    for each in found.episodes:
        batch.set_state(each, EpisodeState.WAITING)
    before = {LEARNT_AS: label_of(success=found.label == "failure")}
    return [
        each.with_facts(metadata={**before, **each.metadata}) if each.id in found.episodes else each
        for each in episodes
    ]


def unmarked(episode: Trajectory) -> Trajectory:
    """Return the episode without the mark that it waits to be learnt again."""
    if LEARNT_AS not in episode.metadata:
        return episode
    facts = {name: fact for name, fact in episode.metadata.items() if name != LEARNT_AS}
    return episode.with_facts(metadata=facts)


def waits_again(bank: Bank, episode_id: str) -> bool:
    """Return true if an episode was learnt once and is to be learnt again."""
    if bank.episodes.state(episode_id) != EpisodeState.WAITING:
        return False
    return f'"{LEARNT_AS}":'.encode() in (bank.episodes.line(episode_id) or b"")


def forget_lessons(bank: Bank, episode_id: str) -> None:
    """Delete what an episode taught before it is learnt again, in a commit of its own."""
    from deltamem_tui.trajectory.readers.native import to_record  # all readers come with it

    with bank.writing() as batch:
        known = episode(bank, episode_id)
        if known is None or LEARNT_AS not in known.metadata:
            return
        batch.put_episode(to_record(unmarked(known)))
        stay = _delete_written(bank, batch, [episode_id], edited=True)
        batch.log("relearn", {"trajectory": episode_id, "stay": stay})


def withdraw(bank: Bank, batch: Batch, episode_ids: Sequence[str]) -> int:
    """Delete what earlier records of a session taught, since a longer one takes their place.

    Returns:
        How many nodes stay: others hang below, or they were changed since.
    """
    return _delete_written(bank, batch, episode_ids, edited=False)


def _delete_written(bank: Bank, batch: Batch, episode_ids: Collection[str], *, edited: bool) -> int:
    """Delete the living nodes that episodes wrote, `edited` ones too; return how many stay."""
    stay = 0
    for tree in bank.trees.values() if episode_ids else ():
        rows = [row for row in written_by(tree, *episode_ids) if not tree.dead[row]]
        gone: set[int] = set()
        for row in sorted(rows, key=lambda each: -int(tree.depth[each])):
            is_free = gone.issuperset(tree.child_rows(row).tolist())
            if is_free and (edited or row == tree.birth[row]):
                gone.add(row)
                batch.revise_node(tree.name, structs.replace(tree.node_at(row), deleted=True))
            else:
                stay += 1
    return stay


def _living(tree: Tree, ids: Collection[str]) -> Iterator[Node]:
    return (tree.node_at(row) for row in written_by(tree, *ids) if not tree.dead[row])


def written_by(tree: Tree, *episode_ids: str) -> list[int]:
    """Return the rows of the last lines of the nodes that episodes wrote, deleted ones included."""
    import numpy as np

    snapshot, wanted = tree.snapshot, {each.encode() for each in episode_ids}
    if not wanted:
        return []
    one = re.escape(episode_ids[0]) if len(wanted) == 1 else '[^"]+'  # many are not sought singly
    named = re.compile(f'"trajectory":"({one})"'.encode())
    offsets = [match.start() for match in named.finditer(snapshot.text) if match[1] in wanted]
    if not offsets:
        return []
    rows = snapshot.index["offset"].searchsorted(offsets, side="right") - 1
    last = np.unique(snapshot.current[tree.birth[rows]]).tolist()
    return [row for row in last if tree.node_at(row).origin.trajectory in episode_ids]
