"""A contest: all contestants play the same games, or are asked about the same log.

What is finished is kept, so that a contest that was killed goes on where it was.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.transfer import copy_bank
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.lab.contestants import (
    BankMemory,
    Contestant,
    Memory,
    RawMemory,
    SharedEmbedder,
    baseline,
    judged_by_chance,
)
from deltamem_tui.lab.environment import GameInfo
from deltamem_tui.lab.grounds import Ground
from deltamem_tui.lab.plan import (
    RESULT,
    ContestantFolder,
    ContestPlan,
    StartPoint,
    keep_plan,
    owned,
)
from deltamem_tui.lab.result import ContestResult, Finish, contest_result
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.method import settings_of
from deltamem_tui.memory.statistics import history
from deltamem_tui.memory.vectors.search import embedder_of
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    from deltamem_tui.memory.writers.writer import Writer


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools that all contestants share.

    Attributes:
        parallel: The most games at once; where memories learn, contestants.
        give_up: Called when games that are under way are not waited for any more.
    """

    ground: Ground
    embedder: Embedder
    writer: Writer
    parallel: int = 1
    give_up: Callable[[], object] = lambda: None


def hold(
    plan: ContestPlan,
    tools: Tools,
    folder: Path,
    *,
    log: Sequence[Trajectory] = (),
    excluded: Mapping[str, int] | None = None,
    between: Callable[[], object] = lambda: None,
    advance: Callable[[Contestant], object] = lambda _: None,
) -> ContestResult:
    """Play what is left of a contest, and return what it came to.

    `between` is called before each game and each episode that is learnt, in whatever thread; what
    it raises ends the work. `excluded` counts records of the log that are left out, by reason.
    """
    plan.check()
    keep_plan(folder, plan)
    halted = threading.Event()

    def unless_halted() -> None:
        if halted.is_set():
            raise KeyboardInterrupt
        between()

    shared = SharedEmbedder(tools.embedder)
    with owned(folder):
        runners = [
            _Runner(plan, tools, shared, each, folder / name, unless_halted, advance)
            for each, name in zip(plan.contestants, plan.folders, strict=True)
        ]
        side_by_side = partial(_side_by_side, tools=tools, halted=halted)
        side_by_side([partial(each.begin, log) for each in runners])
        lanes = [(plan.games, runners)]
        if tools.parallel > 1:
            lanes = [((game,), runners) for game in plan.games]
            if plan.learns:
                lanes = [(plan.games, [each]) for each in runners]
        side_by_side([partial(_play, *lane) for lane in lanes])
        result = contest_result(plan, [each.finish() for each in runners], excluded)
        files.replace(folder / RESULT, msgspec.json.encode(result))
        return result


def _play(games: Sequence[GameInfo], runners: Sequence[_Runner]) -> None:
    for info in games:
        for each in runners:
            each.play(info)


