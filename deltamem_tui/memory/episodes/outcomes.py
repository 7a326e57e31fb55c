"""Outcomes of episodes: each source's verdict is kept, and the weightiest counts.

A person's verdict counts before the log's, and that before a judge's. The others stay in
`Trajectory.verdicts`, one a source.

A verdict that contradicts what an episode was learnt as lets it wait again. Its nodes stay, under
the label of the verdict, and its record says what they were learnt as. When the episode is learnt
again, they are deleted first, but for those that nodes of others build on: a delta means nothing
without its base. What the episode counted, what it revised of others, and what a person changed of
it by hand, stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.node import Label, Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.errors import TrajectoryError
from deltamem_tui.memory.episodes.credit import put_uses
from deltamem_tui.memory.episodes.stored_episodes import LEARNT_AS, episode, unmarked
from deltamem_tui.text import counted
from deltamem_tui.trajectory.model import Outcome, OutcomeSource, Trajectory
from deltamem_tui.trajectory.receipt import together

CANNOT_TELL = "cannot tell"
"""The reason of the verdict of a person who does not know how an episode ended."""

_WEIGHTS: Mapping[OutcomeSource, int] = {"unknown": 0, "judge": 1, "stated": 2, "user": 3}


def verdicts_on(episode: Trajectory) -> tuple[Outcome, ...]:
    """Return all verdicts on an episode, the one that counts first."""
    return tuple(each for each in (episode.outcome, *episode.verdicts) if each.source != "unknown")


def with_verdict(episode: Trajectory, verdict: Outcome) -> Trajectory:
    """Return the episode with one more verdict; the last of each source is kept.

    A source that names no success, such as a bare reward, counts for less than any that does.
    """
    known = _by_source((*reversed(verdicts_on(episode)), verdict))
    ranked = sorted(known, key=lambda each: (each.known, _WEIGHTS[each.source]), reverse=True)
    first = ranked[0] if ranked else Outcome()
    return episode.with_facts(outcome=first, verdicts=tuple(ranked[1:]))


def with_facts_of(episode: Trajectory, other: Trajectory) -> Trajectory:
    """Return the episode with the verdicts, receipts and mark of another record of it.

    Its own outcome stays.
    """
    known = _by_source((*reversed(verdicts_on(other)), *reversed(verdicts_on(episode))))
    verdicts = tuple(each for each in known if each.source != episode.outcome.source)
    receipts = together((*other.receipts, *episode.receipts))
    if (verdicts, receipts) != (episode.verdicts, episode.receipts):
        episode = episode.with_facts(verdicts=verdicts, receipts=receipts)
    if LEARNT_AS in other.metadata and LEARNT_AS not in episode.metadata:
        mark = {LEARNT_AS: other.metadata[LEARNT_AS]}
        episode = episode.with_facts(metadata={**episode.metadata, **mark})
    return episode


def weighed(episode: Trajectory) -> Trajectory:
    """Return the episode with its weightiest verdict as outcome if a judge's counted.

    With the admission `coarse`, episodes are learnt by a judge's verdict although others know.
    """
    judged = episode.outcome.source == "judge"
    return with_verdict(episode, episode.outcome) if judged else episode


def _by_source(verdicts: Iterable[Outcome]) -> list[Outcome]:
    """Return the last verdict of each source, the weightiest first."""
    last = {each.source: each for each in verdicts if each.source != "unknown"}
    return sorted(last.values(), key=lambda each: _WEIGHTS[each.source], reverse=True)


# A person's verdict


def give_outcome(bank: Bank, episode_id: str, *, success: bool | None) -> Trajectory:
    """Give an episode an outcome, or correct it; see `give_outcomes`."""
    return give_outcomes(bank, [episode_id], success=success)[0]


def give_outcomes(bank: Bank, ids: Sequence[str], *, success: bool | None) -> list[Trajectory]:
    """Give episodes a person's verdict in one commit, and return them with it.

    None says that the person cannot tell: that is kept, and another's verdict counts. An episode
    that waited without an outcome can be learnt from now on. One that was learnt as having ended
    otherwise waits again, and its nodes are marked until then.
    """
    bank.require_writable()
    with bank.writing() as batch:
        known = [known_episode(bank, each) for each in ids]
        judged = [person_verdict(each, success=success) for each in known]
        if found := overturned(bank, known, judged):
            for name, node in found.nodes:
                batch.revise_node(name, structs.replace(node, label=found.label))
            for again in found.episodes:
                batch.set_state(again, EpisodeState.WAITING)
            was = {LEARNT_AS: "success" if found.label == "failure" else "failure"}
            judged = [
                each.with_facts(metadata={**was, **each.metadata})
                if each.id in found.episodes
                else each
                for each in judged
            ]
        changed = [new for old, new in zip(known, judged, strict=True) if new != old]
        for each in changed:
            batch.put_episode(each.record())
        put_uses(batch, bank, changed)
        if not changed:
            return judged
        about = {"trajectory": ids[0]} if len(ids) == 1 else {"trajectories": [*ids]}
        detail: dict[str, Any] = {**about, "success": success}
        if found:
            detail["overturned"] = [*found.episodes]
        batch.log("outcome", detail)
    return judged


def overturned_by(bank: Bank, ids: Sequence[str], *, success: bool | None) -> Overturned | None:
    """Return what a person's verdict would mark, to ask before it is given; None if nothing."""
    known = [known_episode(bank, each) for each in ids]
    return overturned(bank, known, [person_verdict(each, success=success) for each in known])


def person_verdict(episode: Trajectory, *, success: bool | None) -> Trajectory:
    """Return the episode with a person's verdict on it."""
    before = episode.outcome
    if success is None:
        return with_verdict(episode, Outcome(None, None, "user", CANNOT_TELL))
    # A reward that contradicts the person is the log's mistake, so it goes.
    reward = before.reward if before.success == success else None
    return with_verdict(episode, Outcome(success, reward, "user"))


