"""A real terminal for a program: a pseudo-terminal typed into and looked at.

Nothing is drawn here. What the program writes is searched for words as it comes, so that the
moment at which they were painted is known.
"""

from __future__ import annotations

import os
import pty
import selectors
import signal
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self


class Terminal:
    """A program on a terminal of its own; it is killed when the block is left.

    Args:
        words: The program with its arguments.
        size: Columns and rows.
        environment: Variables beside those of this process.
        patience: Seconds after which waiting for words fails.

    Attributes:
        written: Everything the program wrote so far.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        size: tuple[int, int] = (120, 40),
        environment: Mapping[str, str] | None = None,
        patience: float = 60,
    ) -> None:
        self.written = b""
        self._patience = patience
        self._ours, theirs = pty.openpty()
        columns, rows = size
        termios.tcsetwinsize(theirs, (rows, columns))
        ours = {"COLUMNS", "LINES", "NO_COLOR"}  # what the terminal itself says counts
        inherited = {name: value for name, value in os.environ.items() if name not in ours}
        variables = {**inherited, "TERM": "xterm-256color", **(environment or {})}
        self._process = subprocess.Popen(
            words,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=variables,
            start_new_session=True,
        )
        os.close(theirs)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._ours, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        """Return the terminal."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Kill the program with all that it started."""
        self.kill()
        self._selector.close()
        os.close(self._ours)

    def kill(self) -> None:
        """Kill the program, and what it started, this instant."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def hang_up(self) -> int:
        """Take the terminal away. Returns the exit code of the program, once it has ended."""
        self._selector.unregister(self._ours)
        os.close(self._ours)
        self._ours = os.open(os.devnull, os.O_RDONLY)  # what `__exit__` closes
        return self._process.wait(timeout=self._patience)

    def press(self, keys: str) -> None:
        """Type something."""
        os.write(self._ours, keys.encode())

    def until(self, words: str, start: int = 0) -> int:
        """Wait until the program has written some words.

        Args:
            words: What is waited for; it must be drawn in one piece.
            start: Where in `written` to begin to look.

        Returns:
            How much was written then: where to look from the next time.

        Raises:
            TimeoutError: The words did not come, or the program ended before.
        """
        wanted = words.encode()
        end = time.monotonic() + self._patience
        while wanted not in self.written[start:]:
            if not self._read(end - time.monotonic()):
                tail = self.written[-2000:].decode(errors="replace")
                raise TimeoutError(f"{words!r} was not written; the last was: {tail!r}")
        return len(self.written)

    def until_it_ends(self) -> int:
        """Wait until the program ends by itself. Returns its exit code."""
        end = time.monotonic() + self._patience
        while self._read(end - time.monotonic()):
            pass
        return self._process.wait(timeout=self._patience)

    def _read(self, seconds: float) -> bool:
        """Take what was written; False if nothing came in time or nothing more will."""
        if seconds <= 0 or not self._selector.select(seconds):
            return False
        try:
            part = os.read(self._ours, 1 << 16)
        except OSError:  # how a terminal says that the other side is gone
            return False
        self.written += part
        return bool(part)
