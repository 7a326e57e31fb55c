"""Workers: a few threads that wait for others, so that the thread that decides never has to.

They are daemons. A server that hangs can neither hold up the end of a run nor that of the
program: whoever works on a call when the work is closed is left behind with it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from itertools import count
from queue import PriorityQueue
from typing import Any, TypeVar

T = TypeVar("T")

_PULSE = 0.1  # seconds between two looks at whether somebody wants to stop

_Entry = tuple[int, int, Future[Any], Callable[[], Any]]


class Workers:
    """Does things in order of their urgency, a few at a time."""

    def __init__(self, most: int) -> None:
        """No thread is started before there is something to do.

        Args:
            most: How many things are done at once.
        """
        self._most = most
        self._entries: PriorityQueue[_Entry] = PriorityQueue()
        self._numbers = count()
        self._threads: list[threading.Thread] = []
        self._closed = threading.Event()

    def submit(self, turn: int, work: Callable[[], T]) -> Future[T]:
        """Have something done; what has the lowest turn is done first.

        The future's `cancel` takes it back, if nobody has begun.
        """
        future: Future[T] = Future()
        self._entries.put((turn, next(self._numbers), future, work))
        if len(self._threads) < self._most:
            thread = threading.Thread(target=self._run, name="deltamem-worker", daemon=True)
            self._threads.append(thread)
            thread.start()
        return future

    def close(self) -> None:
        """Begin nothing more. What is being done goes on, but nobody is waited for."""
        self._closed.set()
        for _ in self._threads:
            self._entries.put((-1, next(self._numbers), Future(), lambda: None))

    def _run(self) -> None:
        while True:
            _, _, future, work = self._entries.get()
            if self._closed.is_set():
                return
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001 - handed over to the thread that waits
                future.set_exception(error)


def is_done(future: Future[Any], stopped: Callable[[], bool]) -> bool:
    """Wait until something is done; false if somebody wants to stop before."""
    while not wait([future], timeout=_PULSE).done:
        if stopped():
            return False
    return True
