"""ALFWorld: households of receptacles, in text."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import orjson

from deltamem_tui.errors import UsageError
from deltamem_tui.lab.environment import GameInfo, Observation, Start
from deltamem_tui.lab.environments.alfworld_files import SPLITS, games_root
from deltamem_tui.lab.environments.needs import no_such_game, no_such_split, require
from deltamem_tui.trajectory.model import Trajectory

_INSTALL = "pip install 'deltamem-tui[alfworld]'"
_FILE = "game.tw-pddl"
_GOAL = "Your task is to: "
_NAME = re.compile(r"(?:valid_)?[a-z]\w*/[\w-]+-\d+/trial_\w+")
_LONGEST = 1_000  # the simulator's own limit, above all that an agent is given
# What ALFWorld's own loader passes over: tasks with slices or with things in things.
_LEFT_OUT = ("movable", "Sliced")


class AlfworldEnvironment:
    """The games of ALFWorld; the score is 1 when the goal is reached.

    Those of a split come in an order drawn by a fixed seed.

    Args:
        games: Their folder or archive; see `alfworld_files.games_root`.
    """

    name = "alfworld"
    domain = "alfworld"
    limit = 30
    splits = tuple(SPLITS)

    def __init__(self, games: Path | None = None) -> None:
        self._games = games

    def games(self, split: str) -> Sequence[GameInfo]:
        """The games of a split."""
        if split not in SPLITS:
            raise no_such_split(split, self.splits)
        require(("alfworld", "textworld"), _INSTALL)
        root = games_root(self._games)
        files = sorted((root / SPLITS[split]).glob(f"*/*/{_FILE}"))
        playable = [(file, digest) for file in files if (digest := _digest(file))]
        if not playable:
            raise UsageError(f"there are no games of the split {split}", source=str(root))
        random.Random(7).shuffle(playable)  # noqa: S311 - the same order each time
        return [_info(file.parent.relative_to(root), split, digest) for file, digest in playable]

    def load(self, game: GameInfo) -> AlfworldGame:
        """Load a game."""
        require(("alfworld", "textworld"), _INSTALL)
        file = games_root(self._games) / game.name / _FILE
        if not _NAME.fullmatch(game.name) or not file.is_file():
            raise no_such_game(game.name, self.name)
        return AlfworldGame(file)

    def game_of(self, episode: Trajectory) -> str:
        """The game whose folder an episode's log names."""
        places = (episode.metadata.get(key, "") for key in ("game", "id", "name"))
        return next((found[0] for found in map(_NAME.search, places) if found), "")


class AlfworldGame:
    """A household.

    Args:
        file: The game; it is read when it is first begun.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._env: Any = None

    def start(self) -> Start:
        """Begin."""
        if self._env is None:
            _translate_once()
            self._env = self._loaded()
        texts, infos = self._env.reset()
        scene, _, task = texts[0].partition(_GOAL)
        commands = tuple(infos["admissible_commands"][0])
        return Start(task.strip(), scene.partition("=-\n")[2].strip() or scene.strip(), commands)

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
                max_episode_steps=_LONGEST,
                wrappers=[AlfredDemangler(), AlfredInfos],
            )
        )

    def step(self, action: str) -> Observation:
        """Do something."""
        texts, _, dones, infos = self._env.step([action])
        won = bool(infos["won"][0])
        commands = tuple(infos["admissible_commands"][0])
        return Observation(texts[0], float(won), bool(dones[0]), commands)


def _info(place: Path, split: str, digest: str) -> GameInfo:
    return GameInfo(place.as_posix(), split, place.parts[1].partition("-")[0], digest)


def _digest(file: Path) -> str:
    """That of a game; empty for one that is passed over."""
    if any(word in file.parent.parent.name for word in _LEFT_OUT):
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
