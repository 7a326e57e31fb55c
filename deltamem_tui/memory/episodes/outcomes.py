"""Outcomes that a person gives an episode, and takes back."""

from __future__ import annotations

from typing import Any

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.journal import Commit
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.memory.undo import UNDO, commits_since, last_standing
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.readers.native import outcome_of, to_record


def give_outcome(bank: Bank, episode_id: str, *, success: bool) -> Trajectory:
    """Say how an episode ended, or correct what was said.

    An episode that waited without an outcome can be learnt from now on. One that was learnt
    stays learnt: the nodes it gave keep their label until somebody relabels them.

    Args:
        bank: The bank; its handle shows the new state afterwards.
        episode_id: The episode.
        success: Whether the task was solved.

    Returns:
        The episode with its new outcome.

    Raises:
        TrajectoryError: The bank does not have the episode.
        BankCorruptError: What the bank has under this id is not that episode.
        BankFrozenError: The bank is frozen.
    """
    bank.require_writable()
    with bank.writing() as batch:
        known = known_episode(bank, episode_id)
        before = known.outcome
        judged = known.with_outcome(_said(success, before))
        batch.put_episode(to_record(judged))
        batch.log(
            "outcome",
            {
                "trajectory": episode_id,
                "success": success,
                "before": before.success,
                # For `take_back_outcome`: the whole of how it stood, and what was made of it.
                "outcome": to_record(known)["outcome"],
                "learnt": _is_learnt(bank, episode_id),
            },
        )
    return judged


def take_back_outcome(bank: Bank, episode_id: str, shown: Outcome | None = None) -> Trajectory:
    """Take back what a person last said of an episode by `give_outcome`.

    Its outcome is again what it was before, with the reward, the reason and who said it; the
    words before that one can be taken back after it. The journal remembers them, so what was
    said before the bank was compacted stays.

    A word that the episode was learnt from since stays too: its nodes have their label from
    it. One on an episode that was learnt already can be taken back, since it changed no node.

    Args:
        bank: The bank; its handle shows the new state afterwards.
        episode_id: The episode.
        shown: Its outcome as the person sees it: nobody takes back what they never saw. None
            if it does not matter.

    Returns:
        The episode with the outcome that it had before.

    Raises:
        TrajectoryError: The bank does not have the episode, it has another outcome than was
            shown, no such word is left, another outcome was given to the episode since, be it
            the same, or it was learnt from since.
        BankCorruptError: What the bank has under this id is not that episode.
        BankFrozenError: The bank is frozen.
    """
    bank.require_writable()
    bank.refresh()
    seen = bank.commit.sequence
    word, superseded = _last_word(bank, episode_id)
    with bank.writing() as batch:
        known = known_episode(bank, episode_id)
        if shown is not None and known.outcome != shown:
            raise TrajectoryError(
                f"its outcome is {_told(known.outcome)} by now, which stays",
                source=episode_id,
                hint="look at it again, then repeat",
            )
        superseded |= any(_is_about(commit, episode_id) for commit in commits_since(bank, seen))
        if word is None:
            raise TrajectoryError(
                "you said nothing of it that is left to take back", source=episode_id
            )
        before = _before(word, episode_id)
        if superseded or known.outcome != _said(word.detail.get("success"), before):
            raise TrajectoryError(
                "another outcome was given to it since, which stays", source=episode_id
            )
        if _is_learnt(bank, episode_id) and word.detail.get("learnt") is not True:
            success = "success" if known.outcome.success else "failure"
            raise TrajectoryError(
                f"was learnt from as a {success} since, which stays",
                source=episode_id,
                hint="say how it ended, or relabel the nodes that it gave",
            )
        restored = known.with_outcome(before)
        batch.put_episode(to_record(restored))
        batch.log(UNDO, {"undoes": word.sequence, "what": word.event, "trajectory": episode_id})
    return restored


def _last_word(bank: Bank, episode_id: str) -> tuple[Commit | None, bool]:
    """The last outcome that a person gave an episode and did not take back.

    Returns:
        That commit, if there is one, and whether an import gave the episode an outcome since.
    """
    superseded = False

    def is_word(commit: Commit) -> bool:
        nonlocal superseded
        is_about = _is_about(commit, episode_id)
        superseded |= is_about and commit.event == "import"
        return is_about and commit.event == "outcome"

    return last_standing(bank, is_word), superseded


def _is_about(commit: Commit, episode_id: str) -> bool:
    """Whether a commit gave an episode an outcome, or took one back."""
    if commit.event == "import":  # names the episodes that it added or gave another outcome
        ids = commit.detail.get("trajectories")
        return isinstance(ids, list) and episode_id in ids
    return commit.event in ("outcome", UNDO) and commit.detail.get("trajectory") == episode_id


def _told(outcome: Outcome) -> str:
    said = {True: "success", False: "failure", None: "unknown"}[outcome.success]
    return f"{said} (source: {outcome.source})"


def _said(success: Any, before: Outcome) -> Outcome:
    """The outcome of an episode once a person said it; before that it had another."""
    # A reward that contradicts the person's word is the log's mistake, so it goes.
    return Outcome(success, before.reward if before.success == success else None, "user")


def _is_learnt(bank: Bank, episode_id: str) -> bool:
    return bank.episodes.state(episode_id) == EpisodeState.LEARNT


def _before(word: Commit, episode_id: str) -> Outcome:
    """The outcome that a person's word took the place of."""
    record = {"outcome": word.detail.get("outcome")}
    try:
        if record["outcome"] is not None:
            return outcome_of(record)
    except RecordError:
        pass
    raise TrajectoryError("the journal does not say how it stood before", source=episode_id)


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
