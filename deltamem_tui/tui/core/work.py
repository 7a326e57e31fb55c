"""The one long piece of work that may go on beside the screens, and the plan that may wait."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from textual.app import App
from textual.signal import Signal
from textual.worker import Worker

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.tui.core.attention import Attention, UserPosition
from deltamem_tui.tui.core.background import in_thread
from deltamem_tui.tui.core.job import (
    BankChange,
    Info,
    Outcome,
    Progress,
    Retry,
    WorkPlan,
    WorkState,
    WorkStoppedError,
)
from deltamem_tui.tui.core.notes import Notes
from deltamem_tui.tui.models.sections import Section

Confirm = Callable[[str, Sequence[Section], Callable[[bool | None], None]], None]

# A key takes a dozen turns of the screen's thread. With Python's default, work beside it may
# keep each of them waiting for five milliseconds.
_SWITCH_SECONDS = 0.0005


class Work:
    """Does long work, one thing at a time.

    What is planned may write, or cost money, and one key begins it. So a plan comes up by itself
    only in front of a user who has waited for it. A user who went on, by as little as one key,
    is notified that it is ready, and opens it.

    Args:
        app: The program.
        attention: Whether the user still waits.
        notes: What the user is told.
        key_of: Returns the first key of an action.
        confirm: Shows what would be done, and asks.

    Attributes:
        changed: Published whenever `state` or `plan` has changed.
        bank_changed: Called with each change of a bank, and where the user was.
        failed: Called when work has failed.
        plan: A plan that is ready and waits to be opened.
        unfinished: Work that went on when the user left.
    """

    def __init__(
        self,
        app: App[None],
        attention: Attention,
        notes: Notes,
        key_of: Callable[[str], str],
        confirm: Confirm,
    ) -> None:
        self._app = app
        self._attention = attention
        self._notes = notes
        self._key_of = key_of
        self._confirm = confirm
        self.changed: Signal[WorkState | None] = Signal(app, "work")
        self.bank_changed: Callable[[BankChange, UserPosition], None] = lambda _, __: None
        self.failed: Callable[[], None] = lambda: None
        self.plan: WorkPlan | None = None
        self.unfinished: Progress | None = None
        self._progress: Progress | None = None
        self._warned: Progress | None = None

    def start(
        self,
        name: str,
        job: Callable[[Progress], Outcome],
        *,
        can_stop: bool = False,
        retry: Retry | None = None,
    ) -> bool:
        """Starts something long.

        Args:
            name: What is being done.
            job: Does it, in a thread.
            can_stop: Whether it looks at `Progress.stopped` while it goes on.
            retry: Asks again if it, or what it plans, fails.

        Returns:
            Whether it was started; if not, the user was notified of what goes on.
        """
        if not self.is_free():
            return False
        app, position = self._app, self._attention.position()
        progress = Progress(
            name,
            can_stop=can_stop,
            publish=lambda: app.call_later(self._publish),
            notify=lambda text: app.call_later(self._notes.notify, text),
        )

        def run(_: Worker[None]) -> None:
            try:
                progress.outcome = job(progress)
            except WorkStoppedError as stopped:
                progress.outcome = Info(str(stopped))
            except Exception as error:  # noqa: BLE001 - reported, or raised again, by `_end`
                progress.outcome = error
            finally:
                progress.over.set()
            app.call_later(self._end, progress, position, retry)

        sys.setswitchinterval(_SWITCH_SECONDS)
        self._progress = progress
        _: Worker[None] = app.run_worker(partial(in_thread, name, run), name=name, group="work")
        self._publish()
        return True

    def is_free(self) -> bool:
        """Whether nothing long goes on; if something does, the user is notified of it."""
        work = self._progress
        if work is None:
            return True
        end = f"{self._key_of('cancel')} cancels it"
        if not work.can_stop:
            end = "it cannot be cancelled"
        elif work.stopped:
            end = "it is stopping"
        self._notes.notify(f"still {work.name}; {end}", warning=True)
        return False

    @property
    def state(self) -> WorkState | None:
        """How far the work is that goes on; None if nothing does."""
        return self._progress.state if self._progress else None

    def _publish(self) -> None:
        self.changed.publish(self.state)

    def _end(self, progress: Progress, position: UserPosition, retry: Retry | None) -> None:
        """Reports what became of the work."""
        self._progress = None
        self._publish()
        match progress.outcome:
            case DeltaMemError() as error:
                waits = retry is not None and self._attention.is_at(position)
                if not waits:
                    self._notes.report(error)
                self.failed()
                if retry:
                    retry.ask(error, waits)
            case Exception() as defect:
                raise defect
            case WorkPlan() as plan:
                self.offer(replace(plan, position=position, retry=retry))
            case Info() as info:
                self._notes.notify(info.summary, warning=info.warning)
            case BankChange() as change:
                self._notes.notify(change.summary, warning=change.warning)
                self.bank_changed(change, position)
            case show if show is not None:
                show()
        if retry and isinstance(progress.outcome, BankChange | Info) and not progress.stopped:
            retry.forget()

    # Plans

    def offer(self, plan: WorkPlan) -> None:
        """Asks at once if the user waits for the plan; else keeps it, and notifies."""
        if plan.position is not None and self._attention.is_at(plan.position):
            self._ask(plan)
            return
        text = f"the {plan.kind} is ready; {self._key_of('plan')} opens it"
        if self.plan is not None:
            text += f" in place of the {self.plan.kind} that waited: {self.plan.question}"
        self._keep(plan)
        self._notes.notify(text)

    def _keep(self, plan: WorkPlan | None) -> None:
        """Keeps a plan, which may be opened where its question alone would be unclear."""
        self.plan = plan and replace(plan, question=plan.later or plan.question)
        self._publish()

    def _ask(self, plan: WorkPlan) -> None:
        def answered(sure: bool | None) -> None:
            if not sure:
                if plan.declined:
                    self._notes.notify(plan.declined)
            elif not self.start(plan.name, plan.then, can_stop=plan.can_stop, retry=plan.retry):
                self._keep(plan)  # something else goes on; the answer can be given again

        if plan is self.plan:
            self._keep(None)
        self._confirm(plan.question, plan.sections, answered)

    def open_plan(self) -> None:
        """Opens the plan that waits."""
        if self.plan is None:
            self._notes.notify("no plan is waiting")
        else:
            self._ask(self.plan)

    # Its end

    def cancel(self) -> None:
        """Asks the work that goes on to stop."""
        work = self._progress
        if work is None:
            self._notes.notify("nothing is running")
        elif not work.can_stop:
            self._notes.notify(f"{work.name} cannot be cancelled", warning=True)
        else:
            work.stop()
            self._publish()

    def may_leave(self) -> bool:
        """Whether the user may leave now; with work going on, only when asked a second time."""
        work = self._progress
        if work is None:
            return True
        if self._warned is work:
            self.unfinished = work
            work.stop()
            return True
        self._warned = work
        text = f"{work.name} is still running; press {self._key_of('quit')} again to leave"
        self._notes.notify(text, warning=True)
        return False
