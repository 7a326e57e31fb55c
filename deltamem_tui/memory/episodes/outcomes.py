"""Outcomes that a person gives an episode, and takes back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.journal import Commit
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.undo import UNDO, commits_since, last_not_undone
from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.memory.credit.crediting import put_episode
from deltamem_tui.memory.episodes.overturning import (
    Overturning,
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


TOGETHER = "outcomes"
"""What the journal calls a verdict on several episodes (`outcomes_together`)."""


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
        judged = with_verdict(known, success=success)
        put_episode(batch, bank, judged)
        found = None if success is None else overturning(bank, known, success=success)
        detail: dict[str, Any] = {"trajectory": episode_id, "success": success}
        detail |= before_verdict(bank, known, found)
        if success is not None and found is not None:
            label = label_of(success=success)
            detail["taken_back"] = take_back_lessons(bank, batch, found, label)
        batch.log("outcome", detail)
    return judged


def with_verdict(episode: Trajectory, *, success: bool | None) -> Trajectory:
    """The episode with a person's verdict on it."""
    return with_word(episode, _given(success, episode.outcome))


def before_verdict(bank: Bank, episode: Trajectory, found: Overturning | None) -> dict[str, Any]:
    """What the journal is to have of an episode, so that a verdict on it can be taken back.

    Args:
        bank: Its bank.
        episode: The episode without that verdict.
        found: What the verdict overturns.
    """
    mine = next((each for each in episode.verdicts if each.source == "user"), None)
    overturned = found is not None and episode.id in found.episodes
    detail = {
        "before": episode.outcome.success,
        "outcome": to_record(episode)["outcome"],
        "learnt": _is_learnt(bank, episode.id) and not overturned,
    }
    return detail | ({"user": msgspec.to_builtins(mine)} if mine else {})


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
    given, superseded = last_given(bank, episode_id)
    with bank.writing() as batch:
        known = known_episode(bank, episode_id)
        if shown is not None and known.outcome != shown:
            raise TrajectoryError(
                f"its outcome is {_described(known.outcome)} by now, which stays",
                source=episode_id,
                hint="look at it again, then repeat",
            )
        superseded |= any(episode_id in judged_by(each) for each in commits_since(bank, seen))
        if given is None:
            raise TrajectoryError(
                "you gave it no outcome that could be taken back", source=episode_id
            )
        if given.event == TOGETHER:
            raise TrajectoryError(
                f"it was given its outcome together with {len(judged_by(given)) - 1:,} others",
                source=episode_id,
                hint="`deltamem browse` takes all of them back; or give this one another",
            )
        if superseded:
            raise superseded_error(episode_id)
        restored = without_verdict(bank, known, given.detail.get("success"), given.detail)
        put_episode(batch, bank, restored)
        give_lessons_again(bank, batch, given)
        batch.log(UNDO, {"undoes": given.sequence, "what": given.event, "trajectory": episode_id})
    return restored


def without_verdict(
    bank: Bank, episode: Trajectory, success: Any, detail: Mapping[str, Any]
) -> Trajectory:
    """The episode without a person's verdict, which `before_verdict` put into the journal.

    Raises:
        TrajectoryError: Another outcome counts by now, it was learnt since, or the journal does
            not say how it ended before.
    """
    before = _before(detail, episode.id)
    if _given(success, before) not in words_on(episode):
        raise superseded_error(episode.id)
    learnt_since = _is_learnt(bank, episode.id) and detail.get("learnt") is not True
    if learnt_since and success is not None:
        label = "success" if episode.outcome.success else "failure"
        raise TrajectoryError(
            f"was learnt from as a {label} since, which stays",
            source=episode.id,
            hint="give it another outcome",
        )
    return without_word(episode, _parsed(detail.get("user")), before)


def superseded_error(episode_id: str) -> TrajectoryError:
    """The error of an outcome that cannot be taken back, because a later one counts."""
    return TrajectoryError("another outcome was given to it since, which stays", source=episode_id)


def last_given(bank: Bank, episode_id: str) -> tuple[Commit | None, bool]:
    """The commit of the last verdict that a person gave an episode, alone or together.

    Returns:
        The commit, if there is one, and whether an import gave the episode an outcome since.
    """
    superseded = False

    def is_given(commit: Commit) -> bool:
        nonlocal superseded
        is_about = episode_id in judged_by(commit)
        superseded |= is_about and commit.event == "import"
        return is_about and commit.event in ("outcome", TOGETHER)

    return last_not_undone(bank, is_given), superseded


def judged_by(commit: Commit) -> Collection[str]:
    """The episodes that a commit gave an outcome, or whose outcome it took back."""
    if commit.event == "import":  # names the episodes that it added or gave another outcome
        ids = commit.detail.get("trajectories")
    elif commit.event == TOGETHER or commit.detail.get("what") == TOGETHER:
        ids = commit.detail.get("episodes")
    else:
        is_about = commit.event in ("outcome", UNDO)
        return (str(commit.detail.get("trajectory")),) if is_about else ()
    return ids if isinstance(ids, list | dict) else ()


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


def _before(detail: Mapping[str, Any], episode_id: str) -> Outcome:
    """The outcome that a person's replaced."""
    if (before := _parsed(detail.get("outcome"))) is not None:
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
        f"{len(found):,} episodes begin with {one_line(prefix, 40)!r}"
        if found
        else f"no episode has the id {one_line(prefix, 40)!r}",
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
