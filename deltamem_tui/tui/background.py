"""Work beside the screen: named threads that end in a message.

A worker gets what it needs, gives back a message, and knows no widget. Errors that are
meant for people become messages too; anything else is a defect and ends the program.

The threads are this module's own. The pool that textual takes for them is waited for when the
program ends, however long an embedder still loads; nothing waits for these.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from time import monotonic
from typing import Any

from textual.app import App
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.worker import Worker, get_current_worker

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.tui.key_order import KeyOrder
from deltamem_tui.tui.messages import (
    Broken,
    Changed,
    Failed,
    Planned,
    Told,
    WorkAdvanced,
    WorkEnded,
)

Stopped = Callable[[], bool]

_THREAD = "deltamem: "
# A key takes a dozen turns of the screen's thread to be answered. By Python's own measure, work
# beside it may keep each of them waiting for five milliseconds.
_SHORT_TURN = 0.0005  # seconds


class WorkStoppedError(DeltaMemError):
    """Work that writes nothing was asked to stop, and does."""


class Progress:
    """How long work tells how far it is, and learns that it shall stop.

    Textual's own way to cancel would not do: it gives a thread up that has not begun or that
    still has something to say, and forgets its error.

    Args:
        name: What is being done.
        target: Who is told.
        can_stop: Whether the work looks at `stopped` while it goes on.

    Attributes:
        name: What is being done.
        can_stop: Whether the work ends when it is asked to.
        began: When it began, in seconds of the monotonic clock.
        over: Set once the work has ended.
        outcome: What it ended in, once it has.
    """

    def __init__(self, name: str, target: MessagePump, *, can_stop: bool = False) -> None:
        self.name = name
        self.can_stop = can_stop
        self.began = monotonic()
        self.over = threading.Event()
        self.outcome: Message | None = None
        self._target = target
        self._stop = threading.Event()
        self._done = 0

    def stop(self) -> None:
        """Ask the work to stop."""
        self._stop.set()

    @property
    def stopped(self) -> bool:
        """Whether somebody cancelled the work."""
        return self._stop.is_set()

    def go_on(self) -> None:
        """For work that writes nothing, between two of its steps.

        Raises:
            WorkStoppedError: Somebody cancelled it.
        """
        if self.stopped:
            raise WorkStoppedError(f"{self.name} was cancelled")

    def advance(self, steps: int = 1, total: int | None = None, note: str = "") -> None:
        """Say that some more steps are done."""
        self._done += steps
        self._target.post_message(WorkAdvanced(self.name, self._done, total, note))

    def tell(self, words: str) -> None:
        """Say something that should be known before the work is done."""
        self._target.post_message(Told(words))

    @property
    def last_words(self) -> str:
        """What became of it, for who left the browser before it had ended."""
        match self.outcome:
            case Changed() | Told():
                return self.outcome.summary
            case Failed() | Broken():
                return str(self.outcome.error)
            case Planned():
                done = self.outcome.declined or f"{self.name} ended; nothing was done"
                return f"{done}, for nobody was there to be asked"
        return f"{self.name} ended"


def look_up(
    owner: App[Any] | Screen[Any],
    name: str,
    work: Callable[[Stopped], Message | None],
    *,
    keys_wait: bool = False,
    then: Callable[[], None] | None = None,
) -> Worker[None]:
    """Find something out for a screen. A later call of the same name makes this one void.

    Args:
        owner: Who asks, and gets the message.
        name: What is being done.
        work: Does it; may ask now and then whether nobody waits any more.
        keys_wait: Whether keys that are typed meanwhile are meant for what comes of it.
        then: Called behind the message.
    """
    keys_go = owner.app.hold_keys() if keys_wait and isinstance(owner.app, KeyOrder) else None

    def run(worker: Worker[None]) -> None:
        try:
            message = work(lambda: worker.is_cancelled)
        except DeltaMemError as error:
            message = Failed(name, error)
        if message is not None and not worker.is_cancelled:
            owner.post_message(message)
        if then is not None:
            owner.call_later(then)
        if keys_go is not None:
            # Behind the message; a screen that is gone by now takes no call.
            owner.call_later(keys_go) or owner.app.call_later(keys_go)

    return owner.run_worker(partial(_in_thread, name, run), name=name, group=name, exclusive=True)


class Inquiry:
    """What a screen finds out of a bank, again whenever the bank is written.

    A bank may be written more often than it can be looked through. So what was begun is brought
    to its end and shown, and then it is asked once more, for all that was written meanwhile.

    Args:
        owner: Who asks, and gets the messages.
        name: What is being done.
    """

    def __init__(self, owner: Screen[Any], name: str) -> None:
        self._owner = owner
        self._name = name
        self._under_way: object | None = None
        self._next: Callable[[Stopped], Message | None] | None = None

    @property
    def under_way(self) -> bool:
        """Whether an answer is still to come."""
        return self._under_way is not None

    @property
    def has_more(self) -> bool:
        """Whether what comes next is out of date already, and asked for once more."""
        return self._next is not None

    def ask(
        self,
        work: Callable[[Stopped], Message | None],
        *,
        keys_wait: bool = False,
        at_once: bool = False,
    ) -> None:
        """Find something out, once what is under way has ended.

        Args:
            work: Does it; may ask now and then whether nobody waits any more.
            keys_wait: Whether keys that are typed meanwhile are meant for what comes of it.
            at_once: Whether what is under way is given up: another question was asked.
        """
        if self.under_way and not at_once:
            self._next = work
            return
        mark = self._under_way = object()
        self._next = None
        look_up(self._owner, self._name, work, keys_wait=keys_wait, then=lambda: self._ended(mark))

    def _ended(self, mark: object) -> None:
        if mark is not self._under_way:
            return
        self._under_way = None
        if self._next is not None:
            self.ask(self._next)


def do_work(
    app: App[Any], name: str, work: Callable[[Progress], Message], *, can_stop: bool = False
) -> Progress:
    """Do something long, with progress. It ends by its own will: `Progress.stop` asks it to."""
    progress = Progress(name, app, can_stop=can_stop)
    sys.setswitchinterval(_SHORT_TURN)

    def run(_: Worker[None]) -> None:
        try:
            progress.outcome = work(progress)
        except DeltaMemError as error:
            progress.outcome = Failed(name, error)
        except Exception as error:  # noqa: BLE001 - the app raises it again
            progress.outcome = Broken(name, error)
        finally:
            progress.over.set()
            app.post_message(WorkEnded(name))
        if progress.outcome is not None:
            app.post_message(progress.outcome)

    _: Worker[None] = app.run_worker(partial(_in_thread, name, run), name=name, group="work")
    return progress


async def _in_thread(name: str, run: Callable[[Worker[None]], None]) -> None:
    """Run something in a thread of its own, and wait for it as long as the program goes on."""
    loop, worker = asyncio.get_running_loop(), get_current_worker()
    over: asyncio.Future[None] = loop.create_future()
    context = copy_context()

    def settle(error: BaseException | None) -> None:
        if over.done():  # cancelled: nobody waits
            return
        if error is None:
            over.set_result(None)
        else:
            over.set_exception(error)

    def target() -> None:
        found: BaseException | None = None
        try:
            context.run(run, worker)
        except BaseException as error:  # noqa: BLE001 - the worker raises it again
            found = error
        with suppress(RuntimeError):  # the program has ended meanwhile, its loop with it
            loop.call_soon_threadsafe(settle, found)

    threading.Thread(target=target, name=f"{_THREAD}{name}", daemon=True).start()
    await over


def still_running() -> bool:
    """Whether a thread of the browser goes on although the browser has ended."""
    return any(each.name.startswith(_THREAD) for each in threading.enumerate())
