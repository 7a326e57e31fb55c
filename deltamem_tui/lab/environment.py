"""What an environment is: games by split and name, each an observation for every action."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Protocol

from msgspec import Meta, Struct

from deltamem_tui.trajectory.model import Trajectory

Share = Annotated[float, Meta(ge=0, le=1)]
"""From 0 to 1; checked when it is decoded."""


class GameInfo(Struct, frozen=True):
    """Names a game; nothing of it is loaded.

    Attributes:
        name: Tells it from the others of its environment, as logs of it name it too.
        split: The part of the environment that it belongs to.
        kind: The kind of its task; empty if the environment knows none.
        digest: Tells it from another game of the same name, where games can be exchanged.
    """

    name: str
    split: str
    kind: str = ""
    digest: str = ""


class Start(Struct, frozen=True):
    """How a game begins.

    Attributes:
        task: The goal, as an agent is told it.
        scene: The first observation, without the goal.
        commands: What the game would accept now; empty where it does not say.
    """

    task: str
    scene: str
    commands: tuple[str, ...] = ()


class Observation(Struct, frozen=True):
    """What an action led to.

    Attributes:
        text: The observation.
        score: The best score so far, from 0 to 1. At 1 the goal is reached.
        done: Whether the game is over.
        commands: What the game would accept now; empty where it does not say.
    """

    text: str
    score: Share
    done: bool
    commands: tuple[str, ...] = ()


class Game(Protocol):
    """One game, loaded. It may be started again, and is then as if it had not been played."""

    def start(self) -> Start:
        """Begin."""
        ...

    def step(self, action: str) -> Observation:
        """Do something."""
        ...


class Environment(Protocol):
    """A family of games.

    Attributes:
        name: As on the command line.
        domain: The domain of banks that are learnt from it.
        limit: How many actions an agent has in a game, as published.
        splits: Its parts, by name.
    """

    name: str
    domain: str
    limit: int
    splits: tuple[str, ...]

    def games(self, split: str) -> Sequence[GameInfo]:
        """The games of a split, in an order that is the same in each run.

        Raises:
            UsageError: The environment, or what it needs, is not installed.
        """
        ...

    def load(self, game: GameInfo) -> Game:
        """Load a game.

        Raises:
            UsageError: There is no such game.
        """
        ...

    def game_of(self, episode: Trajectory) -> str:
        """The name of the game that an episode of a log was played in; empty if it cannot be told.

        It is as in `GameInfo.name`, so that what a bank has learnt from can be compared with the
        games that it is tried on.
        """
        ...
