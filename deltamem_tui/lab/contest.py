"""A contest: all contestants play the same games, or are asked about the same log.

What is finished is kept, so that a contest that was killed goes on where it was.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import structs

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
    as_learnt,
    baseline,
    judged_by_chance,
)
from deltamem_tui.lab.environment import GameInfo
from deltamem_tui.lab.grounds import Ground
from deltamem_tui.lab.plan import (
    RESULT,
    ContestantFolder,
    ContestPlan,
    ModelCost,
    StartPoint,
    TrialResult,
    keep_plan,
)
from deltamem_tui.lab.result import ContestantResult, ContestResult, measured
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.method import settings_of
from deltamem_tui.memory.statistics import history
from deltamem_tui.memory.vectors.search import EmbeddingCache, embedder_of
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

    tools = replace(tools, embedder=EmbeddingCache(tools.embedder))
    busy, hint = "another process plays this contest", "wait until it is done"
    with files.locked(folder / ".lock", 1.0, busy, hint):
        runners = [
            _Runner(plan, tools, each, ContestantFolder(folder / name), unless_halted, advance)
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
        result = ContestResult(
            environment=plan.environment,
            split=plan.split,
            protocol=plan.protocol,
            agent=plan.agent,
            games=len(plan.games),
            seed=plan.seed,
            limit=plan.limit,
            domain=plan.domain,
            embedder=plan.embedder,
            writer=plan.writer.split()[0],
            contestants=tuple(each.result(runners[0].results) for each in runners),
            excluded=excluded or {},
        )
        files.replace(folder / RESULT, msgspec.json.encode(result))
        return result


def _play(games: Sequence[GameInfo], runners: Sequence[_Runner]) -> None:
    for info in games:
        for each in runners:
            each.play(info)


@dataclass(slots=True)
class _Runner:
    """One contestant's way through the games."""

    plan: ContestPlan
    tools: Tools
    contestant: Contestant
    folder: ContestantFolder
    between: Callable[[], object]
    advance: Callable[[Contestant], object]
    memory: Memory = field(init=False)
    start: StartPoint = field(init=False)

    def begin(self, log: Sequence[Trajectory]) -> None:
        """Make the memory, and have it learn what comes before the games."""
        self.folder.mend()
        finished = self.folder.episodes() if self.plan.learns else []
        who, embedder = self.contestant, self.tools.embedder
        if who.sort == "baseline":
            known = (*log, *finished)
            self.memory = baseline(who.method, self.plan.domain, embedder, known)
        else:
            bank = self._bank()
            if bank.manifest.embedder.get("model") != embedder.card.model:
                embedder = EmbeddingCache(embedder_of(bank))
            policy = settings_of(bank).admission if who.bank else who.admission
            admitted = partial(self._admitted, policy)
            self.memory = BankMemory(bank, embedder, self.tools.writer, admitted)
        start = self.folder.start
        if start is None:
            usage = self._paid() if who.bank else Usage()
            for each in log if who.sort == "method" else ():
                self.between()
                self.memory.learn(each)
            start = self._start_point(usage)
            self.folder.begin(start)
        elif who.sort != "baseline" and finished:
            self.memory.learn(finished[-1])  # it may have been played, but not learnt yet
        self.start = start

    def play(self, info: GameInfo) -> None:
        """Play a game, if it was not played before."""
        if info.name not in self.folder.results:
            self.between()
            result, episode = self.tools.ground.trial(info, self.contestant, self.memory)
            self.folder.keep(result, episode)
            if self.plan.learns and episode.steps:
                self.memory.learn(episode)
        self.advance(self.contestant)

    @property
    def results(self) -> list[TrialResult]:
        """All games, in their order, once they are played."""
        return [self.folder.results[each.name] for each in self.plan.games]

    def result(self, first: Sequence[TrialResult]) -> ContestantResult:
        """Return what came of it, compared with the first contestant."""
        paid = self._paid() - self.start.usage
        return ContestantResult(
            self.contestant,
            measured(self.results, first),
            self.start,
            self.memory.size(),
            ModelCost(paid.calls, paid.prompt_tokens + paid.completion_tokens, paid.cost),
            tuple(structs.replace(each, memory="") for each in self.results),
        )

    def _bank(self) -> Bank:
        path, who, domain = self.folder.path / "bank", self.contestant, self.plan.domain
        if who.bank and not self.plan.learns:
            return Bank.open(who.bank)
        if path.exists():
            return Bank.open(path)
        if who.bank:
            return copy_bank(Bank.open(who.bank), path, history=True)
        embedder = self.tools.embedder
        settings = who.settings(domain, embedder.card.model)
        return create_bank(
            path, embedder=embedder, domain=domain, method=who.method, parameters=settings
        )

    def _admitted(self, policy: str, episode: Trajectory) -> Trajectory | None:
        if self.plan.judge_error is not None:
            episode = judged_by_chance(episode, self.plan.judge_error, self.plan.seed)
        return as_learnt(episode, policy)

    def _paid(self) -> Usage:
        memory = self.memory
        return history(memory.bank).usage if isinstance(memory, BankMemory) else Usage()

    def _start_point(self, usage: Usage) -> StartPoint:
        """Note which of the games the memory had learnt from, as far as its episodes say."""
        known: set[str] = set()
        played: dict[str, str] = {}
        game_of = self.tools.ground.game_of
        if isinstance(self.memory, RawMemory):
            played = {each.id: game_of(each) for each in self.memory.episodes}
        else:
            bank = self.memory.bank
            trees = bank.trees.values()
            known = {each for tree in trees for node in tree for each in node.origin.episodes}
            for each in episodes(bank):
                if each.id in known or bank.episodes.state(each.id) == EpisodeState.LEARNT:
                    played[each.id] = game_of(each)
        unknown = len([each for each in {*known, *played} if not played.get(each)])
        seen = len({each.name for each in self.plan.games} & {*played.values()})
        return StartPoint(len({*known, *played}), seen, unknown, self.memory.size(), usage)


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
