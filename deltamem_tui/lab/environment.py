"""Environments: games by split and name, each with an observation for every action."""

from __future__ import annotations

import atexit
import hashlib
import os
import random
import re
import shutil
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from functools import cache, lru_cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Annotated, Any, Protocol, cast

import orjson
from msgspec import Meta, Struct

from deltamem_tui import paths
from deltamem_tui.errors import UsageError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0, lt=10**12)]
Dollars = Annotated[float, Meta(ge=0, lt=10**12)]
"""Numbers from outside are checked when they are decoded."""


class GameInfo(Struct, frozen=True):
    """The name of a game or a question, as logs name it too; nothing of it is loaded.

    `kind` is the kind of its task, if known; `digest` tells it from another game of its name.
    """

    name: str
    split: str
    kind: str = ""
    digest: str = ""


class Start(Struct, frozen=True):
    """The beginning of a game: its goal, the first observation without it, and what it accepts."""

    task: str
    scene: str
    commands: tuple[str, ...] = ()


class Observation(Struct, frozen=True):
    """The answer to an action.

    The score is that of now, from 0 to 1; at 1 the goal is reached, and a wrong act may lower it.
    `commands` are the actions that the game accepts now; empty if it does not say.
    """

    text: str
    score: Share
    done: bool
    commands: tuple[str, ...] = ()


class Game(Protocol):
    """One loaded game. Starting it again begins it anew."""

    def start(self) -> Start:
        """Begin."""

    def step(self, action: str) -> Observation:
        """Take an action."""


class Environment(Protocol):
    """A family of games.

    Attributes:
        name: As on the command line.
        domain: The domain of banks learnt from it.
        limit: The most actions in a game, as published.
        splits: The names of its parts.
    """

    name: str
    domain: str
    limit: int
    splits: tuple[str, ...]

    def games(self, split: str) -> Sequence[GameInfo]:
        """Return the games of a split, in the same order each time."""

    def load(self, game: GameInfo) -> Game:
        """Load a game."""

    def game_of(self, episode: Trajectory) -> str:
        """Return the name of the game that an episode was played in; empty if unknown."""


ENVIRONMENTS = ("alfworld", "scienceworld")
_PARTS = ("name", "domain", "limit", "splits", "games", "load", "game_of")


def environment_named(spec: str, *, games: Path | None = None) -> Environment:
    """Return an environment by its name, or by `FILE.py:NAME`. No simulator is loaded."""
    if games is not None and spec != "alfworld":
        raise UsageError("--games-from applies to ALFWorld only", hint="leave it out")
    if is_own(spec):
        return cast("Environment", own_object(spec, "an environment", _PARTS))
    if spec not in ENVIRONMENTS:
        hint = f"one of {', '.join(ENVIRONMENTS)}, or FILE.py:NAME of your own"
        raise UsageError(f"unknown environment {one_line(spec, 60)!r}", hint=hint)
    return AlfworldEnvironment(games) if spec == "alfworld" else ScienceWorldEnvironment()


def is_own(spec: str) -> bool:
    """Return whether a name is `FILE.py:NAME`: something of the user's own."""
    return spec.rpartition(":")[0].endswith(".py")


def own_object(spec: str, kind: str, parts: Sequence[str]) -> Any:
    """Return the object that `FILE.py:NAME` names, or a class or function there makes."""
    path, _, name = spec.rpartition(":")
    file, name = paths.expanded(path), one_line(name, 60)
    source = one_line(str(file), 200)
    if not file.is_file():
        raise UsageError("no such file", source=source)
    try:
        with redirect_stdout(sys.stderr):
            found = getattr(_imported(file), name)
            made = found() if callable(found) else found
    except (Exception, SystemExit) as error:  # whatever the user's own code can raise
        why = one_line(f"{type(error).__name__}: {error}", 200)
        raise UsageError(f"cannot make {kind} of {name!r}: {why}", source=source) from error
    if missing := [part for part in parts if not hasattr(made, part)]:
        what = f"{name!r} is not {kind}: it lacks {', '.join(missing)}"
        raise UsageError(what, source=source, hint="see docs/lab.md for what one is made of")
    return made


def own_digest(spec: str) -> str:
    """Return a digest of the user's own file that `FILE.py:NAME` names; empty for ours."""
    file = paths.expanded(spec.rpartition(":")[0])
    known = is_own(spec) and file.is_file()
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16] if known else ""


