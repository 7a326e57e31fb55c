"""The two simulators behind one face: a goal and a scene, then an answer for each action."""

from __future__ import annotations

import random
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, Protocol

Part = Literal["dev", "test"]
_GOAL = "Your task is to: "


@dataclass(frozen=True, slots=True)
class Start:
    """How a game begins.

    Attributes:
        task: The goal, as an agent is told it.
        scene: The first observation, without the goal.
    """

    task: str
    scene: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What an action led to.

    Attributes:
        text: The observation.
        score: The best score so far, from 0 to 1.
        done: Whether the game is over.
        commands: What the game would accept now; empty where it does not say.
    """

    text: str
    score: float
    done: bool
    commands: tuple[str, ...] = ()


class Game(Protocol):
    """One game, played once.

    Attributes:
        name: Tells it from others.
        limit: How many actions an agent has.
    """

    name: str
    limit: int

    def start(self) -> Start:
        """Begin."""
        ...

    def step(self, action: str) -> Answer:
        """Do something."""
        ...


class AlfworldGame:
    """A house of receptacles; the score is 1 when the goal is reached."""

    limit = 30

    def __init__(self, file: Path) -> None:
        """Prepare a game from its file; nothing is loaded yet."""
        self.name = file.parent.parent.name
        self._file = file
        self._env: Any = None

    def start(self) -> Start:
        """Load the game, the first time."""
        if self._env is None:
            self._env = self._loaded()
        texts, _ = self._env.reset()
        scene, _, task = texts[0].partition(_GOAL)
        return Start(task.strip(), scene.partition("=-\n")[2].strip() or scene.strip())

    def _loaded(self) -> Any:
        import textworld
        import textworld.gym
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredInfos

        wanted = textworld.EnvInfos(won=True, admissible_commands=True, extras=["gamefile"])
        return textworld.gym.make(
            textworld.gym.register_games(
                [str(self._file)],
                wanted,
                batch_size=1,
                asynchronous=False,
                max_episode_steps=2 * self.limit,
                wrappers=[AlfredDemangler(), AlfredInfos],
            )
        )

    def step(self, action: str) -> Answer:
        """Do something."""
        texts, _, dones, infos = self._env.step([action])
        won = bool(infos["won"][0])
        return Answer(texts[0], float(won), dones[0], tuple(infos["admissible_commands"][0]))


class ScienceWorldGame:
    """Ten rooms; the score is the share of sub-goals reached."""

    limit = 60

    def __init__(self, task: str, variation: int) -> None:
        """Prepare a variation of a task; nothing is loaded yet."""
        self.name = f"{task}/{variation}"
        self._task, self._variation = task, variation
        self._best = 0.0

    def start(self) -> Start:
        """Load the variation."""
        world = simulator()
        world.load(self._task, self._variation, "")
        world.reset()
        task = world.get_task_description().partition("Task Description:")[2] or ""
        return Start(task.strip() or world.get_task_description(), world.look())

    def step(self, action: str) -> Answer:
        """Do something."""
        server = simulator().server  # `env.step` looks at every possible action, which is slow
        text = str(server.step(action))
        score = float(server.getScore())
        self._best = max(self._best, score)
        return Answer(text, self._best, bool(server.getCompleted()) or score < 0)


@cache
def simulator() -> Any:
    """ScienceWorld's simulator, a Java process, started once."""
    from scienceworld import ScienceWorldEnv

    return ScienceWorldEnv("", envStepLimit=1000)


def alfworld_games(archive: Path, folder: Path, part: Part) -> list[Game]:
    """ALFWorld's games: seen rooms to try things on, unseen ones to measure.

    Args:
        archive: Games packed as `alfworld_games.tar.xz`.
        folder: Where they are unpacked to, once.
        part: Which of them.
    """
    split = {"dev": "valid_seen", "test": "valid_unseen"}[part]
    if not (folder / "alfworld_games" / split).exists():
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
    files = sorted((folder / "alfworld_games" / split).glob("*/*/game.tw-pddl"))
    random.Random(7).shuffle(files)
    return [AlfworldGame(file) for file in files]


def scienceworld_games(part: Part) -> list[Game]:
    """Variations that no episode was made from: three a task, drawn by a fixed seed."""
    return list(_variations(part))


def _variations(part: Part) -> Iterator[Game]:
    world = simulator()
    drawn = random.Random(7)
    for task in sorted(world.get_task_names()):
        world.load(task, 0, "")
        which = world.get_variations_dev() if part == "dev" else world.get_variations_test()
        numbers = list(which)
        for number in sorted(drawn.sample(numbers, min(3, len(numbers)))):
            yield ScienceWorldGame(task, number)


def kind_of(name: str) -> str:
    """The kind of task, as the simulator itself names it: from a game's or an episode's name."""
    return re.split(r"[-/]", name.removeprefix("scienceworld/"))[0]
