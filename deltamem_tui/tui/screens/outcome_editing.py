"""What a user says of how episodes ended, and taking it back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.journal import Commit
from deltamem_tui.errors import DeltaMemError, TrajectoryError
from deltamem_tui.memory.episodes.outcomes import take_back_outcome
from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.tui.core.attention import UserPosition
from deltamem_tui.tui.core.job import BankChange, Progress, WorkPlan
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
    """Lets the user say how an episode ended, or all that are shown.

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
        self._given: list[_GivenOutcome | Commit] = []
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
        """Write how the episode under the cursor ended; ask first if it was learnt.

        Args:
            success: None if the user cannot tell.
            beside: What log and judge say of it, for the note.
        """
        from deltamem_tui.tui.jobs.outcomes import plan_for_one

        if not self._screen.writable() or (episode := self._in_sight()) is None:
            return
        path, back, given = self._screen.home.path, self._take_back_key, self._given

        def note(outcome: Outcome) -> str:
            given.append(_GivenOutcome(episode.id, outcome))
            said = f" ({beside})" if beside else ""
            return f"{said}; {back} takes it back"

        self._screen.browser.work.start(
            "writing the outcome",
            lambda _: plan_for_one(path, episode.id, note, success=success),
        )

    def give_to_all(self, ids: Sequence[str], shown_by: str, *, success: bool) -> None:
        """Asks, and writes how all episodes that are shown ended, in one commit.

        Args:
            ids: The episodes.
            shown_by: The filter that shows them; empty for none.
            success: How they ended.
        """
        from deltamem_tui.tui.jobs.outcomes import plan_for_all

        if not self._screen.writable():
            return
        path, back, given = self._screen.home.path, self._take_back_key, self._given

        def note(commit: Commit) -> str:
            given.append(commit)
            return f"{back} takes it back"

        self._screen.browser.work.start(
            "looking at what the verdict changes",
            lambda _: plan_for_all(path, ids, shown_by, note, success=success),
        )

    @property
    def _take_back_key(self) -> str:
        return self._screen.browser.key_of("take_back")

    def take_back(self) -> None:
        """Takes back the outcome that was given last, and goes to that episode."""
        from deltamem_tui.tui.jobs.outcomes import plan_take_back

        if not self._screen.writable() or (last := self._last_given()) is None:
            return
        given, position = self._given, self._screen.browser.attention.position()
        if isinstance(last, Commit):
            self._take_back_together(last)
            return

        path, own = self._screen.home.path, bool(given)

        def work(_: Progress) -> WorkPlan | BankChange:
            if not own and (plan := plan_take_back(path, last.episode_id)) is not None:
                return plan
            try:
                outcome = take_back_outcome(Bank.open(path), last.episode_id, last.outcome).outcome
            except TrajectoryError:  # it stays for good, and must not hide those before it
                del given[-1:]
                raise
            del given[-1:]
            return BankChange(path, f"{last.episode_id} is as before: {outcome_facts(outcome)}")

        if self._screen.browser.work.start("taking the outcome back", work):
            self._target = last.episode_id, position

    def _take_back_together(self, commit: Commit) -> None:
        from deltamem_tui.tui.jobs.outcomes import take_back_all

        path, given = self._screen.home.path, self._given

        def work(_: Progress) -> BankChange:
            try:
                return take_back_all(path, commit)
            finally:  # what stays for good must not hide what was given before it
                del given[-1:]

        self._screen.browser.work.start("taking the outcomes back", work)

    def _last_given(self) -> _GivenOutcome | Commit | None:
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