def known_episode(bank: Bank, episode_id: str) -> Trajectory:
    """Return one episode of a bank; a TrajectoryError says that the bank does not have it."""
    known = episode(bank, episode_id)
    if known is None:
        raise TrajectoryError(f"there is no episode {episode_id}", source=str(bank.path))
    return known


# Records of one episode that an import brings

Answer = Literal["updated", "duplicate", "contradiction", "too late"]
"""Results for a record; the last two are refusals."""


def answer_to(stated: Outcome, known: Outcome, *, learnt: bool, together: bool = False) -> Answer:
    """Decide what becomes of another record of an episode by what it states.

    While the episode waits, what counts for more is taken, and a person corrects themselves. Logs
    that contradict each other are an error, and so are two verdicts of persons that came
    `together`: neither is the later one. An episode that was learnt keeps its outcome.
    """
    mine, others = (_WEIGHTS[each.source] if each.known else 0 for each in (stated, known))
    differs = stated.success != known.success
    if mine < others or (mine == others and not differs):
        return "duplicate"
    if learnt:
        return "too late" if differs and mine > _WEIGHTS["judge"] else "duplicate"
    if mine > others or (stated.source == "user" and not together):
        return "updated"
    return "duplicate" if stated.source == "judge" else "contradiction"


# An overturned verdict, and learning again


@dataclass(frozen=True, slots=True)
class Overturned:
    """The effect of a verdict on the nodes that were learnt from its episodes.

    Attributes:
        episodes: The ids of the learnt episodes that wait again.
        nodes: Collections and nodes that get the other `label`.
        kept: How many nodes keep theirs, since a person changed them.
    """

    episodes: tuple[str, ...]
    nodes: tuple[tuple[str, Node], ...]
    label: Label
    kept: int

    @property
    def text(self) -> str:
        """The effect as one sentence for a person."""
        wait = counted(len(self.episodes), "learnt episode waits", "learnt episodes wait")
        text = f"{wait} again; until then {counted(len(self.nodes), 'node')} marked as {self.label}"
        stay = counted(self.kept, "node that you edited stays", "nodes that you edited stay")
        return f"{text}; {stay} as written" if self.kept else text


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
    label: Label = "success" if True in changed.values() else "failure"
    yours = _changed_by_hand(bank) if changed else frozenset()
    found = [
        (tree.name, tree.node_at(row))
        for tree in bank.trees.values()
        for row in _living(tree, changed)
    ]
    nodes = [each for each in found if each[1].id not in yours]
    # What was learnt by another's verdict, as the admission `coarse` does, may be right already.
    wrong = {node.origin.trajectory for _, node in nodes if node.label != label}
    right = {node.origin.trajectory for _, node in nodes} - wrong
    marked = tuple((name, node) for name, node in nodes if node.label != label)
    again = tuple(each for each in changed if each not in right)
    return Overturned(again, marked, label, len(found) - len(nodes)) if again else None


def forget_lessons(bank: Bank, episode_id: str) -> None:
    """Delete what an episode taught before it is learnt again, in a commit of its own."""
    if f'"{LEARNT_AS}":'.encode() not in (bank.episodes.line(episode_id) or b""):
        return  # almost always, so the lock is not taken for it
    with bank.writing() as batch:
        known = episode(bank, episode_id)
        if known is None or LEARNT_AS not in known.metadata:
            return
        batch.put_episode(unmarked(known).record())
        stay = withdraw(bank, batch, [episode_id], edited=True)
        batch.log("relearn", {"trajectory": episode_id, "stay": stay})


def withdraw(bank: Bank, batch: Batch, episode_ids: Sequence[str], *, edited: bool = False) -> int:
    """Delete what episodes taught: those learnt again, or earlier records of a session.

    Returns:
        How many nodes stay: others hang below, a person changed them, or they were changed since
        and are not `edited`.
    """
    stay, yours = 0, _changed_by_hand(bank) if edited else frozenset()
    for tree in bank.trees.values() if episode_ids else ():
        rows = _living(tree, episode_ids)
        gone: set[int] = set()
        for row in sorted(rows, key=lambda each: -int(tree.depth[each])):
            is_free = gone.issuperset(tree.child_rows(row).tolist())
            node = tree.node_at(row)
            if is_free and (row == tree.birth[row] or (edited and node.id not in yours)):
                gone.add(row)
                batch.revise_node(tree.name, structs.replace(node, deleted=True))
            else:
                stay += 1
    return stay


def _changed_by_hand(bank: Bank) -> frozenset[str]:
    """Return the ids of the nodes whose words or label a person changed, undone or not."""
    commits = bank.journal.commits() if bank.journal.exists else ()
    changed = (each.detail.get("nodes") for each in commits if each.event in ("edit", "relabel"))
    return frozenset(node for nodes in changed if isinstance(nodes, dict) for node in nodes)


_WRITTEN_BY = re.compile(rb'"trajectory":"([^"]+)"')


def _living(tree: Tree, episode_ids: Iterable[str]) -> list[int]:
    """Return the rows of the living nodes that episodes wrote."""
    import numpy as np

    snapshot, ids = tree.snapshot, set(episode_ids)
    wanted = {each.encode() for each in ids}
    named = _WRITTEN_BY.finditer(snapshot.text) if wanted else ()
    offsets = [match.start() for match in named if match[1] in wanted]
    rows = snapshot.index["offset"].searchsorted(offsets, side="right") - 1
    last = np.unique(snapshot.current[tree.birth[rows]])
    living = last[~tree.dead[last]].tolist()
    return [row for row in living if tree.node_at(row).origin.trajectory in ids]
