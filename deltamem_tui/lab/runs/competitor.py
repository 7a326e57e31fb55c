"""A contestant in an evaluation: its memory, what it began with, and its way through the games."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path

from deltamem_tui.lab.contestants.bank_memory import BankMemory
from deltamem_tui.lab.contestants.entrant import Entrant
from deltamem_tui.lab.contestants.memory import Memory
from deltamem_tui.lab.runs.course import Course
from deltamem_tui.lab.runs.course_folder import TRAINING, CourseFolder
from deltamem_tui.lab.runs.opening import MemoryMaker, StartingPoint
from deltamem_tui.lab.runs.plan import EvaluationPlan
from deltamem_tui.lab.runs.result import Finish
from deltamem_tui.lab.runs.tools import EvaluationTools, loaded
from deltamem_tui.memory.views.history import history


class Competitor:
    """A contestant, with its memory and its course once it has begun."""

    def __init__(
        self,
        plan: EvaluationPlan,
        tools: EvaluationTools,
        maker: MemoryMaker,
        entrant: Entrant,
        folder: Path,
    ) -> None:
        self.entrant = entrant
        self._plan, self._tools, self._maker, self._folder = plan, tools, maker, folder
        self._kept = CourseFolder(folder)
        self._memory: Memory
        self._opening: StartingPoint
        self.course: Course

    def begin(self) -> None:
        """Make the memory, have it learn what comes before the games, and be ready for them."""
        training = CourseFolder(self._folder, TRAINING)
        earlier = [*training.finished()]
        if self._plan.learns:
            earlier += self._kept.finished()
        memory = self._maker.memory(self.entrant, self._folder, earlier)
        course = self._course(memory, training, learns=True, tries=1)
        self._opening = self._maker.opening(
            self.entrant, self._folder, memory, partial(self._train, course)
        )
        self._memory = self._maker.hiding(memory, self._folder)
        plan = self._plan
        self.course = self._course(memory, self._kept, learns=plan.learns, tries=plan.tries)

    def finish(self) -> Finish:
        """What came of it."""
        usage = self._opening.usage
        writes = self._plan.learns or self.entrant.sort == "method"
        if writes and isinstance(self._memory, BankMemory):
            usage = history(self._memory.bank).usage
        games = [self.course.tried(each) for each in self._plan.games]
        return Finish(
            self.entrant, self._opening, games, self._memory.size(), usage - self._opening.usage
        )

    def _train(self, course: Course) -> None:
        for info in self._plan.train:
            with ExitStack() as stack:
                course.play(info, partial(loaded, stack, self._tools, info))
            self._maker.advance(self.entrant, 1)

    def _course(self, memory: Memory, folder: CourseFolder, *, learns: bool, tries: int) -> Course:
        plan, between = self._plan, self._maker.between
        return Course(
            self._tools.agent, memory, folder, learns, tries, plan.limit, plan.domain, between
        )
