"""Taking back what a person said of how an episode ended, as it was shown to them."""

from __future__ import annotations

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import TrajectoryError
from deltamem_tui.memory.episodes.kept import episode
from deltamem_tui.memory.episodes.verdict import take_back_outcome
from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.tui.models.episodes import outcome_facts


def take_back(bank: Bank, episode_id: str, shown: Outcome) -> str:
    """Take back what was last said of an episode.

    Args:
        bank: The bank.
        episode_id: The episode.
        shown: Its outcome as the person sees it: nobody takes back what they never saw.

    Returns:
        How it stands now, as a sentence.

    Raises:
        TrajectoryError: It has another outcome by now, or nothing is left to take back.
        BankFrozenError: The bank is frozen.
    """
    known = episode(bank, episode_id)
    if known is not None and known.outcome != shown:
        raise TrajectoryError(
            f"it is {outcome_facts(known.outcome)} by now, which stays",
            source=episode_id,
            hint="look at it again, then repeat",
        )
    outcome = take_back_outcome(bank, episode_id).outcome
    return f"{episode_id} is as before: {outcome_facts(outcome)}"
