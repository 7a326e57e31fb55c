"""A run as it lies in its folder, finished or not, for those who look at it. Nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct

from deltamem_tui.bank.disk import files
from deltamem_tui.errors import RecordError, UsageError
from deltamem_tui.lab.contestants.entrant import Entrant
from deltamem_tui.lab.contestants.memory import MemorySize
from deltamem_tui.lab.environment import GameInfo
from deltamem_tui.lab.runs.course_folder import (
    EPISODES,
    Attempt,
    is_over,
    results_in,
    tries_at,
)
from deltamem_tui.lab.runs.game_result import GameResult
from deltamem_tui.lab.runs.opening import OPENING, StartingPoint
from deltamem_tui.lab.runs.plan import EvaluationPlan, folders_of
from deltamem_tui.lab.runs.result import (
    RESULT,
    EntrantResult,
    EvaluationResult,
    Finish,
    evaluation_result,
)
from deltamem_tui.lab.runs.run_files import damaged, read_object
from deltamem_tui.llm.cost import Usage
from deltamem_tui.paths import EVALUATION_PLAN
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.native import from_record
from deltamem_tui.typed import decoder_of

_MOST_TRIES = 1000


class _EpisodeHead(Struct):
    """What is read of each episode at first."""

    task: str = ""
    metadata: Mapping[str, str] = msgspec.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KeptCourse:
    """What is kept of one contestant.

    Attributes:
        folder: Where.
        results: What is finished, by game and try.
        tasks: By game, its task, where an episode is kept.
        bank: The bank that it was asked; None for a memory that is not a bank.
    """

    entrant: Entrant
    folder: Path
    opening: StartingPoint
    results: Mapping[Attempt, GameResult]
    tasks: Mapping[str, str]
    bank: Path | None
    _lines: Mapping[Attempt, tuple[int, int]]

    def tried(self, game: str, tries: int) -> list[GameResult]:
        """The tries at a game that are finished, in their order."""
        return tries_at(self.results, game, tries)

    def episode(self, attempt: Attempt) -> Trajectory | None:
        """The episode of a try; None if the agent did nothing, so that there is none.

        Raises:
            RecordError: Its line is not an episode.
            StorageError: It cannot be read.
        """
        if attempt not in self._lines:
            return None
        begin, end = self._lines[attempt]
        path = self.folder / EPISODES
        with files.storage_errors(path), path.open("rb") as file:
            file.seek(begin)
            line = file.read(end - begin)
        try:
            return from_record(msgspec.json.decode(line))
        except msgspec.DecodeError as error:
            raise RecordError(one_line(str(error), 120), source=one_line(str(path), 200)) from error


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run, as far as it was played.

    Attributes:
        courses: What is kept of each contestant, in their order.
        compared: The games that all contestants who have begun have finished, in their order.
        result: What those came to, for the contestants who have begun; None if there are no such
            games. How long memories have become, and what they paid to a model, is known of a
            finished run only: before, `size.tokens`, `tokens_per_node` and `writer` say nothing.
    """

    folder: Path
    plan: EvaluationPlan
    courses: Sequence[KeptCourse]
    compared: tuple[GameInfo, ...]
    result: EvaluationResult | None

    @property
    def finished(self) -> bool:
        """Whether every contestant has played every game."""
        return all(_is_over(self.plan, each, game) for each in self.courses for game in self._games)

    @property
    def _games(self) -> Sequence[str]:
        return [each.name for each in self.plan.games]

    def played(self, course: KeptCourse) -> int:
        """How many games a contestant has finished."""
        return sum(_is_over(self.plan, course, game) for game in self._games)


def read_run(folder: Path) -> KeptRun:
    """Read a run.

    Raises:
        UsageError: The folder does not keep one, or what it keeps is broken.
        StorageError: It cannot be read.
    """
    if not (folder / EVALUATION_PLAN).is_file():
        raise UsageError(
            "not the folder of an evaluation",
            source=one_line(str(folder), 200),
            hint="`deltamem evaluate` says where its run is kept",
        )
    plan = read_object(folder / EVALUATION_PLAN, EvaluationPlan)
    if not plan.games or not plan.entrants or not 0 < plan.tries <= _MOST_TRIES:
        raise damaged(folder / EVALUATION_PLAN, "it plans nothing")
    courses = [
        _course(plan, entrant, folder / name)
        for entrant, name in zip(plan.entrants, folders_of(plan), strict=True)
    ]
    begun = [each for each in courses if any(_is_over(plan, each, g.name) for g in plan.games)]
    compared = tuple(
        game
        for game in plan.games
        if begun and all(_is_over(plan, each, game.name) for each in begun)
    )
    result = None
    if compared:
        part = msgspec.structs.replace(plan, games=compared)
        ended = _ended(folder, plan) if len(compared) == len(plan.games) else {}
        result = evaluation_result(part, [_finish(plan, compared, each, ended) for each in begun])
    return KeptRun(folder, plan, courses, compared, result)


def _course(plan: EvaluationPlan, entrant: Entrant, folder: Path) -> KeptCourse:
    path = folder / OPENING
    opening = read_object(path, StartingPoint) if path.is_file() else StartingPoint()
    results = results_in(folder)
    tasks, lines = _episodes(folder / EPISODES)
    bank = None
    if entrant.sort == "bank" and not plan.learns:
        bank = Path(entrant.bank)
    elif entrant.sort != "baseline":
        bank = folder / "bank"
    return KeptCourse(entrant, folder, opening, results, tasks, bank, lines)


def _episodes(path: Path) -> tuple[dict[str, str], dict[Attempt, tuple[int, int]]]:
    """Per game its task, and per try where its line lies."""
    tasks: dict[str, str] = {}
    lines: dict[Attempt, tuple[int, int]] = {}
    if not path.is_file():
        return tasks, lines
    decoder, begin = decoder_of(_EpisodeHead), 0
    with files.storage_errors(path), path.open("rb") as file:
        for line in file:
            end = begin + len(line)
            try:
                head = decoder.decode(line)
                trial = int(head.metadata.get("trial", "1"))
            except (msgspec.DecodeError, ValueError):  # cut off, or lost with the power
                begin = end
                continue
            game = head.metadata.get("game", "")
            tasks.setdefault(game, one_line(head.task[:2000], 300))
            lines[game, trial] = begin, end
            begin = end
    return tasks, lines


def _is_over(plan: EvaluationPlan, course: KeptCourse, game: str) -> bool:
    return is_over(course.tried(game, plan.tries), plan.tries)


def _ended(folder: Path, plan: EvaluationPlan) -> Mapping[Entrant, EntrantResult]:
    """What the contestants of a finished run ended with; nothing of one that is not finished."""
    path = folder / RESULT
    if not path.is_file():
        return {}
    found = {each.entrant: each for each in read_object(path, EvaluationResult).contestants}
    if list(found) != list(plan.entrants):
        raise damaged(path, "its contestants are others than the plan's")
    return found


def _finish(
    plan: EvaluationPlan,
    games: Sequence[GameInfo],
    course: KeptCourse,
    ended: Mapping[Entrant, EntrantResult],
) -> Finish:
    tries = [course.tried(each.name, plan.tries) for each in games]
    size, usage = MemorySize(tries[-1][-1].nodes), Usage()
    if end := ended.get(course.entrant):
        writer, size = end.writer, end.size
        usage = Usage(writer.calls, 0, writer.tokens, 0, writer.cost)
    return Finish(course.entrant, course.opening, tries, size, usage)
