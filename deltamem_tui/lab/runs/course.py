"""One contestant's way through the games, try by try, with what is kept of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from msgspec.structs import replace

from deltamem_tui.lab.agent import Agent
from deltamem_tui.lab.contestants.memory import Memory
from deltamem_tui.lab.environment import Game, GameInfo
from deltamem_tui.lab.runs.course_folder import CourseFolder, is_over, tries_at
from deltamem_tui.lab.runs.game_result import GameResult, played, result_of
from deltamem_tui.trajectory.model import Trajectory


@dataclass(frozen=True, slots=True)
class Course:
    """Games that are played one after another with one memory.

    Attributes:
        learns: Whether the memory learns from each try.
        tries: How often a game is played at most, until it is solved.
        limit: How many actions there are in a game.
        domain: That of the episodes.
        between: Called before each try; what it raises ends the work.
    """

    agent: Agent
    memory: Memory
    folder: CourseFolder
    learns: bool
    tries: int
    limit: int
    domain: str
    between: Callable[[], object]

    def tried(self, info: GameInfo) -> list[GameResult]:
        """The tries at a game that are finished, in their order."""
        return tries_at(self.folder.results, info.name, self.tries)

    def play(self, info: GameInfo, load: Callable[[], Game]) -> None:
        """Play a game until it is over, as far as it was not played before.

        What was played, but not learnt when the run was killed, is learnt now.
        """
        while not is_over(tries := self.tried(info), self.tries):
            self.between()
            attempt = len(tries) + 1
            episode = self.folder.played.pop((info.name, attempt), None)
            if episode is None:
                episode = self._played(info, load(), attempt)
                self.folder.keep_episode(episode)
            learnt = self.learns and bool(episode.steps) and self.memory.learn(episode)
            result = result_of(episode, self.limit)
            self.folder.keep_result(replace(result, learnt=learnt, nodes=self.memory.nodes))

    def _played(self, info: GameInfo, game: Game, attempt: int) -> Trajectory:
        return played(self.agent, game, info, self.limit, self.memory, attempt, self.domain)
