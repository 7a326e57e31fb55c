"""A person's word on how an episode ended."""

from __future__ import annotations

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import TrajectoryError
from deltamem_tui.memory.editing import require_writable
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.readers.native import from_record, to_record


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
        BankFrozenError: The bank is frozen.
    """
    require_writable(bank)
    with bank.writing() as batch:
        record = bank.episodes.record(episode_id)
        if record is None:
            raise TrajectoryError(f"there is no episode {episode_id}", source=str(bank.path))
        known = from_record(record)
        before = known.outcome
        # A reward that contradicts the person's word is the log's mistake, so it goes.
        agrees = before.success == success
        outcome = Outcome(success, before.reward if agrees else None, "user")
        judged = known.with_outcome(outcome)
        batch.put_episode(to_record(judged))
        batch.log(
            "outcome",
            {"trajectory": episode_id, "success": success, "before": before.success},
        )
    return judged
