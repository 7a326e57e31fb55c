"""The one long piece of work that may go on beside the screens, and the plan that may wait."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from textual.app import App
from textual.screen import ModalScreen, Screen
from textual.signal import Signal
from textual.worker import Worker

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.tui.core.background import in_thread
from deltamem_tui.tui.core.notes import Notes
from deltamem_tui.tui.models.sections import Section


class WorkStoppedError(DeltaMemError):
    """Work that writes nothing was cancelled."""


@dataclass(eq=False)
class Progress:
    """A piece of work in a thread, and how far it is."""

    name: str
    can_stop: bool = False
    publish: Callable[[], object] = lambda: None
    notify: Callable[[str], object] = lambda _: None
    done: int = 0
    total: int | None = None
    note: str = ""
    outcome: Outcome | Exception | None = None
    over: threading.Event = field(default_factory=threading.Event)
    _stop: threading.Event = field(default_factory=threading.Event)

    def stop(self) -> None:
        """Ask the work to stop."""
        self._stop.set()

    @property
    def stopped(self) -> bool:
        """True if the work was cancelled."""
        return self._stop.is_set()

    def how_it_ends(self, cancel: str) -> str:
        """Say that a key cancels it, that this was done, or cannot be."""
        if not self.can_stop:
            return "cannot be cancelled"
        return "stopping …" if self.stopped else f"{cancel} cancels"

    def go_on(self) -> None:
        """Go on to the next step of work that writes nothing."""
        if self.stopped:
            raise WorkStoppedError("cancelled")

    def advance(self, steps: int = 1, total: int | None = None, note: str = "") -> None:
        """Report that some more steps are done."""
        self.done, self.total, self.note = self.done + steps, total, note
        self.publish()


@dataclass(frozen=True, slots=True)
class Info:
    """Work that wrote nothing ended."""

    summary: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class BankChange:
    """Something was written to a bank."""

    path: Path
    summary: str
    node: tuple[str, str] | None = None
    warning: bool = False
    opens: bool = False
    then: Callable[[], object] | None = None  # what a user who has waited is asked next


@dataclass(frozen=True, slots=True)
class Retry:
    """Asks again for what failed, and forgets what was done."""

    ask: Callable[[DeltaMemError, bool], None]  # the reason, and whether the user waits for it
    forget: Callable[[], object]


@dataclass(frozen=True, slots=True)
class WorkPlan:
    """The plan of some work, to be confirmed before it is done."""

    name: str
    question: str
    sections: Sequence[Section]
    then: Callable[[Progress], Outcome]
    can_stop: bool = False  # the doing ends when it is cancelled
    kind: str = "plan"
    position: UserPosition | None = None  # only there does it come up by itself
    retry: Retry | None = None


Outcome = Info | BankChange | WorkPlan | Callable[[], None]
"""A job's result; a function shows what was found, and is called on the screen's thread."""


def report_unfinished(work: Progress, report: Callable[[str], None]) -> None:
    """Report on the bare terminal what becomes of work that goes on when the user leaves.

    Work that was asked to stop is waited for: calls of a model that are on their way are paid
    for. Anything else is not waited for; a commit is written whole or not at all.
    """
    try:
        if not work.over.is_set() and work.can_stop:
            report(f"{work.name} is stopping; Ctrl+C does not wait for it")
            work.over.wait()
    except KeyboardInterrupt:
        pass
    match work.outcome:
        case None:
            report(f"{work.name} was left unfinished; all that was committed is in the bank")
        case BankChange() | Info() as done:
            report(done.summary)
        case Exception() as error:
            report(str(error))
        case _:
            report(f"{work.name} ended before it could ask: nothing was done")


@dataclass(frozen=True, slots=True)
class UserPosition:
    """The user's place when something was requested."""

    screen: Screen[Any] | None
    inputs: int


class Attention:
    """Counts what the user does."""

    def __init__(self, app: App[None]) -> None:
        self._app = app
        self._inputs = 0

    def count(self) -> None:
        """Note a key, a paste or a click."""
        self._inputs += 1

    def position(self) -> UserPosition:
        """Return where the user is now."""
        stack = reversed(self._app.screen_stack)
        screens = (screen for screen in stack if not isinstance(screen, ModalScreen))
        return UserPosition(next(screens, None), self._inputs)

    def is_at(self, position: UserPosition) -> bool:
        """Return whether the user has done nothing since, and sees the same screen."""
        return self._app.screen is position.screen and self._inputs == position.inputs


Confirm = Callable[[str, Sequence[Section], Callable[[bool | None], None]], None]

# A key takes a dozen turns of the screen's thread. With Python's default, work beside it may
# keep each of them waiting for five milliseconds.
_SWITCH_SECONDS = 0.0005


