"""A program that is asked line by line through pipes, and ended with all that it started."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO, cast

from deltamem_tui.text import one_line

_TAIL = 4_000


@dataclass(frozen=True, slots=True)
class ChildProcess:
    """A program under way, in a session of its own: an interrupt of ours does not reach it.

    Attributes:
        questions: Its standard input.
        answers: Its standard output.
        printed: The file that takes its standard error.
    """

    process: subprocess.Popen[bytes]
    questions: BinaryIO
    answers: BinaryIO
    printed: BinaryIO

    @staticmethod
    def start(command: Sequence[str], environment: Mapping[str, str] | None = None) -> ChildProcess:
        """Start a program.

        Raises:
            OSError: It cannot be started.
        """
        printed = tempfile.TemporaryFile()  # noqa: SIM115 - `release` closes it
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=printed,
                env=environment,
                start_new_session=True,
            )
        except BaseException:
            printed.close()
            raise
        questions, answers = cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout)
        return ChildProcess(process, questions, answers, printed)

    def asked(self, question: bytes, patience: float, longest: int = -1) -> bytes:
        """Put a question, and wait for the line that answers it.

        Args:
            question: A line with its end.
            patience: Seconds; the program is killed after them.
            longest: The most bytes that are read of the line; all if below zero.

        Returns:
            The line; without an end if the program ended, or the line is longer.

        Raises:
            TimeoutError: No answer came in time.
        """
        expired = threading.Event()

        def give_up() -> None:
            expired.set()
            self.kill()

        timer = threading.Timer(patience, give_up)
        timer.daemon = True
        timer.start()
        try:
            with suppress(BrokenPipeError):  # what it wrote before it ended is still there
                self.questions.write(question)
                self.questions.flush()
            line = self.answers.readline(longest)
        except (OSError, ValueError):  # the pipe is closed, at its end or at ours
            line = b""
        finally:
            timer.cancel()
        if expired.is_set() and not line.endswith(b"\n"):
            raise TimeoutError(f"it gave no answer within {patience:g} s")
        return line

    def hang_up(self) -> None:
        """Say that nothing more will be asked."""
        with suppress(OSError):
            self.questions.close()

    def kill(self) -> None:
        """Kill the program with all that it started, a Java for instance."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def end(self, seconds: float) -> None:
        """Hang up, and wait so long for the program to end by itself."""
        self.hang_up()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)

    def release(self) -> str:
        """See that nothing is left; returns the last line that was printed."""
        self.kill()
        self.process.wait()
        self.hang_up()
        self.answers.close()
        with self.printed as printed:
            printed.seek(max(printed.seek(0, os.SEEK_END) - _TAIL, 0))
            lines = printed.read().decode("utf-8", "replace").strip().splitlines()
        return one_line(lines[-1], 200) if lines else "it printed nothing"
