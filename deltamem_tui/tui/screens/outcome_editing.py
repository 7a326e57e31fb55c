"""A user's verdicts on how episodes ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from deltamem_tui.tui.screens.base import BankScreen


class OutcomeEditor:
    """Lets the user say how an episode ended, or all that are shown.

    Args:
        screen: The screen that lists the episodes.
        in_sight: Returns the id of the episode under the cursor; None if there is none.
    """

    def __init__(self, screen: BankScreen, in_sight: Callable[[], str | None]) -> None:
        self._screen = screen
        self._in_sight = in_sight

    def give(self, *, success: bool | None, beside: str = "") -> None:
        """Write how the episode under the cursor ended; ask first if it was learnt.

        Args:
            success: None if the user cannot tell.
            beside: What log and judge say of it, for the note.
        """
        from deltamem_tui.tui.jobs.outcomes import plan_for_one

        if not self._screen.writable() or (episode := self._in_sight()) is None:
            return
        path, note = self._screen.home.path, f" ({beside})" if beside else ""
        self._screen.browser.work.start(
            "writing the outcome",
            lambda _: plan_for_one(path, episode, success=success, note=note),
        )

    def give_to_all(self, ids: Sequence[str], shown_by: str, *, success: bool) -> None:
        """Ask, and write how all episodes that are shown ended, in one commit.

        Args:
            ids: The episodes.
            shown_by: The filter that shows them; empty for none.
            success: How they ended.
        """
        from deltamem_tui.tui.jobs.outcomes import plan_for_all

        if not self._screen.writable():
            return
        path = self._screen.home.path
        self._screen.browser.work.start(
            "looking at what the verdict changes",
            lambda _: plan_for_all(path, ids, shown_by, success=success),
        )
