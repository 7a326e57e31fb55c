"""A piece of long work: how it reports how far it is, and what it comes to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.tui.core.attention import UserPosition
from deltamem_tui.tui.models.sections import Section


class WorkStoppedError(DeltaMemError):
    """Work that writes nothing was cancelled."""


@dataclass(frozen=True, slots=True)
class WorkState:
    """How far a piece of work is.

    Attributes:
        name: What is being done.
        can_stop: Whether it ends when it is cancelled.
        began: When it began, in seconds of the monotonic clock.
        done: How much of it is done.
        total: How much there is; None if that is unknown.
        note: What else is worth knowing, such as the cost so far.
        stopping: Whether it was cancelled.
    """

    name: str
    can_stop: bool = False
    began: float = 0.0
    done: int = 0
    total: int | None = None
    note: str = ""
    stopping: bool = False


class Progress:
    """A piece of work that goes on in a thread.

    Textual's own way to cancel does not suit: it drops a thread that has not begun or still has
    something to report, and its error with it.

    Args:
        name: What is being done.
        can_stop: Whether the work looks at `stopped` while it goes on.
        publish: Called in the work's thread when `state` has changed.
        notify: Called in the work's thread with what is worth knowing before the end.

    Attributes:
        name: What is being done.
        can_stop: Whether the work ends when it is cancelled.
        state: How far it is.
        over: Set once it has ended.
        outcome: What it came to, or the error that ended it; None while it goes on.
    """

    def __init__(
        self,
        name: str,
        *,
        can_stop: bool = False,
        publish: Callable[[], object] = lambda: None,
        notify: Callable[[str], object] = lambda _: None,
    ) -> None:
        self.name = name
        self.can_stop = can_stop
        self.state = WorkState(name, can_stop, monotonic())
        self.over = threading.Event()
        self.outcome: Outcome | Exception | None = None
        self.notify = notify
        self._publish = publish
        self._stop = threading.Event()

    def stop(self) -> None:
        """Asks the work to stop."""
        self._stop.set()
        self.state = replace(self.state, stopping=True)

    @property
    def stopped(self) -> bool:
        """Whether the work was cancelled."""
        return self._stop.is_set()

    def go_on(self) -> None:
        """Called between two steps by work that writes nothing.

        Raises:
            WorkStoppedError: The work was cancelled.
        """
        if self.stopped:
            raise WorkStoppedError(f"{self.name} was cancelled")

    def advance(self, steps: int = 1, total: int | None = None, note: str = "") -> None:
        """Reports that some more steps are done."""
        done = self.state.done + steps
        self.state = replace(
            self.state, done=done, total=total, note=note, stopping=self._stop.is_set()
        )
        self._publish()

    @property
    def closing_report(self) -> str:
        """What became of it, for a user who left the browser before it ended."""
        match self.outcome:
            case BankChange() | Info():
                return self.outcome.summary
            case WorkPlan():
                done = self.outcome.declined or f"{self.name} ended; nothing was done"
                return f"{done}, because the browser was closed before it could ask"
            case Exception():
                return str(self.outcome)
        return f"{self.name} ended"


@dataclass(frozen=True, slots=True)
class Info:
    """Work that wrote nothing ended.

    Attributes:
        summary: What was found, as a sentence.
        warning: Whether it is bad news.
    """

    summary: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class BankChange:
    """Something was written to a bank.

    Attributes:
        path: The bank.
        summary: What was done, as a sentence.
        node: Tree and id of the node to look at now, if there is one.
        warning: Whether the summary warns.
    """

    path: Path
    summary: str
    node: tuple[str, str] | None = None
    warning: bool = False


@dataclass(frozen=True, slots=True)
class Retry:
    """Asks again for what failed, and forgets what was done.

    Attributes:
        ask: Takes the reason, and whether the user still waits for it: then it shows it.
        forget: Called once it was done.
    """

    ask: Callable[[DeltaMemError, bool], None]
    forget: Callable[[], None]


@dataclass(frozen=True, slots=True)
class WorkPlan:
    """What work would do, to be confirmed before it is done.

    Attributes:
        name: What the doing is called.
        question: Whether it is to be done.
        sections: What would be done.
        then: Does it.
        can_stop: Whether the doing ends when it is cancelled.
        kind: What is shown: a plan, an estimate.
        position: Where the user requested it; only there does it come up by itself.
        later: The question for a user who opens it elsewhere, if more must be said there.
        retry: Asks again if the doing fails.
        declined: What holds if the user says no, if that needs saying.
    """

    name: str
    question: str
    sections: Sequence[Section]
    then: Callable[[Progress], Outcome]
    can_stop: bool = False
    kind: str = "plan"
    position: UserPosition | None = None
    later: str = ""
    retry: Retry | None = None
    declined: str = ""


Outcome = Info | BankChange | WorkPlan | Callable[[], None]
"""What a job returns; a function shows what was found, and is called on the screen's thread."""


def report_unfinished(work: Progress, report: Callable[[str], None]) -> None:
    """Reports on the bare terminal what becomes of work that goes on when the user leaves.

    Work that was asked to stop is waited for: calls of a model that are on their way are paid
    for, and what they gave is reported. Ctrl+C does not wait. Anything else is not waited for;
    a commit is written whole or not at all.

    Args:
        work: The work.
        report: Writes a line to the terminal.
    """
    if not work.can_stop and not work.over.is_set():
        report(f"{work.name} was left unfinished; banks are as before it, or as after it")
        return
    try:
        if not work.over.is_set():
            report(f"{work.name} is stopping; Ctrl+C does not wait for it")
        work.over.wait()
    except KeyboardInterrupt:
        report(f"{work.name} was left unfinished; all that was committed is in the bank")
    else:
        report(work.closing_report)
