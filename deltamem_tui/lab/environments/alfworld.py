"""ALFWorld: households of receptacles, in text."""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
import tarfile
import tempfile
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import orjson

from deltamem_tui import paths
from deltamem_tui.errors import StorageError, UsageError
from deltamem_tui.lab.environment import (
    GameInfo,
    Observation,
    Start,
    no_such_game,
    no_such_split,
    require,
)
from deltamem_tui.trajectory.model import Trajectory

_MODULES, _INSTALL = ("alfworld", "textworld"), "pip install 'deltamem-tui[alfworld]'"
_SPLITS = {"dev": "valid_seen", "test": "valid_unseen", "valid_train": "valid_train"}
_SPLITS["train"] = "train"
_FILE = "game.tw-pddl"
_GOAL = "Your task is to: "
_NAME = re.compile(r"(?:valid_)?[a-z]\w*/[\w-]+-\d+/trial_\w+")
_LONGEST = 1_000  # the simulator's own limit, above all that an agent is given
# What ALFWorld's own loader skips: tasks with slices or with things in things.
_SKIPPED = ("movable", "Sliced")
_INNER = ("", "alfworld_games", "json_2.1.1")
_HINT = (
    "`alfworld-download` fetches them; "
    f"or name their folder or archive by --games-from or {paths.GAMES_VARIABLE}"
)


class AlfworldEnvironment:
    """The games of ALFWorld; the score is 1 when the goal is reached.

    Args:
        games: Their folder or archive; the usual places if None.
    """

    name = "alfworld"
    domain = "alfworld"
    limit = 30
    splits = tuple(_SPLITS)

    def __init__(self, games: Path | None = None) -> None:
        self._games = games

    def games(self, split: str) -> Sequence[GameInfo]:
        """Return the games of a split, in an order drawn by a fixed seed."""
        if split not in _SPLITS:
            raise no_such_split(split, self.splits)
        require(_MODULES, _INSTALL)
        root = _games_root(self._games)
        files = sorted((root / _SPLITS[split]).glob(f"*/*/{_FILE}"))
        playable = [(file, digest) for file in files if (digest := _digest(file))]
        if not playable:
            raise UsageError(f"there are no games of the split {split}", source=str(root))
        random.Random(7).shuffle(playable)  # noqa: S311 - the same order each time
        return [_info(file.parent.relative_to(root), split, digest) for file, digest in playable]

    def load(self, game: GameInfo) -> AlfworldGame:
        """Load a game."""
        require(_MODULES, _INSTALL)
        file = _games_root(self._games) / game.name / _FILE
        if not _NAME.fullmatch(game.name) or not file.is_file():
            raise no_such_game(game.name, self.name)
        return AlfworldGame(file)

    def game_of(self, episode: Trajectory) -> str:
        """Return the game whose folder an episode's log names."""
        places = (episode.metadata.get(key, "") for key in ("game", "id", "name"))
        return next((found[0] for found in map(_NAME.search, places) if found), "")


class AlfworldGame:
    """A household; its file is read when the game is first begun."""

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

    def step(self, action: str) -> Observation:
        """Take an action."""
        texts, _, dones, infos = self._env.step([action])
        commands = tuple(infos["admissible_commands"][0])
        return Observation(texts[0], float(bool(infos["won"][0])), bool(dones[0]), commands)

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


def _info(place: Path, split: str, digest: str) -> GameInfo:
    return GameInfo(place.as_posix(), split, place.parts[1].partition("-")[0], digest)


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
    """Return the folder of the splits' folders: of the games named, or in the usual places."""
    named = chosen or os.environ.get(paths.GAMES_VARIABLE)
    downloaded = Path(os.environ.get("ALFWORLD_DATA", "~/.cache/alfworld")).expanduser()
    places = [Path(named).expanduser()] if named else [paths.games_folder(), downloaded]
    for place in places:
        folder = _unpacked(place) if place.is_file() else place
        for root in (folder / inner for inner in _INNER):
            if any((root / each).is_dir() for each in _SPLITS.values()):
                return root
    source = str(places[0]) if named else None
    raise UsageError("ALFWorld's games are not here", source=source, hint=_HINT)


def _unpacked(archive: Path) -> Path:
    """Return the folder that an archive was unpacked to, once: another archive has another."""
    status = archive.stat()
    which = f"{archive.resolve()}|{status.st_size}|{status.st_mtime_ns}"
    folder = paths.games_folder() / hashlib.sha256(which.encode()).hexdigest()[:16]
    if folder.is_dir():
        return folder
    source = str(archive)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix="."))
        try:
            with tarfile.open(archive) as packed:
                packed.extractall(draft, filter="data")
            draft.rename(folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    except tarfile.TarError as error:
        raise UsageError("not an archive of games", source=source, hint=_HINT) from error
    except OSError as error:
        if not folder.is_dir():  # else another process was quicker
            what = f"the games cannot be unpacked: {error.strerror or error}"
            raise StorageError(what, source=source) from error
    return folder
