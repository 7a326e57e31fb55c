"""Threads beside the screen, and what screens look up in them. Nothing waits for them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from textual.app import App
from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker, get_current_worker

from deltamem_tui.errors import DeltaMemError

T = TypeVar("T")
Stopped = Callable[[], bool]

_THREAD = "deltamem: "


@dataclass
class LookupFailed(Message):
    """A look-up of a screen that failed."""

    name: str
    error: DeltaMemError


def look_up(
    owner: App[Any] | Screen[Any],
    name: str,
    work: Callable[[Stopped], T],
    show: Callable[[T], object],
    *,
    ended: Callable[[], object] | None = None,
) -> Worker[None]:
    """Find something out for a screen. A later call of the same name cancels this one."""

    def run(worker: Worker[None]) -> None:
        try:
            found = work(lambda: worker.is_cancelled)
        except DeltaMemError as error:
            if not worker.is_cancelled:
                owner.post_message(LookupFailed(name, error))
        else:
            if not worker.is_cancelled:
                owner.call_later(show, found)
        if ended is not None:
            owner.call_later(ended)

    return owner.run_worker(partial(in_thread, name, run), name=name, group=name, exclusive=True)


@dataclass
class Inquiry:
    """Facts about a bank: what has begun is finished, then asked anew for what was written."""

    owner: Screen[Any]
    name: str
    _current: object | None = None
    _next: Callable[[], None] | None = None

    @property
    def under_way(self) -> bool:
        """True if an answer is still to come."""
        return self._current is not None

    @property
    def has_more(self) -> bool:
        """True if what comes next is out of date already, and asked for once more."""
        return self._next is not None

    def ask(
        self, work: Callable[[Stopped], T], show: Callable[[T], object], *, at_once: bool = False
    ) -> None:
        """Find something out, once what is under way has ended."""
        if self.under_way and not at_once:
            self._next = lambda: self.ask(work, show)
            return
        mark = self._current = object()
        self._next = None
        look_up(self.owner, self.name, work, show, ended=lambda: self._ended(mark))

    def _ended(self, mark: object) -> None:
        if mark is not self._current:
            return
        self._current = None
        if self._next is not None:
            self._next()


async def in_thread(name: str, run: Callable[[Worker[None]], None]) -> None:
    """Run something in a thread of its own, and wait for it while the program runs."""
    worker, context, over = get_current_worker(), copy_context(), Future[None]()
    over.set_running_or_notify_cancel()  # a worker that is cancelled does not cancel the thread

    def target() -> None:
        try:
            over.set_result(context.run(run, worker))
        except BaseException as error:  # noqa: BLE001 - the worker raises it again
            over.set_exception(error)

    threading.Thread(target=target, name=f"{_THREAD}{name}", daemon=True).start()
    await asyncio.wrap_future(over)


def still_running() -> bool:
    """Return whether a thread of the browser is still running."""
    return any(each.name.startswith(_THREAD) for each in threading.enumerate())
