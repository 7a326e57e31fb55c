"""Work beside the screen: named threads that end in a message.

A worker gets what it needs, gives back a message, and knows no widget. Errors that are
meant for people become messages too; anything else is a defect and ends the program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.worker import Worker, get_current_worker

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.tui.key_order import KeyOrder
from deltamem_tui.tui.messages import Failed, WorkAdvanced, WorkEnded

Stopped = Callable[[], bool]


class Progress:
    """How long work tells how far it is, and learns that it shall stop.

    Args:
        name: What is being done.
        target: Who is told.
        worker: The thread that does it.
    """

    def __init__(self, name: str, target: MessagePump, worker: Worker[None]) -> None:
        self.name = name
        self._target = target
        self._worker = worker
        self._done = 0

    @property
    def stopped(self) -> bool:
        """Whether somebody cancelled the work."""
        return self._worker.is_cancelled

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


def do_work(app: App[Any], name: str, work: Callable[[Progress], Message]) -> Worker[None]:
    """Do something long, with progress. It ends by its own will: cancelling asks it to."""

    def run() -> None:
        progress = Progress(name, app, get_current_worker())
        try:
            message = work(progress)
        except DeltaMemError as error:
            message = Failed(name, error)
        app.post_message(WorkEnded(name))
        app.post_message(message)

    return app.run_worker(run, name=name, group="work", thread=True)
