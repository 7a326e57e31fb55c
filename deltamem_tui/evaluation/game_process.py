"""One process of games: asked through a pipe, and ended with all that it started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from deltamem_tui.errors import GameError, UsageError
from deltamem_tui.evaluation.game_messages import GameAnswer, GameQuestion
from deltamem_tui.text import one_line

T = TypeVar("T")

_END = 3.0  # seconds that a process has to end by itself; more than it gives a game under way
_TAIL = 4_000
_ROOT = Path(__file__).parents[2]
_SERVER = "deltamem_tui.evaluation.game_server"


class GameProcess:
    """A process, started when it is first asked and again after it died. For one thread at once.

    Args:
        arguments: The environment's spec, and where its games lie if it is told.
        patience: Seconds after which a process that does not answer counts as dead.
    """

    def __init__(self, arguments: list[str], patience: float) -> None:
        self._arguments, self._patience = arguments, patience
        self._running: _Running | None = None
        self._dismissed = False
        self._lock = threading.Lock()

    def ask(self, question: GameQuestion, kind: type[T]) -> T:
        """Put a question, and wait for its answer.

        Raises:
            ProcessDiedError: There is none. The next question starts another process.
            UsageError: The environment refuses.
            GameError: It breaks its protocol, or the process was dismissed.
        """
        running = self._started()
        timer = threading.Timer(self._patience, running.kill)
        timer.daemon = True
        timer.start()
        try:
            line = running.asked(msgspec.json.encode(question) + b"\n")
        except BaseException:  # interrupted: the answer would be taken for the next one's
            self._died(running)
            raise
        finally:
            timer.cancel()
        if not line.endswith(b"\n"):
            raise self._died(running)
        return _read(line, kind)

    def dismiss(self) -> None:
        """Have the process end, and start no other."""
        with self._lock:
            self._dismissed = True
            if self._running is not None:
                self._running.hang_up()

    def end(self) -> None:
        """Wait for the end of a process that was dismissed, and see that all of it is gone."""
        running, self._running = self._running, None
        if running is not None:
            with suppress(subprocess.TimeoutExpired):
                running.process.wait(_END)
            running.release()

    def _started(self) -> _Running:
        with self._lock:
            if self._dismissed:
                raise _ended()
            if self._running is None:
                self._running = _Running.start(self._arguments)
            return self._running

    def _died(self, running: _Running) -> Exception:
        with self._lock:
            if self._dismissed:
                return _ended()
            self._running = None
        return ProcessDiedError(running.release())


class ProcessDiedError(Exception):
    """The process ended without an answer. Its text is the last line that it printed."""


@dataclass(frozen=True, slots=True)
class _Running:
    """A process that was started, its pipes, and the file that takes what it prints."""

    process: subprocess.Popen[bytes]
    questions: BinaryIO
    answers: BinaryIO
    printed: BinaryIO

    @staticmethod
    def start(arguments: list[str]) -> _Running:
        printed = tempfile.TemporaryFile()  # noqa: SIM115 - `release` closes it
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", _SERVER, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=printed,
            env={**os.environ, "PYTHONPATH": _python_path()},
            start_new_session=True,  # an interrupt is for the program, and a kill for all
        )
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("a process without its pipes")
        return _Running(process, process.stdin, process.stdout, printed)  # type: ignore[arg-type]  # a binary stream is one of bytes

    def asked(self, question: bytes) -> bytes:
        """The answer's line; without an end if the process ended."""
        try:
            self.questions.write(question)
            self.questions.flush()
            return self.answers.readline()
        except (OSError, ValueError):  # the pipe is closed, at its end or at ours
            return b""

    def hang_up(self) -> None:
        with suppress(OSError):
            self.questions.close()

    def kill(self) -> None:
        """Kill the process with all that it started, a Java for instance."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def release(self) -> str:
        """See that nothing is left; returns the last line that it printed."""
        self.kill()
        self.process.wait()
        self.hang_up()
        self.answers.close()
        with self.printed as printed:
            printed.seek(max(printed.seek(0, os.SEEK_END) - _TAIL, 0))
            lines = printed.read().decode("utf-8", "replace").strip().splitlines()
        return one_line(lines[-1], 200) if lines else "it printed nothing"


def _ended() -> GameError:
    return GameError("the games were ended")


def _read(line: bytes, kind: type[T]) -> T:
    try:
        answer = msgspec.json.decode(line, type=GameAnswer)
        if answer.problem is None:
            return msgspec.json.decode(answer.value, type=kind)
    except msgspec.MsgspecError as error:
        told = one_line(str(error), 200)
        raise GameError(f"the environment breaks its protocol: {told}") from error
    problem = answer.problem
    raise UsageError(problem.message, source=problem.source, hint=problem.hint)


def _python_path() -> str:
    """What the process finds modules by: as this one, but not in the folder that we stand in."""
    given = os.environ.get("PYTHONPATH")
    return os.pathsep.join([str(_ROOT), *([given] if given else [])])
