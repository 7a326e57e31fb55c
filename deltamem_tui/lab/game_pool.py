"""Games in processes of their own, played by the threads of this one.

Simulators keep one game a process, print as they like, and may crash. A process that dies in a
game is started again, and the game is begun once more and brought to where it was: the agent
does not notice, and nothing that was paid for is asked twice.
"""

from __future__ import annotations

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from deltamem_tui.errors import GameError
from deltamem_tui.lab.environment import Environment, Game, GameInfo, Observation, Start
from deltamem_tui.lab.game_messages import (
    GameQuestion,
    ListGames,
    LoadGame,
    StartGame,
    StepGame,
)
from deltamem_tui.lab.game_process import GameProcess, ProcessDiedError
from deltamem_tui.lab.registry import environment_named
from deltamem_tui.text import clean, one_line

T = TypeVar("T")

_PATIENCE = 600.0


class GamePool:
    """A number of processes with one environment each. Any number of threads may ask for games.

    Args:
        spec: The environment, as `registry.environment_named` takes it.
        processes: How many games can be under way at once.
        games: Where its games lie, if it is told.
        patience: Seconds after which a process that does not answer counts as dead.

    Attributes:
        environment: The environment as it is in this process: its name, domain, limit, splits and
            `game_of`. Its simulator is not loaded here.

    Raises:
        UsageError: There is no such environment.
    """

    def __init__(
        self,
        spec: str,
        processes: int = 1,
        *,
        games: Path | None = None,
        patience: float = _PATIENCE,
    ) -> None:
        self.environment: Environment = environment_named(spec, games=games)
        arguments = [spec] if games is None else [spec, str(games)]
        self._all = [GameProcess(arguments, patience) for _ in range(processes)]
        self._free: queue.LifoQueue[GameProcess] = queue.LifoQueue()
        for each in self._all:
            self._free.put(each)

    def __enter__(self) -> GamePool:
        """No process is started before it is asked."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End all processes; threads that still play get a `GameError`."""
        for each in self._all:
            each.dismiss()
        for each in self._all:
            each.end()

    def games(self, split: str) -> list[GameInfo]:
        """The games of a split, in the environment's order.

        Raises:
            UsageError: The environment, or what it needs, is not installed, or has no such split.
            GameError: Its process died twice.
        """
        question = ListGames(split)
        with self._process() as process:
            try:
                return process.ask(question, list[GameInfo])
            except ProcessDiedError:
                pass
            try:
                return process.ask(question, list[GameInfo])
            except ProcessDiedError as second:
                raise _died_twice(split, second) from second

    @contextmanager
    def playing(self, game: GameInfo) -> Iterator[Game]:
        """A game, loaded, in a process that is this thread's until the block is left.

        Waits until one is free.

        Raises:
            UsageError: There is no such game.
            GameError: Its process died twice; also from the game's own methods.
        """
        with self._process() as process:
            played = _PlayedGame(process, game)
            played.load()
            yield played

    @contextmanager
    def _process(self) -> Iterator[GameProcess]:
        process = self._free.get()
        try:
            yield process
        finally:
            self._free.put(process)


class _PlayedGame:
    """A game in a process, with what was done in it."""

    def __init__(self, process: GameProcess, info: GameInfo) -> None:
        self._process, self._info = process, info
        self._done: list[tuple[str, Observation]] = []
        self._started = False
        self._died = False

    def load(self) -> None:
        self._ask(LoadGame(self._info), type(None))

    def start(self) -> Start:
        """Begin."""
        self._done, self._started = [], False
        told = self._ask(StartGame(), Start)
        self._started = True
        return Start(clean(told.task), clean(told.scene), tuple(map(clean, told.commands)))

    def step(self, action: str) -> Observation:
        """Do something."""
        seen = self._ask(StepGame(action), Observation)
        self._done.append((action, seen))
        return Observation(
            clean(seen.text), seen.score, seen.done, tuple(map(clean, seen.commands))
        )

    def _ask(self, question: GameQuestion, kind: type[T]) -> T:
        try:
            return self._process.ask(question, kind)
        except ProcessDiedError as died:
            if self._died:
                raise _died_twice(self._info.name, died) from died
        self._died = True
        try:
            self._bring_back(question)
            return self._process.ask(question, kind)
        except ProcessDiedError as second:
            raise _died_twice(self._info.name, second) from second

    def _bring_back(self, question: GameQuestion) -> None:
        """Load the game in a new process, and do in it what was done."""
        if not isinstance(question, LoadGame):
            self._process.ask(LoadGame(self._info), type(None))
        if self._started:
            self._process.ask(StartGame(), Start)
        for action, before in self._done:
            now = self._process.ask(StepGame(action), Observation)
            # Texts may differ: ScienceWorld lists things in another order each time.
            if (now.score, now.done) != (before.score, before.done):
                raise GameError(
                    "its process died, and the game went otherwise when it was begun once more",
                    source=one_line(self._info.name, 120),
                )


def _died_twice(what: str, died: ProcessDiedError) -> GameError:
    return GameError(
        f"the process of the game died twice: {died}",
        source=one_line(what, 120),
        hint="leave the game out, or see whether the simulator runs by itself",
    )
