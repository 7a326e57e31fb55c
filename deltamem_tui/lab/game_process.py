"""One process of games: asked through a pipe, and ended with all that it started."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import TypeVar

import msgspec

from deltamem_tui.errors import GameError, UsageError
from deltamem_tui.lab.child_process import ChildProcess
from deltamem_tui.lab.game_messages import GameAnswer, GameQuestion
from deltamem_tui.text import one_line

T = TypeVar("T")

_END = 3.0  # seconds that a process has to end by itself; more than it gives a game under way
_ROOT = Path(__file__).parents[2]
_SERVER = "deltamem_tui.lab.game_server"


class GameProcess:
    """A process, started when it is first asked and again after it died. For one thread at once.

    Args:
        arguments: The environment's spec, and where its games lie if it is told.
        patience: Seconds after which a process that does not answer counts as dead.
    """

    def __init__(self, arguments: list[str], patience: float) -> None:
        self._arguments, self._patience = arguments, patience
        self._running: ChildProcess | None = None
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
        try:
            line = running.asked(msgspec.json.encode(question) + b"\n", self._patience)
        except TimeoutError as late:
            raise self._died(running, str(late)) from late
        except BaseException:  # interrupted: the answer would be taken for the next one's
            self._died(running)
            raise
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
            running.end(_END)
            running.release()

    def _started(self) -> ChildProcess:
        with self._lock:
            if self._dismissed:
                raise _ended()
            if self._running is None:
                self._running = _server(self._arguments)
            return self._running

    def _died(self, running: ChildProcess, why: str = "") -> Exception:
        with self._lock:
            if self._dismissed:
                return _ended()
            self._running = None
        last_words = running.release()
        return ProcessDiedError(why or last_words)


class ProcessDiedError(Exception):
    """The process gave no answer. Its text says why, or is the last line that it printed."""


def _server(arguments: list[str]) -> ChildProcess:
    command = [sys.executable, "-P", "-m", _SERVER, *arguments]
    return ChildProcess.start(command, {**os.environ, "PYTHONPATH": _python_path()})


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
