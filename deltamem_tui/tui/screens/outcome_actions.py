"""Saying how episodes ended, and taking it back."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import DeltaMemError, TrajectoryError
from deltamem_tui.memory.episodes.outcomes import give_outcome, take_back_outcome
from deltamem_tui.text import counted
from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.tui.arrivals import Asked
from deltamem_tui.tui.models.episodes import outcome_facts
from deltamem_tui.tui.screens.base import BankScreen


class EpisodeInSight(NamedTuple):
    """The episode that a person looks at.

    Attributes:
        id: Its id.
        nodes: How many living nodes it gave.
        outcome: Reads how it ended, as the person sees it.
    """

    id: str
    nodes: int
    outcome: Callable[[], Outcome]


class _Verdict(NamedTuple):
    """What a person said here of an episode, and may take back."""

    episode_id: str
    outcome: Outcome


class JudgingScreen(BankScreen):
    """A screen of episodes that lets a person say how one ended.

    An episode may leave a filtered list by what is said of it. So what is taken back is the
    last word that was given here, wherever the cursor is by then; only when none is left, it
    is what was said another time of the episode under the cursor.
    """

    def __init__(self) -> None:
        super().__init__()
        self._verdicts: list[_Verdict] = []
        self._sought: tuple[str, Asked] | None = None

    def episode_in_sight(self) -> EpisodeInSight | None:
        """The episode under the cursor; None if there is none."""
        raise NotImplementedError

    def sought_in(self, ids: Collection[str]) -> str:
        """The episode whose outcome was taken back, if it is among these and still waited for."""
        if self._sought is None:
            return ""
        episode_id, asked = self._sought
        if not self.browser.is_awaited(asked):
            self._sought = None
        elif episode_id in ids:
            self._sought = None
            return episode_id
        return ""

    def action_judge(self, success: bool) -> None:
        """Say how the episode ended."""
        if not self.writable() or (episode := self.episode_in_sight()) is None:
            return
        back, verdicts = self.browser.key_of("take_back"), self._verdicts

        def work(bank: Bank) -> str:
            outcome = give_outcome(bank, episode.id, success=success).outcome
            verdicts.append(_Verdict(episode.id, outcome))
            said = f"{episode.id} is a {'success' if success else 'failure'}, you say"
            if episode.nodes:
                said += f"; labels stay as they are ({counted(episode.nodes, 'node')})"
            return f"{said}; {back} takes it back"

        self.change("writing the outcome", work)

    def action_take_back(self) -> None:
        """Take back what was last said of how an episode ended, and go to that episode."""
        if not self.writable() or (verdict := self._last_verdict()) is None:
            return
        verdicts, asked = self._verdicts, self.browser.asked_here()

        def work(bank: Bank) -> str:
            try:
                outcome = take_back_outcome(bank, verdict.episode_id, verdict.outcome).outcome
            except TrajectoryError:  # it stays for good, and must not hide those before it
                del verdicts[-1:]
                raise
            del verdicts[-1:]
            return f"{verdict.episode_id} is as before: {outcome_facts(outcome)}"

        if self.change("taking the outcome back", work):
            self._sought = verdict.episode_id, asked

    def _last_verdict(self) -> _Verdict | None:
        """What to take back; None if there is nothing, or it cannot be read, which is shown."""
        if self._verdicts:
            return self._verdicts[-1]
        if (episode := self.episode_in_sight()) is None:
            return None
        try:
            return _Verdict(episode.id, episode.outcome())
        except DeltaMemError as error:
            self.browser.tell_error(error)
            return None
