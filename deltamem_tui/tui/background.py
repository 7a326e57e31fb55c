"""Work beside the screen: named threads that end in a message.

A worker gets what it needs, gives back a message, and knows no widget. Errors that are
meant for people become messages too; anything else is a defect and ends the program.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any

from textual.app import App
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.worker import Worker, get_current_worker

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.tui.key_order import KeyOrder
from deltamem_tui.tui.messages import Broken, Failed, WorkAdvanced, WorkEnded

Stopped = Callable[[], bool]


class Progress:
    """How long work tells how far it is, and learns that it shall stop.

    Textual's own way to cancel would not do: it gives a thread up that has not begun or that
    still has something to say, and forgets its error.

    Args:
        name: What is being done.
        target: Who is told.
    """

    def __init__(self, name: str, target: MessagePump) -> None:
        self.name = name
        self._target = target
        self._stop = Event()
        self._worker: Worker[None] | None = None
        self._done = 0

    def done_by(self, worker: Worker[None]) -> None:
        """Stop with the thread that does the work, as when the person leaves the browser."""
        self._worker = worker

    def stop(self) -> None:
        """Ask the work to stop."""
        self._stop.set()

    @property
    def stopped(self) -> bool:
        """Whether somebody cancelled the work."""
        return self._stop.is_set() or (self._worker is not None and self._worker.is_cancelled)

    def advance(self, steps: int = 1, total: int | None = None, note: str = "") -> None:
        """Say that some more steps are done."""
        self._done += steps
        self._target.post_message(WorkAdvanced(self.name, self._done, total, note))


def look_up(
    owner: App[Any] | Screen[Any],
    name: str,
    work: Callable[[Stopped], Message | None],
    *,
    keys_wait: bool = False,
) -> Worker[None]:
    """Find something out for a screen. A later call of the same name makes this one void.

    Args:
        owner: Who asks, and gets the message.
        name: What is being done.
        work: Does it; may ask now and then whether nobody waits any more.
        keys_wait: Whether keys that are typed meanwhile are meant for what comes of it.
    """
    keys_go = owner.app.hold_keys() if keys_wait and isinstance(owner.app, KeyOrder) else None

    def run() -> None:
        worker = get_current_worker()
        try:
            message = work(lambda: worker.is_cancelled)
        except DeltaMemError as error:
            message = Failed(name, error)
        if message is not None and not worker.is_cancelled:
            owner.post_message(message)
        if keys_go is not None:
            # Behind the message; a screen that is gone by now takes no call.
            owner.call_later(keys_go) or owner.app.call_later(keys_go)

    return owner.run_worker(run, name=name, group=name, thread=True, exclusive=True)


def do_work(app: App[Any], name: str, work: Callable[[Progress], Message]) -> Progress:
    """Do something long, with progress. It ends by its own will: `Progress.stop` asks it to."""
    progress = Progress(name, app)

    def run() -> None:
        progress.done_by(get_current_worker())
        message: Message | None = None
        try:
            message = work(progress)
        except DeltaMemError as error:
            message = Failed(name, error)
        except Exception as error:  # noqa: BLE001 - the app raises it again
            message = Broken(name, error)
        finally:
            app.post_message(WorkEnded(name))
        if message is not None:
            app.post_message(message)

    app.run_worker(run, name=name, group="work", thread=True)
    return progress
