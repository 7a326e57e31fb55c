"""Ctrl+C during long work: the first asks it to stop, the second does not wait for it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interruption:
    """Whether somebody pressed Ctrl+C."""

    def __init__(self) -> None:
        self._asked = threading.Event()

    def __bool__(self) -> bool:
        return self._asked.is_set()

    def __call__(self) -> bool:
        """Whether the work shall stop."""
        return self._asked.is_set()

    def ask(self) -> None:
        """Ask the work to stop."""
        self._asked.set()


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Let Ctrl+C ask the block to stop where nothing is half done.

    The second one raises `KeyboardInterrupt` at once. After that there are none any more, also
    behind the block: what stands and what is missing is still to be told.
    """
    interruption = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield interruption  # only the main thread may say what a signal does
        return

    def handle(_number: int, _frame: FrameType | None) -> None:
        if interruption:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            raise KeyboardInterrupt
        interruption.ask()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN if interruption else before)
