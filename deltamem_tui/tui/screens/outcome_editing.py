"""What a user says of how episodes ended, and taking it back."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import DeltaMemError, TrajectoryError
from deltamem_tui.memory.episodes.outcomes import give_outcome, take_back_outcome
from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.tui.core.attention import UserPosition
from deltamem_tui.tui.models.episodes import outcome_facts
from deltamem_tui.tui.screens.base import BankScreen


class EpisodeInSight(NamedTuple):
    """The episode that the user looks at.

    Attributes:
        id: Its id.
        outcome: Reads how it ended, as the user sees it.
    """

    id: str
    outcome: Callable[[], Outcome]


class _GivenOutcome(NamedTuple):
    """An outcome that the user gave here, and may take back."""

    episode_id: str
    outcome: Outcome


class OutcomeEditor:
    """Lets the user say how an episode ended.

    An episode may leave a filtered list by the outcome that it is given. So what is taken back
    is the last outcome that was given here, wherever the cursor is by then; only when none is
    left, it is the one that the episode under the cursor was given another time.

    Args:
        screen: The screen that lists the episodes.
        in_sight: Returns the episode under the cursor; None if there is none.
    """

    def __init__(self, screen: BankScreen, in_sight: Callable[[], EpisodeInSight | None]) -> None:
        self._screen = screen
        self._in_sight = in_sight
        self._given: list[_GivenOutcome] = []
        self._target: tuple[str, UserPosition] | None = None

    def target_among(self, ids: Collection[str]) -> str:
        """Returns the episode whose outcome was taken back, if it is listed and waited for."""
        if self._target is None:
            return ""
        episode_id, position = self._target
        if not self._screen.browser.attention.is_at(position):
            self._target = None
        elif episode_id in ids:
            self._target = None
            return episode_id
        return ""

    def give(self, *, success: bool | None, beside: str = "") -> None:
        """Writes how the episode under the cursor ended, or that the user cannot tell.

        `beside` is what others say of it, to be told with the note.
        """
        if not self._screen.writable() or (episode := self._in_sight()) is None:
            return
        back, given = self._screen.browser.key_of("take_back"), self._given

        def work(bank: Bank) -> str:
            before = bank.episodes.learnt()
            outcome = give_outcome(bank, episode.id, success=success).outcome
            given.append(_GivenOutcome(episode.id, outcome))
            end = {True: "a success", False: "a failure", None: "unclear to you"}[success]
            text = f"{episode.id} is {end} now"
            if beside:
                text += f" ({beside})"
            if bank.episodes.learnt() < before:
                text += "; what it taught was taken back, and it waits to be learnt anew"
            return f"{text}; {back} takes it back"

        self._screen.change("writing the outcome", work)

    def take_back(self) -> None:
        """Takes back the outcome that was given last, and goes to that episode."""
        if not self._screen.writable() or (last := self._last_given()) is None:
            return
        given, position = self._given, self._screen.browser.attention.position()

        def work(bank: Bank) -> str:
            try:
                outcome = take_back_outcome(bank, last.episode_id, last.outcome).outcome
            except TrajectoryError:  # it stays for good, and must not hide those before it
                del given[-1:]
                raise
            del given[-1:]
            return f"{last.episode_id} is as before: {outcome_facts(outcome)}"

        if self._screen.change("taking the outcome back", work):
            self._target = last.episode_id, position

    def _last_given(self) -> _GivenOutcome | None:
        """Returns what to take back; None if there is nothing, or an error was reported."""
        if self._given:
            return self._given[-1]
        if (episode := self._in_sight()) is None:
            return None
        try:
            return _GivenOutcome(episode.id, episode.outcome())
        except DeltaMemError as error:
            self._screen.browser.notes.report(error)
            return None
