"""What is kept of one contestant's games, so that none is played or paid for twice.

Two files that only grow. An episode's line is on the disk before anything is learnt from it, and
its result's line once all is done: of an episode without a result, the rest is still to be done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from deltamem_tui.bank.disk import files
from deltamem_tui.evaluation.runs.game_result import GameResult
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.native import to_line

EPISODES, RESULTS = "episodes.jsonl", "results.jsonl"
TRAINING = "training."
"""What the files begin with of games that are played to learn from, before those that count."""

KeptT = TypeVar("KeptT", bound=Struct)
Attempt = tuple[str, int]
"""A game's name, and which try at it."""


class CourseFolder:
    """The folder of one contestant's games.

    Attributes:
        results: What was finished, by game and try.
        played: What was played, but not finished.
    """

    def __init__(self, path: Path, prefix: str = "") -> None:
        """Read what is kept. A line that was cut off when the run was killed is taken away."""
        self.path = path
        self.episodes_path = path / f"{prefix}{EPISODES}"
        self._results_path = path / f"{prefix}{RESULTS}"
        files.make_folders(path)
        for each in (self.episodes_path, self._results_path):
            _mend(each)
        self.results = results_in(path, prefix)
        episodes = {_attempt(each): each for each in _lines(self.episodes_path, Trajectory)}
        self.played: dict[Attempt, Trajectory] = {
            each: episode for each, episode in episodes.items() if each not in self.results
        }

    def keep_episode(self, episode: Trajectory) -> None:
        """Keep an episode. One without a step is none, and nothing can be learnt from it."""
        if episode.steps:
            files.append_line(self.episodes_path, to_line(episode)[:-1])

    def keep_result(self, result: GameResult) -> None:
        """Keep a result: its game is done."""
        files.append_line(self._results_path, msgspec.json.encode(result))
        self.results[result.game, result.attempt] = result

    def episodes(self) -> Iterator[Trajectory]:
        """All episodes that are kept, in the order in which they were played."""
        return _lines(self.episodes_path, Trajectory)


def results_in(path: Path, prefix: str = "") -> dict[Attempt, GameResult]:
    """What is finished of one contestant's games, by game and try. Nothing is written."""
    kept = _lines(path / f"{prefix}{RESULTS}", GameResult)
    return {(each.game, each.attempt): each for each in kept}


def tries_at(results: Mapping[Attempt, GameResult], game: str, most: int) -> list[GameResult]:
    """The tries at a game that are finished, in their order; `most` is how many there may be."""
    found = (results.get((game, at)) for at in range(1, most + 1))
    return [each for each in found if each is not None]


def is_over(tries: Sequence[GameResult], most: int) -> bool:
    """Whether a game is solved, or was tried often enough."""
    return len(tries) == most or any(each.success for each in tries)


def _mend(path: Path) -> None:
    """Take away a line that was cut off."""
    if path.exists():
        with files.storage_errors(path):
            data = path.read_bytes()
        files.truncate(path, data.rfind(b"\n") + 1)


def _attempt(episode: Trajectory) -> Attempt:
    return episode.metadata.get("game", ""), int(episode.metadata.get("trial", "1"))


def _lines(path: Path, kind: type[KeptT]) -> Iterator[KeptT]:
    if not path.exists():
        return
    with files.storage_errors(path):
        data = path.read_bytes()
    decoder = msgspec.json.Decoder(kind)
    for line in data.split(b"\n"):
        with suppress(msgspec.DecodeError):  # empty, cut off, or lost with the power
            yield decoder.decode(line)