def _imported(file: Path) -> Any:
    spec = spec_from_file_location(f"own_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ImportError("not a file of Python")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


def require(modules: Sequence[str], hint: str) -> None:
    """Check that modules can be imported, without importing them; else hint at an install."""
    if missing := [name for name in modules if find_spec(name) is None]:
        raise UsageError(f"{' and '.join(missing)} cannot be imported", hint=hint)


_SPLITS = {
    "dev": "valid_seen",
    "test": "valid_unseen",
    "valid_train": "valid_train",
    "train": "train",
}
_FILE = "game.tw-pddl"
_GOAL = "Your task is to: "
_NAME = re.compile(r"(?:valid_)?[a-z]\w*/[\w-]+-\d+/trial_\w+")
_LONGEST = 1_000  # the simulators' own limit, above all that an agent is given
# What ALFWorld's own loader skips: tasks with slices or with things in things.
_SKIPPED = ("movable", "Sliced")
_INNER = ("", "alfworld_games", "json_2.1.1")


class AlfworldEnvironment:
    """The games of ALFWorld; the score is 1 when the goal is reached."""

    name = "alfworld"
    domain = "alfworld"
    limit = 30
    splits: tuple[str, ...] = tuple(_SPLITS)

    def __init__(self, games: Path | None = None) -> None:
        self._games = games

    def games(self, split: str) -> Sequence[GameInfo]:
        """Return the games of a split, in an order drawn by a fixed seed."""
        require(("alfworld", "textworld"), "pip install 'deltamem-tui[alfworld]'")
        root = _games_root(self._games)
        found: list[GameInfo] = []
        for file in sorted((root / _SPLITS[split]).glob(f"*/*/{_FILE}")):
            if digest := _digest(file):
                place = file.parent.relative_to(root)
                kind = place.parts[1].partition("-")[0]
                found.append(GameInfo(place.as_posix(), split, kind, digest))
        if not found:
            raise UsageError(f"there are no games of the split {split}", source=str(root))
        random.Random(7).shuffle(found)  # noqa: S311 - the same order each time
        return found

    def load(self, game: GameInfo) -> AlfworldGame:
        """Load a game."""
        return AlfworldGame(_games_root(self._games) / game.name / _FILE)

    def game_of(self, episode: Trajectory) -> str:
        """Return the game whose folder an episode's log names."""
        places = (episode.metadata.get(key, "") for key in ("game", "id", "name"))
        return next((found[0] for found in map(_NAME.search, places) if found), "")


class AlfworldGame:
    """A household, read from its file."""

    def __init__(self, file: Path) -> None:
        import textworld
        import textworld.gym
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredInfos

        _translate_once()
        wanted = textworld.EnvInfos(won=True, admissible_commands=True, extras=["gamefile"])
        self._env = textworld.gym.make(
            textworld.gym.register_games(
                [str(file)],
                wanted,
                batch_size=1,
                asynchronous=False,
                max_episode_steps=_LONGEST,
                wrappers=[AlfredDemangler(), AlfredInfos],
            )
        )

    def start(self) -> Start:
        """Begin."""
        texts, infos = self._env.reset()
        scene, _, task = texts[0].partition(_GOAL)
        commands = tuple(infos["admissible_commands"][0])
        return Start(task.strip(), scene.partition("=-\n")[2].strip() or scene.strip(), commands)

    def step(self, action: str) -> Observation:
        """Take an action."""
        texts, _, dones, infos = self._env.step([action])
        commands = tuple(infos["admissible_commands"][0])
        return Observation(texts[0], float(bool(infos["won"][0])), bool(dones[0]), commands)


def _digest(file: Path) -> str:
    """Return that of a game; empty for one that is skipped."""
    if any(word in file.parent.parent.name for word in _SKIPPED):
        return ""
    try:
        data = file.read_bytes()
        playable = orjson.loads(data).get("solvable") is True
    except (OSError, ValueError, AttributeError):
        return ""
    return hashlib.sha256(data).hexdigest()[:16] if playable else ""


@cache
def _translate_once() -> None:
    """Keep the last game's translation.

    TextWorld translates four times for each reset, 0.7 s each, half of it for a planner that is
    not asked here.
    """
    import fast_downward

    translated = lru_cache(maxsize=1)(fast_downward.pddl2sas)
    fast_downward.pddl2sas = lambda domain, problem, **_: translated(domain, problem)


def _games_root(chosen: Path | None) -> Path:
    """Return the folder of the splits' folders: the one named, or one in the usual places."""
    named = chosen or os.environ.get(paths.GAMES_VARIABLE)
    downloaded = paths.expanded(os.environ.get("ALFWORLD_DATA", "~/.cache/alfworld"))
    own = paths.user_folder("cache") / "games"
    places = [paths.expanded(named)] if named else [own, downloaded]
    for root in (place / inner for place in places for inner in _INNER):
        if any((root / each).is_dir() for each in _SPLITS.values()):
            return root
    source = str(places[0]) if named else None
    hint = f"get them by `alfworld-download`, or name --games-from or {paths.GAMES_VARIABLE}"
    raise UsageError("ALFWorld's games are not here", source=source, hint=hint)


class ScienceWorldEnvironment:
    """Variations of tasks, three a task; the score is the share of sub-goals reached.

    A process has one house, hence one game at a time.
    """

    name = "scienceworld"
    domain = "scienceworld"
    limit = 60
    splits: tuple[str, ...] = ("dev", "test", "train")

    def games(self, split: str) -> Sequence[GameInfo]:
        """Return the variations of a split, three of each task, drawn by a fixed seed."""
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
    require(("scienceworld",), "pip install 'deltamem-tui[scienceworld]'")
    if shutil.which("java") is None:
        hint = "ScienceWorld runs on Java 8 or newer"
        raise UsageError("ScienceWorld needs a Java, which is not installed", hint=hint)
    from scienceworld import ScienceWorldEnv

    world = ScienceWorldEnv("", envStepLimit=_LONGEST)
    # Its own end comes when the interpreter is half gone, and fails with a traceback.
    atexit.register(world.close)
    ScienceWorldEnv.__del__ = lambda _: None
    return world
