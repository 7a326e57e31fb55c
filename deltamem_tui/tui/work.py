"""The one long piece of work that may go on beside the screens, and the plan that may wait."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from textual.message import Message

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.tui.arrivals import Arrivals
from deltamem_tui.tui.background import Progress, WorkStoppedError, do_work
from deltamem_tui.tui.messages import (
    Again,
    Broken,
    Changed,
    Failed,
    Planned,
    Told,
    WorkAdvanced,
)
from deltamem_tui.tui.notifications import Voice
from deltamem_tui.tui.screens.base import BrowserScreen


class LongWork(Arrivals, Voice):
    """The part of the program that does long work, one thing at a time.

    What comes of a plan may write, or cost money, and one key begins it. So the question comes
    up by itself only in front of who sits and waits for it. Who went on meanwhile, by as little
    as one key, is told that it is ready, and opens it.

    Attributes:
        plan: A plan that is ready and waits to be opened.
        unfinished: Work that went on when the person left.
    """

    def __init__(self) -> None:
        super().__init__()
        self.plan: Planned | None = None
        self.unfinished: Progress | None = None
        self._work: Progress | None = None
        self._work_state: WorkAdvanced | None = None
        self._told_of: Progress | None = None
        self._again: Again | None = None

    def work(
        self,
        name: str,
        work: Callable[[Progress], Message],
        *,
        can_stop: bool = False,
        again: Again | None = None,
    ) -> bool:
        """Do something long; one thing at a time.

        Args:
            name: What is being done.
            work: Does it.
            can_stop: Whether it looks at `Progress.stopped` while it goes on.
            again: Told what becomes of it, or of what it plans.

        Returns:
            Whether it was begun; if not, the person was told what goes on.
        """
        if not self.free_to_work():
            return False
        asked = self.asked_here()

        def work_and_plan(progress: Progress) -> Message:
            try:
                message = work(progress)
            except WorkStoppedError as stopped:
                return Told(str(stopped))
            except DeltaMemError as error:
                return Failed(name, error, again, asked)
            if isinstance(message, Planned):
                message.asked, message.again = asked, again
            elif isinstance(message, Changed):
                message.asked = asked
            return message

        self._work, self._again = do_work(self, name, work_and_plan, can_stop=can_stop), again
        self._show_work(WorkAdvanced(name, 0, None))
        return True

    def free_to_work(self) -> bool:
        """Whether nothing long is going on; if something is, the person is told what."""
        if self._work is not None:
            self.tell(f"still {self._work.name}; {self._how_it_ends(self._work)}", warning=True)
        return self._work is None

    def _how_it_ends(self, work: Progress) -> str:
        if not work.can_stop:
            return "it cannot be cancelled"
        return "it is stopping" if work.stopped else f"{self.key_of('cancel')} cancels it"

    def key_of(self, action: str) -> str:
        """The first key of an action, for a person."""
        raise NotImplementedError

    @property
    def work_state(self) -> WorkAdvanced | None:
        """How far the work is that is going on."""
        return self._work_state

    def on_work_advanced(self, message: WorkAdvanced) -> None:
        """Show how far the work is."""
        if self._work is not None:
            self._show_work(message)

    def on_work_ended(self) -> None:
        """Nothing is going on any more."""
        work, again, self._work, self._again = self._work, self._again, None, None
        if work and again and isinstance(work.outcome, Changed | Told) and not work.stopped:
            again.forget()
        self._show_work(None)

    def on_broken(self, message: Broken) -> None:
        """A defect ends the browser."""
        raise message.error

    async def on_failed(self, message: Failed) -> None:
        """Let who asked for it ask once more; what went wrong is told by now."""
        again, asked, error = message.again, message.asked, message.error
        if again is not None and asked is not None:
            self.after_keys(lambda: again.ask(error, self.is_awaited(asked)))

    def _show_work(self, state: WorkAdvanced | None) -> None:
        if state is not None and (work := self._work) is not None:
            stopping = work.stopped
            state = replace(state, can_stop=work.can_stop, stopping=stopping, began=work.began)
        self._work_state = state
        for screen in self.screen_stack:
            if isinstance(screen, BrowserScreen):
                screen.show_work(state)

    # Plans

    def on_planned(self, message: Planned) -> None:
        """Show what would be done, and ask, if the person waits for it."""
        self.after_keys(lambda: self.offer(message))

    def offer(self, plan: Planned) -> None:
        """Ask, if the person waits for it; else keep the plan, and say so."""
        if plan.asked is not None and self.is_awaited(plan.asked):
            self._ask(plan)
            return
        said = f"the {plan.called} is ready; {self.key_of('plan')} opens it"
        if self.plan is not None:
            said += f" in place of the {self.plan.called} that waited: {self.plan.question}"
        self._keep(plan)
        self.tell(said)

    def _keep(self, plan: Planned | None) -> None:
        """Keep a plan, which may be opened where its question does not go without saying."""
        if plan is not None:
            plan.question = plan.later or plan.question
        self.plan = plan
        self._show_work(self._work_state)

    def _ask(self, plan: Planned) -> None:
        from deltamem_tui.tui.widgets.dialogs import ConfirmDialog

        def answer(sure: bool | None) -> None:
            if not sure:
                if plan.declined:
                    self.tell(plan.declined)
            elif not self.work(plan.name, plan.then, can_stop=plan.can_stop, again=plan.again):
                self._keep(plan)  # another thing goes on; the answer can be given again

        if plan is self.plan:
            self._keep(None)
        self.push_screen(ConfirmDialog(plan.question, plan.sections), answer)

    def action_plan(self) -> None:
        """Open the plan that waits."""
        if self.plan is None:
            self.tell("no plan waits")
        elif isinstance(self.screen, BrowserScreen):
            self._ask(self.plan)

    # Its end

    def action_cancel_work(self) -> None:
        """Ask the work that is going on to stop."""
        work = self._work
        if work is None:
            self.tell("nothing is going on")
        elif not work.can_stop:
            self.tell(f"{work.name} cannot be cancelled", warning=True)
        else:
            work.stop()
            self._show_work(self._work_state)

    def may_leave(self) -> bool:
        """Whether the person may leave now; who leaves work behind is told once, and asks again."""
        work = self._work
        if work is None:
            return True
        if self._told_of is work:
            self.unfinished = work
            work.stop()
            return True
        self._told_of = work
        self.tell(f"{work.name} goes on; {self.key_of('quit')} again leaves", warning=True)
        return False