class _Runner:
    """One contestant's way through the games."""

    def __init__(
        self,
        plan: ContestPlan,
        tools: Tools,
        embedder: SharedEmbedder,
        contestant: Contestant,
        folder: Path,
        between: Callable[[], object],
        advance: Callable[[Contestant], object],
    ) -> None:
        self._plan, self._tools, self._embedder = plan, tools, embedder
        self._contestant, self._between, self._advance = contestant, between, advance
        self._folder = ContestantFolder(folder)
        self._memory: Memory
        self._start: StartPoint

    def begin(self, log: Sequence[Trajectory]) -> None:
        """Make the memory, and have it learn what comes before the games."""
        self._folder.mend()
        finished = self._folder.episodes() if self._plan.learns else []
        sort = self._contestant.sort
        if sort == "baseline":
            known = (*log, *finished)
            name, domain = self._contestant.method, self._plan.domain
            self._memory = baseline(name, domain, self._embedder, known)
        else:
            bank = self._bank()
            embedder: Embedder = self._embedder
            if bank.manifest.embedder.get("model") != embedder.card.model:
                embedder = SharedEmbedder(embedder_of(bank))
            admitted = partial(self._admitted, bank)
            self._memory = BankMemory(bank, embedder, self._tools.writer, admitted)
        start = self._folder.start
        if start is None:
            usage = self._paid() if sort == "bank" else Usage()
            for each in log if sort == "method" else ():
                self._between()
                self._memory.learn(each)
            start = self._start_point(usage)
            self._folder.begin(start)
        elif sort != "baseline" and finished:
            self._memory.learn(finished[-1])  # it may have been played, but not learnt yet
        self._start = start

    def play(self, info: GameInfo) -> None:
        """Play a game, if it was not played before."""
        if info.name not in self._folder.results:
            self._between()
            result, episode = self._tools.ground.trial(info, self._contestant, self._memory)
            self._folder.keep(result, episode)
            if self._plan.learns and episode.steps:
                self._memory.learn(episode)
        self._advance(self._contestant)

    def finish(self) -> Finish:
        """Return what came of it."""
        usage = self._start.usage
        if self._plan.learns or self._contestant.sort == "method":
            usage = self._paid()
        results = [self._folder.results[each.name] for each in self._plan.games]
        size, paid = self._memory.size(), usage - self._start.usage
        return Finish(self._contestant, self._start, results, size, paid)

    def _bank(self) -> Bank:
        path, given = self._folder.path / "bank", self._contestant.bank
        if given and not self._plan.learns:
            return Bank.open(given)
        if path.exists():
            return Bank.open(path)
        if given:
            return copy_bank(Bank.open(given), path, history=True)
        who, domain = self._contestant, self._plan.domain
        return create_bank(
            path,
            embedder=self._embedder,
            domain=domain,
            method=who.method,
            parameters=who.settings(domain, self._embedder.card.model),
        )

    def _admitted(self, bank: Bank, episode: Trajectory) -> Trajectory | None:
        if self._plan.judge_error is not None:
            episode = judged_by_chance(episode, self._plan.judge_error, self._plan.seed)
        given = self._contestant.sort == "bank"
        return self._contestant.admitted(episode, settings_of(bank).admission if given else "")

    def _paid(self) -> Usage:
        memory = self._memory
        return history(memory.bank).usage if isinstance(memory, BankMemory) else Usage()

    def _start_point(self, usage: Usage) -> StartPoint:
        """Note which of the games the memory had learnt from, as far as its episodes say."""
        known: set[str] = set()
        played: dict[str, str] = {}
        if isinstance(self._memory, RawMemory):
            played = {each.id: self._tools.ground.game_of(each) for each in self._memory.episodes}
        elif isinstance(self._memory, BankMemory):
            bank = self._memory.bank
            trees = bank.trees.values()
            known = {each for tree in trees for node in tree for each in node.origin.episodes}
            for each in episodes(bank):
                if each.id in known or bank.episodes.state(each.id) == EpisodeState.LEARNT:
                    played[each.id] = self._tools.ground.game_of(each)
        unknown = len([each for each in {*known, *played} if not played.get(each)])
        seen = len({each.name for each in self._plan.games} & {*played.values()})
        return StartPoint(len({*known, *played}), seen, unknown, self._memory.size(), usage)


def _side_by_side(
    pieces: Sequence[Callable[[], None]], *, tools: Tools, halted: threading.Event
) -> None:
    """Do pieces of work, so many at once; the first that fails ends the others."""
    if tools.parallel == 1:
        for piece in pieces:
            piece()
        return
    with ThreadPoolExecutor(tools.parallel) as pool:
        running = [pool.submit(each) for each in pieces]
        try:
            ended, _ = wait(running, return_when=FIRST_EXCEPTION)
        except KeyboardInterrupt:
            tools.give_up()
            raise
        finally:
            if not all(each.done() for each in running):
                halted.set()
                pool.shutdown(cancel_futures=True)
        for each in ended:  # not those that were halted
            each.result()


def games_left(plan: ContestPlan, folder: Path) -> int:
    """Return how many games are left to play, over all contestants."""
    kept = [ContestantFolder(folder / name) for name in plan.folders]
    return sum(game.name not in each.results for each in kept for game in plan.games)
