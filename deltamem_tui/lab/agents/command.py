"""The agent that is any program: it reads observations and writes actions, a JSON line each.

The program is started for each game. The first line that it reads is
`{"task", "scene", "commands", "memory", "limit"}`. It answers `{"action": …}`, with a `thought`
if it likes, and reads `{"observation", "score", "done", "commands"}` for it, and so on. It ends
the game by `{"stop": true}`, or by ending itself.
"""

from __future__ import annotations

import shlex

import msgspec
from msgspec import Struct

from deltamem_tui.errors import UsageError
from deltamem_tui.lab.agent import AgentCost, Count, Dollars, Playthrough
from deltamem_tui.lab.child_process import ChildProcess
from deltamem_tui.lab.environment import Observation
from deltamem_tui.text import clean, one_line

LONGEST_LINE = 1_000_000
"""Bytes of a line that a program writes."""

_END = 5.0  # seconds that a program has to end by itself when its game is over


class ProgramMove(Struct, frozen=True):
    """What a program writes.

    Attributes:
        action: What it does; nothing only with `stop`.
        thought: What it thinks.
        stop: Whether it gives the game up, in place of an action.
        calls: How often it asked a model for this action, if it says so.
        tokens: What that took.
        cost: What that cost, in US dollars.
    """

    action: str = ""
    thought: str = ""
    stop: bool = False
    calls: Count = 0
    tokens: Count = 0
    cost: Dollars | None = None


class CommandAgent:
    """Plays by a program of the user's. Any number of threads may share one.

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
            raise self._error(command, f"is not a command: {error}") from error
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
            program = ChildProcess.start(self._command)
        except OSError as error:
            raise self._error(self.name, f"cannot be started: {error.strerror}") from error
        try:
            cost = self._played(program, game, memory)
            program.end(_END)
        finally:
            last_words = program.release()
        code = program.process.returncode
        if code > 0 and not game.over:
            raise self._error(self.name, f"ended with the code {code}: {last_words}")
        return cost

    def _played(self, program: ChildProcess, game: Playthrough, memory: str) -> AgentCost:
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
            message = _told(seen, over=game.over)
        return AgentCost(calls, tokens, cost)

    def _move(self, program: ChildProcess, message: dict[str, object]) -> ProgramMove | None:
        """What the program answers; None if it ended."""
        question = msgspec.json.encode(message) + b"\n"
        try:
            line = program.asked(question, self._timeout, LONGEST_LINE + 1)
        except TimeoutError as late:
            raise self._error(self.name, str(late)) from late
        if len(line) > LONGEST_LINE:
            raise self._error(self.name, f"wrote a line of more than {LONGEST_LINE:,} bytes")
        if not line.strip():
            return None
        try:
            move = msgspec.json.decode(line, type=ProgramMove)
        except msgspec.MsgspecError as error:
            wrote = one_line(line.decode("utf-8", "replace"), 80)
            raise self._error(
                self.name, f"wrote {wrote!r}, which is not an action: {error}"
            ) from error
        if not move.stop and not clean(move.action).strip():
            raise self._error(self.name, "wrote a line without an action")
        return move

    @staticmethod
    def _error(command: str, what: str) -> UsageError:
        return UsageError(
            f"the agent's program {what}",
            source=one_line(command, 80),
            hint="docs/evaluate.md has what it reads and writes",
        )


def _told(seen: Observation, *, over: bool) -> dict[str, object]:
    return {
        "observation": seen.text,
        "score": seen.score,
        "done": over,
        "commands": seen.commands,
    }
