"""ScienceWorld: a house with a workshop, a greenhouse and a foundry, for school science."""

from __future__ import annotations

import atexit
import random
import shutil
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from deltamem_tui.errors import UsageError
from deltamem_tui.lab.environment import GameInfo, Observation, Start
from deltamem_tui.lab.environments.needs import no_such_game, no_such_split, require
from deltamem_tui.trajectory.model import Trajectory

_INSTALL = "pip install 'deltamem-tui[scienceworld]'"
_INSTALL_JAVA = "ScienceWorld runs on Java 8 or newer"
_SPLITS = ("dev", "test", "train")
_LONGEST = 1_000  # the simulator's own limit, above all that an agent is given


class ScienceWorldEnvironment:
    """Variations of tasks; the score is the share of sub-goals reached.

    Of each task three variations of a split are drawn by a fixed seed. Only one game of a process
    can be under way, because the simulator has one house.
    """

    name = "scienceworld"
    domain = "scienceworld"
    limit = 60
    splits = _SPLITS

    def games(self, split: str) -> Sequence[GameInfo]:
        """The variations of a split, by task."""
        if split not in self.splits:
            raise no_such_split(split, self.splits)
        return list(_variations(simulator(), split))

    def load(self, game: GameInfo) -> ScienceWorldGame:
        """Load a variation."""
        task, _, variation = game.name.rpartition("/")
        if not variation.isdecimal() or task not in simulator().get_task_names():
            raise no_such_game(game.name, self.name)
        return ScienceWorldGame(task, int(variation))

    def game_of(self, episode: Trajectory) -> str:
        """The task and the variation that an episode's log names."""
        facts = episode.metadata
        if facts.get("task_type") and facts.get("variation", "").isdecimal():
            return f"{facts['task_type']}/{facts['variation']}"
        return facts.get("game", "")


class ScienceWorldGame:
    """A variation of a task."""

    def __init__(self, task: str, variation: int) -> None:
        self._task, self._variation = task, variation
        self._best = 0.0

    def start(self) -> Start:
        """Begin."""
        self._best = 0.0
        world = simulator()
        world.load(self._task, self._variation, "")
        world.reset()
        task = world.get_task_description().partition("Task Description:")[2] or ""
        return Start(task.strip() or world.get_task_description(), world.look())

    def step(self, action: str) -> Observation:
        """Do something."""
        server = simulator().server  # `env.step` looks at every possible action, which is slow
        text = str(server.step(action))
        score = float(server.getScore())
        self._best = max(self._best, score)
        return Observation(text, self._best, bool(server.getCompleted()) or score < 0)


@cache
def simulator() -> Any:
    """The simulator, a Java process, started once.

    Raises:
        UsageError: ScienceWorld or a Java is missing.
    """
    require(("scienceworld",), _INSTALL)
    if shutil.which("java") is None:
        raise UsageError("ScienceWorld needs a Java, which is not installed", hint=_INSTALL_JAVA)
    from scienceworld import ScienceWorldEnv

    world = ScienceWorldEnv("", envStepLimit=_LONGEST)
    # Its own end comes when the interpreter is half gone, and fails with a traceback.
    atexit.register(world.close)
    ScienceWorldEnv.__del__ = _leave_alone
    return world


def _leave_alone(_: object) -> None:
    """Does nothing: the process was ended before."""


def _variations(world: Any, split: str) -> Iterator[GameInfo]:
    drawn = random.Random(7)  # noqa: S311 - the same ones each time
    numbers_of = {
        "dev": world.get_variations_dev,
        "test": world.get_variations_test,
        "train": world.get_variations_train,
    }[split]
    for task in sorted(world.get_task_names()):
        world.load(task, 0, "")
        numbers = list(numbers_of())
        for number in sorted(drawn.sample(numbers, min(3, len(numbers)))):
            yield GameInfo(f"{task}/{number}", split, task)
