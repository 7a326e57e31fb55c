"""What is kept of one contestant's games, so that none is played or paid for twice.

Two files that only grow. An episode's line is on the disk before anything is learnt from it, and
its result's line once all is done: of an episode without a result, the rest is still to be done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from deltamem_tui.bank.disk import files
from deltamem_tui.lab.runs.game_result import GameResult, result_of
from deltamem_tui.lab.runs.run_files import cut_last_line, damaged, read_lines
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.native import to_line

EPISODES, RESULTS = "episodes.jsonl", "results.jsonl"
TRAINING = "training."
"""What the files begin with of games that are played to learn from, before those that count."""

Attempt = tuple[str, int]
"""A game's name, and which try at it."""


class CourseFolder:
    """The folder of one contestant's games.

    Attributes:
        results: What was finished, by game and try.
        played: What was played, but not finished.
    """

    def __init__(self, path: Path, prefix: str = "") -> None:
        """Read what is kept. A line that was cut off when the run was killed is taken away.

        Raises:
            UsageError: A file is damaged.
        """
        self.path = path
        self.episodes_path = path / f"{prefix}{EPISODES}"
        self._results_path = path / f"{prefix}{RESULTS}"
        files.make_folders(path)
        cut_last_line(self.episodes_path, Trajectory)
        cut_last_line(self._results_path, GameResult)
        self.results = results_in(path, prefix)
        self.played: dict[Attempt, Trajectory] = {}
        for each in self.episodes():
            if (attempt := _attempt(each, self.episodes_path)) not in self.results:
                self.played[attempt] = each

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
        return read_lines(self.episodes_path, Trajectory)

    def finished(self) -> Iterator[Trajectory]:
        """The episodes of the games that are done.

        Raises:
            UsageError: That of a game which was solved is missing.
        """
        missing = {each for each, result in self.results.items() if result.success}
        for episode in self.episodes():
            if (attempt := _attempt(episode, self.episodes_path)) in self.results:
                missing.discard(attempt)
                yield episode
        if missing:
            raise damaged(self.episodes_path, f"the episode of {min(missing)[0]} is missing")


def results_in(path: Path, prefix: str = "") -> dict[Attempt, GameResult]:
    """What is finished of one contestant's games, by game and try. Nothing is written.

    Raises:
        UsageError: The file is damaged.
    """
    kept = read_lines(path / f"{prefix}{RESULTS}", GameResult)
    return {(each.game, each.attempt): each for each in kept}


def tries_at(results: Mapping[Attempt, GameResult], game: str, most: int) -> list[GameResult]:
    """The tries at a game that are finished, in their order; `most` is how many there may be."""
    found = (results.get((game, at)) for at in range(1, most + 1))
    return [each for each in found if each is not None]


def is_over(tries: Sequence[GameResult], most: int) -> bool:
    """Whether a game is solved, or was tried often enough."""
    return len(tries) == most or any(each.success for each in tries)


def _attempt(episode: Trajectory, path: Path) -> Attempt:
    """Which try at which game an episode is of."""
    try:
        result = result_of(episode, 0)
    except (KeyError, ValueError) as error:
        raise damaged(path, "an episode does not say what its game came to") from error
    return result.game, result.attempt
