"""The agent that is any program: it reads observations and writes actions, a JSON line each.

The program is started for each game. The first line that it reads is
`{"task", "scene", "commands", "memory", "limit"}`. It answers `{"action": …}`, with a `thought`
if it likes, and reads `{"observation", "score", "done", "commands"}` for it, and so on. It ends
the game by `{"stop": true}`, or by ending itself.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
import threading
from contextlib import suppress
from typing import IO, Any, cast

import msgspec
from msgspec import Struct

from deltamem_tui.errors import UsageError
from deltamem_tui.lab.environment import Count, Dollars
from deltamem_tui.lab.grounds import Playthrough
from deltamem_tui.lab.plan import ModelCost
from deltamem_tui.text import clean, one_line

LONGEST_LINE = 1_000_000
"""Bytes of a line that a program writes."""

_END = 5.0  # seconds for a program to end by itself when its game is over
_TAIL = 4_000


class ProgramMove(Struct, frozen=True):
    """A line that a program writes: an action, or `stop`; and what a model took for it."""

    action: str = ""
    thought: str = ""
    stop: bool = False
    calls: Count = 0
    tokens: Count = 0
    cost: Dollars | None = None


class ProgramAgent:
    """Plays by a program of the user's; threads may share one."""

    def __init__(self, command: str, *, timeout: float = 120.0) -> None:
        self.name, self._timeout = one_line(command, 200), timeout
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise self._problem(f"is not a command: {error}") from error
        if not self._command:
            raise self._problem("is not named")

    def play(self, game: Playthrough, memory: str) -> ModelCost:
        """Have a program play."""
        with tempfile.TemporaryFile() as printed:
            pipe: dict[str, Any] = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
            try:  # in a session of its own: an interrupt of ours does not reach it
                program = subprocess.Popen(
                    self._command, **pipe, stderr=printed, start_new_session=True
                )
            except OSError as error:
                raise self._problem(f"cannot be started: {error.strerror}") from error
            with program:
                try:
                    cost = self._played(program, game, memory)
                    with suppress(OSError):
                        cast("IO[bytes]", program.stdin).close()
                    with suppress(subprocess.TimeoutExpired):
                        program.wait(_END)
                finally:
                    _kill(program)
                    with suppress(OSError):  # what it does not read any more
                        cast("IO[bytes]", program.stdin).close()
            if program.returncode > 0 and not game.over:
                last = _last_line(printed)
                raise self._problem(f"ended with the code {program.returncode}: {last}")
        return cost

    def _played(
        self, program: subprocess.Popen[bytes], game: Playthrough, memory: str
    ) -> ModelCost:
        calls, tokens, cost, start = 0, 0, None, game.start
        message: dict[str, object] = {"task": start.task, "scene": start.scene}
        message |= {"commands": start.commands, "memory": memory, "limit": game.limit}
        while move := self._move(program, message):
            calls, tokens = calls + move.calls, tokens + move.tokens
            cost = cost if move.cost is None else (cost or 0.0) + move.cost
            if move.stop or game.over:
                break
            seen = game.act(clean(move.action).strip(), clean(move.thought).strip())
            message = {"observation": seen.text, "score": seen.score, "done": game.over}
            message["commands"] = seen.commands
        return ModelCost(calls, tokens, cost)

    def _move(
        self, program: subprocess.Popen[bytes], message: dict[str, object]
    ) -> ProgramMove | None:
        """Return the program's answer; None if it ended."""
        line = self._answer(program, msgspec.json.encode(message) + b"\n")
        if not line.strip():
            return None
        try:
            move = msgspec.json.decode(line, type=ProgramMove)
        except msgspec.MsgspecError as error:
            wrote = one_line(line.decode("utf-8", "replace"), 80)
            raise self._problem(f"wrote {wrote!r}, which is not an action: {error}") from error
        if not move.stop and not clean(move.action).strip():
            raise self._problem("wrote a line without an action")
        return move

    def _answer(self, program: subprocess.Popen[bytes], question: bytes) -> bytes:
        """Put a line, and wait for the line that answers it; killed if it comes too late."""
        expired = threading.Event()

        def give_up() -> None:
            expired.set()
            _kill(program)

        timer = threading.Timer(self._timeout, give_up)
        timer.daemon = True
        timer.start()
        try:
            with suppress(BrokenPipeError):  # what it wrote before it ended is still there
                cast("IO[bytes]", program.stdin).write(question)
                cast("IO[bytes]", program.stdin).flush()
            line = cast("IO[bytes]", program.stdout).readline(LONGEST_LINE + 1)
        finally:
            timer.cancel()
        if expired.is_set() and not line.endswith(b"\n"):
            raise self._problem(f"gave no answer within {self._timeout:g} s")
        return line

    def _problem(self, what: str) -> UsageError:
        hint, source = "docs/lab.md has what it reads and writes", one_line(self.name, 80)
        return UsageError(f"the agent's program {what}", source=source, hint=hint)


def _kill(program: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(program.pid, signal.SIGKILL)


def _last_line(printed: IO[bytes]) -> str:
    printed.seek(max(printed.seek(0, os.SEEK_END) - _TAIL, 0))
    lines = printed.read().decode("utf-8", "replace").strip().splitlines()
    return one_line(lines[-1], 200) if lines else "it printed nothing"
