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
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, cast

import msgspec
from msgspec import Struct

from deltamem_tui.errors import UsageError
from deltamem_tui.lab.environment import Count, Dollars
from deltamem_tui.lab.play import AgentCost, Playthrough
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
    """Plays by a program of the user's; threads may share one.

    Args:
        command: The program and its arguments, as in a shell; no shell reads it.
        timeout: Seconds that the program has for each answer.

    Raises:
        UsageError: There is no command.
    """

    def __init__(self, command: str, *, timeout: float = 120.0) -> None:
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise _problem(command, f"is not a command: {error}") from error
        if not self._command:
            raise UsageError("the agent's command is empty")
        self.name = one_line(command, 200)
        self._timeout = timeout

    def play(self, game: Playthrough, memory: str) -> AgentCost:
        """Have a program play.

        Raises:
            UsageError: It cannot be started, breaks the protocol, or fails.
        """
        try:
            program = _Program(self._command)
        except OSError as error:
            raise _problem(self.name, f"cannot be started: {error.strerror}") from error
        try:
            cost = self._played(program, game, memory)
            program.end()
        finally:
            last_words = program.release()
        code = program.process.returncode
        if code > 0 and not game.over:
            raise _problem(self.name, f"ended with the code {code}: {last_words}")
        return cost

    def _played(self, program: _Program, game: Playthrough, memory: str) -> AgentCost:
        calls, tokens, cost = 0, 0, None
        message: dict[str, object] = {
            "task": game.start.task,
            "scene": game.start.scene,
            "commands": game.start.commands,
            "memory": memory,
            "limit": game.limit,
        }
        while move := self._move(program, message):
            calls, tokens = calls + move.calls, tokens + move.tokens
            cost = cost if move.cost is None else (cost or 0.0) + move.cost
            if move.stop or game.over:
                break
            seen = game.act(clean(move.action).strip(), clean(move.thought).strip())
            message = {"observation": seen.text, "score": seen.score, "done": game.over}
            message["commands"] = seen.commands
        return AgentCost(calls, tokens, cost)

    def _move(self, program: _Program, message: dict[str, object]) -> ProgramMove | None:
        """Return the program's answer; None if it ended."""
        try:
            line = program.ask(msgspec.json.encode(message) + b"\n", self._timeout)
        except TimeoutError as error:
            what = f"gave no answer within {self._timeout:g} s"
            raise _problem(self.name, what) from error
        if len(line) > LONGEST_LINE:
            raise _problem(self.name, f"wrote a line of more than {LONGEST_LINE:,} bytes")
        if not line.strip():
            return None
        try:
            move = msgspec.json.decode(line, type=ProgramMove)
        except msgspec.MsgspecError as error:
            wrote = one_line(line.decode("utf-8", "replace"), 80)
            what = f"wrote {wrote!r}, which is not an action: {error}"
            raise _problem(self.name, what) from error
        if not move.stop and not clean(move.action).strip():
            raise _problem(self.name, "wrote a line without an action")
        return move


class _Program:
    """A program under way, in a session of its own: an interrupt of ours does not reach it."""

    def __init__(self, command: Sequence[str]) -> None:
        self._printed: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - `release` closes it
        pipe = subprocess.PIPE
        try:
            self.process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=self._printed, start_new_session=True
            )
        except BaseException:
            self._printed.close()
            raise

    def ask(self, question: bytes, patience: float) -> bytes:
        """Put a line, and wait for the line that answers it; it has no end if the program ended.

        Raises:
            TimeoutError: No answer came in time; the program is killed.
        """
        expired = threading.Event()

        def give_up() -> None:
            expired.set()
            self._kill()

        timer = threading.Timer(patience, give_up)
        timer.daemon = True
        timer.start()
        questions = cast("IO[bytes]", self.process.stdin)
        answers = cast("IO[bytes]", self.process.stdout)
        line = b""
        try:
            with suppress(BrokenPipeError):  # what it wrote before it ended is still there
                questions.write(question)
                questions.flush()
            line = answers.readline(LONGEST_LINE + 1)
        finally:
            timer.cancel()
        if expired.is_set() and not line.endswith(b"\n"):
            raise TimeoutError
        return line

    def end(self) -> None:
        """Say that nothing more will be asked, and wait a little for the program to end."""
        with suppress(OSError):
            cast("IO[bytes]", self.process.stdin).close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_END)

    def release(self) -> str:
        """Kill what is left of it, and return the last line that was printed."""
        self._kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                cast("IO[bytes]", pipe).close()
        with self._printed as printed:
            printed.seek(max(printed.seek(0, os.SEEK_END) - _TAIL, 0))
            lines = printed.read().decode("utf-8", "replace").strip().splitlines()
        return one_line(lines[-1], 200) if lines else "it printed nothing"

    def _kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)


def _problem(command: str, what: str) -> UsageError:
    hint = "docs/lab.md has what it reads and writes"
    return UsageError(f"the agent's program {what}", source=one_line(command, 80), hint=hint)
