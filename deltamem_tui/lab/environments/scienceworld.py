"""ScienceWorld: a house with a workshop, a greenhouse and a foundry, for school science."""

from __future__ import annotations

import atexit
import random
import shutil
from collections.abc import Sequence
from functools import cache
from typing import Any

from deltamem_tui.errors import UsageError
from deltamem_tui.lab.environment import (
    GameInfo,
    Observation,
    Start,
    no_such_game,
    no_such_split,
    require,
)
from deltamem_tui.trajectory.model import Trajectory

_INSTALL = "pip install 'deltamem-tui[scienceworld]'"
_LONGEST = 1_000  # the simulator's own limit, above all that an agent is given


class ScienceWorldEnvironment:
    """Variations of tasks, three a task; the score is the share of sub-goals reached.

    A process has one house, hence one game at a time.
    """

    name = "scienceworld"
    domain = "scienceworld"
    limit = 60
    splits = ("dev", "test", "train")

    def games(self, split: str) -> Sequence[GameInfo]:
        """Return the variations of a split, three of each task, drawn by a fixed seed."""
        if split not in self.splits:
            raise no_such_split(split, self.splits)
        world, drawn = simulator(), random.Random(7)  # noqa: S311 - the same ones each time
        found: list[GameInfo] = []
        for task in sorted(world.get_task_names()):
            world.load(task, 0, "")
            numbers = list(getattr(world, f"get_variations_{split}")())
            some = sorted(drawn.sample(numbers, min(3, len(numbers))))
            found += [GameInfo(f"{task}/{number}", split, task) for number in some]
        return found

    def load(self, game: GameInfo) -> ScienceWorldGame:
        """Load a variation."""
        task, _, variation = game.name.rpartition("/")
        if not variation.isdecimal() or task not in simulator().get_task_names():
            raise no_such_game(game.name, self.name)
        return ScienceWorldGame(task, int(variation))

    def game_of(self, episode: Trajectory) -> str:
        """Return the task and the variation that an episode's log names."""
        facts = episode.metadata
        if facts.get("task_type") and facts.get("variation", "").isdecimal():
            return f"{facts['task_type']}/{facts['variation']}"
        return facts.get("game", "")


class ScienceWorldGame:
    """A variation of a task."""

    def __init__(self, task: str, variation: int) -> None:
        self._task, self._variation = task, variation

    def start(self) -> Start:
        """Begin."""
        world = simulator()
        world.load(self._task, self._variation, "")
        world.reset()
        task = world.get_task_description().partition("Task Description:")[2]
        return Start(task.strip() or world.get_task_description(), world.look())

    def step(self, action: str) -> Observation:
        """Take an action. A wrong act that ends the game with −100 leaves a score of 0."""
        server = simulator().server  # `env.step` looks at every possible action, which is slow
        text, score = str(server.step(action)), float(server.getScore())
        return Observation(text, max(score, 0.0), bool(server.getCompleted()) or score < 0)


@cache
def simulator() -> Any:
    """Return the simulator, a Java process that is started once."""
    require(("scienceworld",), _INSTALL)
    if shutil.which("java") is None:
        hint = "ScienceWorld runs on Java 8 or newer"
        raise UsageError("ScienceWorld needs a Java, which is not installed", hint=hint)
    from scienceworld import ScienceWorldEnv

    world = ScienceWorldEnv("", envStepLimit=_LONGEST)
    # Its own end comes when the interpreter is half gone, and fails with a traceback.
    atexit.register(world.close)
    ScienceWorldEnv.__del__ = lambda _: None
    return world
