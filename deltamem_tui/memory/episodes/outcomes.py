"""Outcomes that a person gives an episode, and takes back."""

from __future__ import annotations

from typing import Any

import msgspec

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.journal import Commit
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.undo import UNDO, commits_since, last_not_undone
from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.memory.credit.crediting import put_episode
from deltamem_tui.memory.episodes.overturning import (
    give_lessons_again,
    label_of,
    overturning,
    take_back_lessons,
)
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.memory.episodes.verdicts import with_word, without_word, words_on
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.readers.native import outcome_of, to_record

CANNOT_TELL = "cannot tell"
"""The reason of a person's word who looked at an episode and does not know how it ended."""


def give_outcome(bank: Bank, episode_id: str, *, success: bool | None) -> Trajectory:
    """Give an episode an outcome, or correct it; returns the episode with it.

    None says that the person cannot tell: that is kept, and another's word counts as before.
    An episode that waited without an outcome can be learnt from now on. One that was learnt as
    having ended otherwise waits again, and what it taught is taken back (`overturning`). What log
    and judge say of it stays beside the person's word.

    Raises:
        TrajectoryError: The bank does not have the episode.
        BankCorruptError: What the bank has under this id is not that episode.
        BankFrozenError: The bank is frozen.
    """
    bank.require_writable()
    with bank.writing() as batch:
        known = known_episode(bank, episode_id)
        before = known.outcome
        judged = with_word(known, _given(success, before))
        mine = next((each for each in known.verdicts if each.source == "user"), None)
        put_episode(batch, bank, judged)
        detail = {
            "trajectory": episode_id,
            "success": success,
            "before": before.success,
            # For `take_back_outcome`.
            "outcome": to_record(known)["outcome"],
            "learnt": _is_learnt(bank, episode_id),
        }
        if mine:
            detail["user"] = msgspec.to_builtins(mine)
        found = None if success is None else overturning(bank, known, success=success)
        if success is not None and found is not None:
            label = label_of(success=success)
            detail["learnt"] = False
            detail["taken_back"] = take_back_lessons(bank, batch, episode_id, found, label)
        batch.log("outcome", detail)
    return judged


def take_back_outcome(bank: Bank, episode_id: str, shown: Outcome | None = None) -> Trajectory:
    """Take back the last outcome that a person gave an episode by `give_outcome`.

    Its outcome is again what it was before, with reward, reason and source; earlier ones can be
    taken back after it. The journal remembers them, so those from before a compaction stay. What
    the episode had taught before that outcome overturned it, it teaches again.

    An outcome that the episode was learnt with stays, too: its nodes have their label from it.

    `shown` is its outcome as the person sees it, which must still be that; None for any.

    Raises:
        TrajectoryError: The bank does not have the episode, its outcome is not the one shown, no
            given outcome is left, another one was given since, even if equal, or it was
            learnt since.
        BankError: A node that it had taught was changed since.
        BankCorruptError: What the bank has under this id is not that episode.
        BankFrozenError: The bank is frozen.
    """
    bank.require_writable()
    bank.refresh()
    seen = bank.commit.sequence
    given, superseded = _last_given(bank, episode_id)
    with bank.writing() as batch:
        known = known_episode(bank, episode_id)
        if shown is not None and known.outcome != shown:
            raise TrajectoryError(
                f"its outcome is {_described(known.outcome)} by now, which stays",
                source=episode_id,
                hint="look at it again, then repeat",
            )
        superseded |= any(_is_about(commit, episode_id) for commit in commits_since(bank, seen))
        if given is None:
            raise TrajectoryError(
                "you gave it no outcome that could be taken back", source=episode_id
            )
        before, success = _before(given, episode_id), given.detail.get("success")
        if superseded or _given(success, before) not in words_on(known):
            raise TrajectoryError(
                "another outcome was given to it since, which stays", source=episode_id
            )
        learnt_since = _is_learnt(bank, episode_id) and given.detail.get("learnt") is not True
        if learnt_since and success is not None:
            label = "success" if known.outcome.success else "failure"
            raise TrajectoryError(
                f"was learnt from as a {label} since, which stays",
                source=episode_id,
                hint="give it another outcome",
            )
        restored = without_word(known, _parsed(given.detail.get("user")), before)
        put_episode(batch, bank, restored)
        give_lessons_again(bank, batch, episode_id, given)
        batch.log(UNDO, {"undoes": given.sequence, "what": given.event, "trajectory": episode_id})
    return restored


def _last_given(bank: Bank, episode_id: str) -> tuple[Commit | None, bool]:
    """That outcome's commit, if there is one, and whether an import gave the episode one since."""
    superseded = False

    def is_given(commit: Commit) -> bool:
        nonlocal superseded
        is_about = _is_about(commit, episode_id)
        superseded |= is_about and commit.event == "import"
        return is_about and commit.event == "outcome"

    return last_not_undone(bank, is_given), superseded


def _is_about(commit: Commit, episode_id: str) -> bool:
    """Whether a commit gave an episode an outcome, or took one back."""
    if commit.event == "import":  # names the episodes that it added or gave another outcome
        ids = commit.detail.get("trajectories")
        return isinstance(ids, list) and episode_id in ids
    return commit.event in ("outcome", UNDO) and commit.detail.get("trajectory") == episode_id


def _described(outcome: Outcome) -> str:
    label = {True: "success", False: "failure", None: "unknown"}[outcome.success]
    return f"{label} (source: {outcome.source})"


def _given(success: Any, before: Outcome) -> Outcome:
    """The outcome that a person gives in place of the one before."""
    if success is None:
        return Outcome(None, None, "user", CANNOT_TELL)
    # A reward that contradicts the person is the log's mistake, so it goes.
    return Outcome(success, before.reward if before.success == success else None, "user")


def _is_learnt(bank: Bank, episode_id: str) -> bool:
    return bank.episodes.state(episode_id) == EpisodeState.LEARNT


def _before(given: Commit, episode_id: str) -> Outcome:
    """The outcome that a person's replaced."""
    if (before := _parsed(given.detail.get("outcome"))) is not None:
        return before
    raise TrajectoryError("the journal does not have its earlier outcome", source=episode_id)


def _parsed(record: Any) -> Outcome | None:
    """An outcome as the journal has it; None if it has none."""
    try:
        return None if record is None else outcome_of({"outcome": record})
    except RecordError:
        return None


def find_episode(bank: Bank, prefix: str) -> str:
    """The id of the one episode that begins with `prefix`, as a person types it.

    `last` is the one that was imported last.

    Raises:
        TrajectoryError: There is none, or more than one.
    """
    if prefix == "last" and len(bank.episodes):
        return bank.episodes.ids()[-1]
    found = [each for each in bank.episodes.ids() if each.startswith(prefix)] if prefix else []
    if len(found) == 1:
        return found[0]
    raise TrajectoryError(
        f"{len(found):,} episodes begin with {one_line(prefix, 40)!r}",
        source=str(bank.path),
        hint="type more of the id" if found else "`deltamem browse` lists the episodes",
    )


def known_episode(bank: Bank, episode_id: str) -> Trajectory:
    """One episode of a bank.

    Raises:
        TrajectoryError: The bank does not have it.
        BankCorruptError: What the bank has under this id is not that episode.
    """
    known = episode(bank, episode_id)
    if known is None:
        raise TrajectoryError(f"there is no episode {episode_id}", source=str(bank.path))
    return known
