"""The process of games: it answers the questions that come on its standard input.

It ends when that ends, so it does not outlive the program, even if the program is killed. What
the simulators print goes to standard error. Whatever they raise ends the process: a simulator
that failed once is not to be trusted with the next game.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.lab.environment import Environment, Game
from deltamem_tui.lab.game_messages import (
    GameAnswer,
    GameProblem,
    GameQuestion,
    ListGames,
    LoadGame,
    StartGame,
)
from deltamem_tui.lab.registry import environment_named

# Seconds that a game under way has to come to an end when nothing more is asked.
_GRACE = 1.0


def main() -> None:
    """Serve the environment that the arguments name: its spec, and where its games lie if told."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program ends it
    spec, *games = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    server = _GameServer(spec, Path(games[0]) if games else None)
    for question in _questions():
        answers.write(msgspec.json.encode(server.answer(question)) + b"\n")
        answers.flush()


class _GameServer:
    """Answers with one environment, made at the first question, and one game at a time."""

    def __init__(self, spec: str, games: Path | None) -> None:
        self._spec, self._games = spec, games
        self._made: Environment | None = None
        self._game: Game | None = None

    def answer(self, question: GameQuestion) -> GameAnswer:
        """What the environment says, or why it says nothing."""
        try:
            return GameAnswer(msgspec.Raw(msgspec.json.encode(self._value(question))))
        except DeltaMemError as error:
            return GameAnswer(problem=GameProblem(error.message, error.source, error.hint))

    def _value(self, question: GameQuestion) -> object:
        if isinstance(question, ListGames):
            return list(self._environment().games(question.split))
        if isinstance(question, LoadGame):
            self._game = None  # the last one's memory is free before the next one takes some
            self._game = self._environment().load(question.game)
            return None
        if self._game is None:
            raise RuntimeError("no game is loaded")
        return (
            self._game.start()
            if isinstance(question, StartGame)
            else self._game.step(question.action)
        )

    def _environment(self) -> Environment:
        if self._made is None:
            self._made = environment_named(self._spec, games=self._games)
        return self._made


def _questions() -> Iterator[GameQuestion]:
    """The questions as they come. They are read beside the games, so that their end is seen."""
    waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, waiting), daemon=True).start()
    decoder = msgspec.json.Decoder(GameQuestion)
    while line := waiting.get():
        yield decoder.decode(line)


def _read(stream: BinaryIO, waiting: queue.SimpleQueue[bytes | None]) -> None:
    for line in stream:
        waiting.put(line)
    waiting.put(None)
    time.sleep(_GRACE)
    # A game is still under way, or its simulator does not end: both are killed.
    os.killpg(os.getpgid(0), signal.SIGKILL)


if __name__ == "__main__":
    main()
