"""Ctrl+C during long work: the first asks it to stop, the second does not wait for it.

SIGTERM is handled in the same way, so that what was done and paid is reported then too.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """True if Ctrl+C was pressed or SIGTERM came."""

    def __init__(self) -> None:
        self._asked = threading.Event()

    def __bool__(self) -> bool:
        return self._asked.is_set()

    def __call__(self) -> bool:
        """Return whether the work should stop."""
        return self._asked.is_set()

    def ask(self) -> None:
        """Ask the work to stop."""
        self._asked.set()


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Let Ctrl+C ask the block to stop where nothing is half done.

    The second one raises `KeyboardInterrupt` at once. Further ones are ignored, also after the
    block: the result is still to be reported.
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

    at_ctrl_c, at_end = (signal.signal(number, handle) for number in _SIGNALS)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN if interruption else at_ctrl_c)
        # A second SIGTERM ends the program.
        signal.signal(signal.SIGTERM, at_end)