@dataclass
class Work:
    """Does long work, one thing at a time.

    What is planned may write, or cost money, and one key begins it. So a plan comes up by itself
    only in front of a user who has waited for it. A user who went on, by as little as one key,
    is notified that it is ready, and opens it.
    """

    app: App[None]
    attention: Attention
    notes: Notes
    key_of: Callable[[str], str]
    confirm: Confirm
    bank_changed: Callable[[BankChange, UserPosition], None]
    failed: Callable[[], None]
    plan: WorkPlan | None = None
    unfinished: Progress | None = None
    state: Progress | None = None  # the work that goes on
    _warned: Progress | None = None

    def __post_init__(self) -> None:
        self.changed: Signal[Progress | None] = Signal(self.app, "work")

    def start(
        self,
        name: str,
        job: Callable[[Progress], Outcome],
        *,
        can_stop: bool = False,
        retry: Retry | None = None,
    ) -> bool:
        """Start something long."""
        if not self.is_free():
            return False
        app, position = self.app, self.attention.position()
        progress = Progress(
            name,
            can_stop=can_stop,
            publish=lambda: app.call_later(self._publish),
            notify=lambda text: app.call_later(self.notes.notify, text),
        )

        def run(_: Worker[None]) -> None:
            try:
                progress.outcome = job(progress)
            except WorkStoppedError:
                progress.outcome = Info("nothing was done")
            except Exception as error:  # noqa: BLE001 - reported, or raised again, by `_end`
                progress.outcome = error
            finally:
                progress.over.set()
            app.call_later(self._end, progress, position, retry)

        sys.setswitchinterval(_SWITCH_SECONDS)
        self.state = progress
        _: Worker[None] = app.run_worker(partial(in_thread, name, run), name=name, group="work")
        self._publish()
        return True

    def is_free(self) -> bool:
        """Return whether nothing long goes on; if something does, the user is notified of it."""
        work = self.state
        if work is None:
            return True
        end = work.how_it_ends(self.key_of("cancel"))
        self.notes.notify(f"still {work.name}: {end}", warning=True)
        return False

    def _publish(self) -> None:
        self.changed.publish(self.state)

    def _end(self, progress: Progress, position: UserPosition, retry: Retry | None) -> None:
        """Report what became of the work."""
        self.state = None
        self._publish()
        match progress.outcome:
            case DeltaMemError() as error:
                waits = retry is not None and self.attention.is_at(position)
                if not waits:
                    self.notes.report(error)
                self.failed()
                if retry:
                    retry.ask(error, waits)
            case Exception() as defect:
                raise defect
            case WorkPlan() as plan:
                self.offer(replace(plan, position=position, retry=retry))
            case Info() | BankChange() as done:
                cancelled = "; cancelled" if progress.stopped else ""
                self.notes.notify(done.summary + cancelled, warning=done.warning)
                if isinstance(done, BankChange):
                    self.bank_changed(done, position)
            case show if show is not None:
                show()
        if retry and isinstance(progress.outcome, BankChange | Info) and not progress.stopped:
            retry.forget()

    # Plans

    def offer(self, plan: WorkPlan) -> None:
        """Ask at once if the user waits for the plan; else keeps it, and notifies."""
        if plan.position is not None and self.attention.is_at(plan.position):
            self._ask(plan)
            return
        text = f"the {plan.kind} is ready; {self.key_of('plan')} opens it"
        if self.plan is not None:
            text += f" in place of the {self.plan.kind} that waited: {self.plan.question}"
        self._keep(plan)
        self.notes.notify(text)

    def _keep(self, plan: WorkPlan | None) -> None:
        self.plan = plan
        self._publish()

    def _ask(self, plan: WorkPlan) -> None:
        def answered(sure: bool | None) -> None:
            if sure and not self.start(
                plan.name, plan.then, can_stop=plan.can_stop, retry=plan.retry
            ):
                self._keep(plan)  # something else goes on; the answer can be given again

        if plan is self.plan:
            self._keep(None)
        self.confirm(plan.question, plan.sections, answered)

    def open_plan(self) -> None:
        """Open the plan that waits."""
        if self.plan is None:
            self.notes.notify("no plan is waiting")
        else:
            self._ask(self.plan)

    # Its end

    def cancel(self) -> None:
        """Ask the work that goes on to stop."""
        work = self.state
        if work is None:
            self.notes.notify("nothing is running")
        elif not work.can_stop:
            self.notes.notify(f"{work.name} cannot be cancelled", warning=True)
        else:
            work.stop()
            self._publish()

    def may_leave(self) -> bool:
        """Return whether the user may leave now; while work goes on, only the second time."""
        work = self.state
        if work is None:
            return True
        if self._warned is work:
            self.unfinished = work
            work.stop()
            return True
        self._warned = work
        text = f"{work.name} is still running; press {self.key_of('quit')} again to leave"
        self.notes.notify(text, warning=True)
        return False
