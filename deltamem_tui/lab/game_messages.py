"""What is said between the program and a process of games: a JSON line for each question."""

from __future__ import annotations

from msgspec import Raw, Struct

from deltamem_tui.lab.environment import GameInfo


class ListGames(Struct, frozen=True, tag="games"):
    """Which games a split has; answered by a list of `GameInfo`."""

    split: str


class LoadGame(Struct, frozen=True, tag="load"):
    """Load a game in place of the last; answered by nothing."""

    game: GameInfo


class StartGame(Struct, frozen=True, tag="start"):
    """Begin the game that is loaded; answered by a `Start`."""


class StepGame(Struct, frozen=True, tag="step"):
    """Do something in it; answered by an `Observation`."""

    action: str


GameQuestion = ListGames | LoadGame | StartGame | StepGame


class GameProblem(Struct, frozen=True):
    """Why there is no answer, as an error for people has it."""

    message: str
    source: str | None = None
    hint: str | None = None


class GameAnswer(Struct, frozen=True):
    """One answer.

    Attributes:
        value: As JSON, of the kind that the question asks for.
        problem: Why there is none.
    """

    value: Raw = Raw(b"null")
    problem: GameProblem | None = None
