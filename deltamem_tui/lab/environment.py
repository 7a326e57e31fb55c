"""Environments: games by split and name, each with an observation for every action."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Annotated, Any, Protocol, cast

from msgspec import Meta, Struct

from deltamem_tui.errors import UsageError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0, lt=10**12)]
Dollars = Annotated[float, Meta(ge=0, lt=10**12)]
"""Numbers from outside are checked when they are decoded."""


class GameInfo(Struct, frozen=True):
    """The name of a game or a question; nothing of it is loaded.

    Attributes:
        name: Unique in its environment, as logs of the game name it too.
        split: The part of the environment that it belongs to.
        kind: The kind of its task; empty if unknown.
        digest: Tells it from another game of the same name.
    """

    name: str
    split: str
    kind: str = ""
    digest: str = ""


class Start(Struct, frozen=True):
    """The beginning of a game.

    Attributes:
        task: The goal, as an agent reads it.
        scene: The first observation, without the goal.
        commands: The actions that the game accepts now; empty if it does not say.
    """

    task: str
    scene: str
    commands: tuple[str, ...] = ()


class Observation(Struct, frozen=True):
    """The answer to an action.

    Attributes:
        text: What is seen.
        score: The score now, from 0 to 1; at 1 the goal is reached. A wrong act may lower it.
        done: True if the game is over.
        commands: The actions that the game accepts now; empty if it does not say.
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


ENVIRONMENTS = {
    "alfworld": "deltamem_tui.lab.environments.alfworld:AlfworldEnvironment",
    "scienceworld": "deltamem_tui.lab.environments.scienceworld:ScienceWorldEnvironment",
}
_PARTS = ("name", "domain", "limit", "splits", "games", "load", "game_of")


def environment_named(spec: str, *, games: Path | None = None) -> Environment:
    """Return an environment by its name, or by `FILE.py:NAME`. No simulator is loaded."""
    if games is not None and spec != "alfworld":
        raise UsageError("--games-from applies to ALFWorld only", hint="leave it out")
    file, colon, name = spec.rpartition(":")
    if colon and file.endswith(".py"):
        return _from_file(Path(file).expanduser(), name)
    if spec not in ENVIRONMENTS:
        near = get_close_matches(spec, ENVIRONMENTS, n=1)
        meant = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(ENVIRONMENTS)}."
        hint = f"{meant} One of your own is FILE.py:NAME."
        raise UsageError(f"unknown environment {one_line(spec, 60)!r}", hint=hint)
    module, _, attribute = ENVIRONMENTS[spec].partition(":")
    made = cast("Callable[..., Environment]", getattr(import_module(module), attribute))
    return made(games) if spec == "alfworld" else made()


def _from_file(file: Path, name: str) -> Environment:
    source = one_line(str(file), 200)
    if not file.is_file():
        raise UsageError("no such file", source=source)
    try:
        with redirect_stdout(sys.stderr):
            found = getattr(_imported(file), name)
            made = found if hasattr(found, "games") and not isinstance(found, type) else found()
    except Exception as error:  # whatever the user's own code can raise
        why = one_line(f"{type(error).__name__}: {error}", 200)
        what = f"cannot make an environment of {one_line(name, 60)!r}: {why}"
        raise UsageError(what, source=source) from error
    if missing := [part for part in _PARTS if not hasattr(made, part)]:
        what = f"{one_line(name, 60)!r} is not an environment: it lacks {', '.join(missing)}"
        raise UsageError(what, source=source, hint="see docs/lab.md for what one is made of")
    return cast("Environment", made)


def _imported(file: Path) -> Any:
    spec = spec_from_file_location(f"environment_{file.stem}", file)
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


def no_such_split(split: str, known: Sequence[str]) -> UsageError:
    """Return the error of an unknown split."""
    return UsageError(f"unknown split {one_line(split, 40)!r}", hint=f"one of {', '.join(known)}")


def no_such_game(name: str, environment: str) -> UsageError:
    """Return the error of an unknown game."""
    return UsageError(f"{environment} has no game {one_line(name, 120)!r}")
