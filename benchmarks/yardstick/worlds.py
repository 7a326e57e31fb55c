"""The two simulators behind one face: a goal and a scene, then an answer for each action."""

from __future__ import annotations

import atexit
import random
import shutil
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Protocol

from deltamem_tui.errors import UsageError

Part = Literal["dev", "test"]
_GOAL = "Your task is to: "
_INSTALL = "pip install 'deltamem-tui[yardstick]'"
_INSTALL_JAVA = "ScienceWorld runs on Java 8 or newer"


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
            _translate_once()
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
        self._best = 0.0
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
    """ScienceWorld's simulator, a Java process, started once.

    Raises:
        UsageError: ScienceWorld or a Java is missing.
    """
    _require("scienceworld")
    if shutil.which("java") is None:
        raise UsageError("ScienceWorld needs a Java, which is not installed", hint=_INSTALL_JAVA)
    from scienceworld import ScienceWorldEnv

    world = ScienceWorldEnv("", envStepLimit=1000)
    # Its own end comes when the interpreter is half gone, and fails with a traceback.
    atexit.register(world.close)
    ScienceWorldEnv.__del__ = _leave_alone
    return world


def _leave_alone(_: object) -> None:
    """Does nothing: the process was ended before."""


@cache
def _translate_once() -> None:
    """Keep the last game's translation.

    TextWorld translates four times for each reset, 0.7 s each, half of it for a planner that is
    not asked here.
    """
    import fast_downward

    translated = lru_cache(maxsize=1)(fast_downward.pddl2sas)
    fast_downward.pddl2sas = lambda domain, problem, **_: translated(domain, problem)


def _require(*modules: str) -> None:
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise UsageError(f"{' and '.join(missing)} cannot be imported", hint=_INSTALL)


def alfworld_games(archive: Path, folder: Path, part: Part) -> Iterator[Game]:
    """ALFWorld's games: seen rooms to try things on, unseen ones to measure.

    Args:
        archive: Games packed as `alfworld_games.tar.xz`.
        folder: Where they are unpacked to, once.
        part: Which of them.

    Raises:
        UsageError: The simulator or the archive is missing.
    """
    _require("alfworld", "textworld")
    split = {"dev": "valid_seen", "test": "valid_unseen"}[part]
    if not (folder / "alfworld_games" / split).exists():
        if not archive.is_file():
            raise UsageError(
                "there are no games here", source=str(archive), hint="name the archive: --games"
            )
        folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
    files = sorted((folder / "alfworld_games" / split).glob("*/*/game.tw-pddl"))
    random.Random(7).shuffle(files)
    return (AlfworldGame(file) for file in files)


def scienceworld_games(part: Part) -> Iterator[Game]:
    """Variations that no episode was made from: three a task, drawn by a fixed seed.

    Raises:
        UsageError: ScienceWorld or a Java is missing.
    """
    return _variations(simulator(), part)


def _variations(world: Any, part: Part) -> Iterator[Game]:
    drawn = random.Random(7)
    for task in sorted(world.get_task_names()):
        world.load(task, 0, "")
        which = world.get_variations_dev() if part == "dev" else world.get_variations_test()
        numbers = list(which)
        for number in sorted(drawn.sample(numbers, min(3, len(numbers)))):
            yield ScienceWorldGame(task, number)
