"""An evaluation: all contestants play the same games, and what is finished is kept."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import files
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import BankBusyError
from deltamem_tui.evaluation.agent import Agent
from deltamem_tui.evaluation.contestants.bank_memory import BankMemory
from deltamem_tui.evaluation.contestants.baselines import GameOf
from deltamem_tui.evaluation.contestants.entrant import Entrant
from deltamem_tui.evaluation.contestants.memory import Memory
from deltamem_tui.evaluation.environment import Game, GameInfo
from deltamem_tui.evaluation.runs.course import Course
from deltamem_tui.evaluation.runs.course_folder import CourseFolder
from deltamem_tui.evaluation.runs.opening import MemoryMaker, StartingPoint
from deltamem_tui.evaluation.runs.plan import EvaluationPlan, check, folders_of, keep_plan
from deltamem_tui.evaluation.runs.result import EvaluationResult, Finish, evaluation_result
from deltamem_tui.memory.vectors.embedder import EmbeddingCache, embedder_of
from deltamem_tui.memory.views.history import history
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from deltamem_tui.memory.writers.extraction import Extractor
    from deltamem_tui.memory.writers.writer import Writer

RESULT = "result.json"
"""What a finished run came to, as `EvaluationResult`, in its folder."""
_TRAINING = "training."


@dataclass(frozen=True, slots=True)
class EvaluationTools:
    """What all contestants of an evaluation share.

    Attributes:
        playing: A game, loaded, for as long as a block lasts; several threads ask for games if
            `parallel` is more than 1.
        game_of: The game that an episode was made in; empty if that is not known.
        agent: Who plays them.
        embedder: That of the banks which are made, and of the baselines.
        writer: What puts experience into words, for any method.
        parallel: How many games are played at once, as far as the protocol allows.
        give_up: Called when games that are under way are not waited for any more.
    """

    playing: Callable[[GameInfo], AbstractContextManager[Game]]
    game_of: GameOf
    agent: Agent
    embedder: Embedder
    writer: Writer | Extractor
    parallel: int = 1
    give_up: Callable[[], object] = lambda: None


class SharedEmbedder:
    """An embedder that threads ask in turn, and that embeds no text twice."""

    def __init__(self, embedder: Embedder) -> None:
        self.card = embedder.card
        self._cached = EmbeddingCache(embedder)
        self._lock = threading.Lock()

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed what nodes say."""
        with self._lock:
            return self._cached.embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions."""
        with self._lock:
            return self._cached.embed_queries(texts)


def evaluate(
    plan: EvaluationPlan,
    tools: EvaluationTools,
    folder: Path,
    *,
    log: Sequence[Trajectory] = (),
    between: Callable[[], object] = lambda: None,
    advance: Callable[[Entrant, int], object] = lambda *_: None,
) -> EvaluationResult:
    """Play what is left of an evaluation, and say what it came to.

    Args:
        plan: What is played.
        tools: What is shared.
        folder: Where it is kept. A run that was killed goes on when it is given again.
        log: The episodes that contestants learn before the games.
        between: Called before each try, and each episode that is learnt, in whatever thread;
            what it raises ends the work. What is finished stays.
        advance: Called for a contestant with how many of its pieces are done: games, and before
            them the games and episodes that it learns from.

    Raises:
        UsageError: The plan's parts do not go together, or the folder keeps another evaluation.
        LanguageModelError: A model cannot be asked at all.
        StorageError: The disk refused.
    """
    check(plan)
    keep_plan(folder, plan)
    with _own(folder), tempfile.TemporaryDirectory(prefix="deltamem-evaluate-") as scratch:
        halted = threading.Event()

        def unless_halted() -> None:
            if halted.is_set():
                raise KeyboardInterrupt
            between()

        shared = SharedEmbedder(tools.embedder)
        maker = MemoryMaker(
            plan,
            shared,
            _embedders(shared),
            tools.writer,
            log,
            tools.game_of,
            Path(scratch),
            unless_halted,
            advance,
        )
        players = [
            _Player(plan, tools, maker, entrant, folder / name)
            for entrant, name in zip(plan.entrants, folders_of(plan), strict=True)
        ]
        lanes = _lanes(plan, players, tools.parallel)
        _side_by_side([player.begin for player in players], tools, halted)
        _side_by_side(
            [partial(_play, games, some, tools, advance) for games, some in lanes],
            tools,
            halted,
        )
        result = evaluation_result(plan, [each.finish() for each in players])
        files.replace(folder / RESULT, msgspec.json.format(msgspec.json.encode(result)))
        return result


class _Player:
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
        training = CourseFolder(self._folder, _TRAINING)
        earlier: list[Trajectory] = [*_finished(training)]
        if self._plan.learns:
            earlier += _finished(self._kept)
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
                course.play(info, partial(_loaded, stack, self._tools, info))
            self._maker.advance(self.entrant, 1)

    def _course(self, memory: Memory, folder: CourseFolder, *, learns: bool, tries: int) -> Course:
        plan, between = self._plan, self._maker.between
        return Course(
            self._tools.agent, memory, folder, learns, tries, plan.limit, plan.domain, between
        )


def _finished(kept: CourseFolder) -> Iterator[Trajectory]:
    """The episodes that a memory which is not on the disk learnt."""
    left = {
        (each.metadata.get("game"), each.metadata.get("trial")) for each in kept.played.values()
    }
    for each in kept.episodes():
        if (each.metadata.get("game"), each.metadata.get("trial")) not in left:
            yield each


def _lanes(
    plan: EvaluationPlan, players: Sequence[_Player], parallel: int
) -> list[tuple[Sequence[GameInfo], Sequence[_Player]]]:
    """What can be played side by side: contestants that learn, else games; or all in one row.

    A game is loaded once for all who play it in a row.
    """
    if parallel == 1:
        return [(plan.games, players)]
    if plan.learns:
        return [(plan.games, [each]) for each in players]
    return [([game], players) for game in plan.games]


def _play(
    games: Sequence[GameInfo],
    players: Sequence[_Player],
    tools: EvaluationTools,
    advance: Callable[[Entrant, int], object],
) -> None:
    for info in games:
        with ExitStack() as stack:
            load = cache(partial(_loaded, stack, tools, info))
            for each in players:
                each.course.play(info, load)
                advance(each.entrant, 1)


def _loaded(stack: ExitStack, tools: EvaluationTools, info: GameInfo) -> Game:
    return stack.enter_context(tools.playing(info))


def _side_by_side(
    pieces: Sequence[Callable[[], None]], tools: EvaluationTools, halted: threading.Event
) -> None:
    """Do pieces of work, so many at once; the first that fails ends the others."""
    if tools.parallel == 1:
        for each in pieces:
            each()
        return
    with ThreadPoolExecutor(tools.parallel) as pool:
        running = [pool.submit(each) for each in pieces]
        done: set[Future[None]] = set()
        try:
            done, _ = wait(running, return_when=FIRST_EXCEPTION)
        except KeyboardInterrupt:
            tools.give_up()
            raise
        finally:
            if len(done) < len(running):
                halted.set()
                pool.shutdown(cancel_futures=True)
        for ended in done:
            ended.result()


def _embedders(shared: SharedEmbedder) -> Callable[[Bank], Embedder]:
    """The embedder of a bank that is given: the one at hand if it fits, else its own."""
    known: dict[str, SharedEmbedder] = {}

    def embedder_for(bank: Bank) -> Embedder:
        if bank.manifest.embedder.get("model") == shared.card.model:
            return shared
        name = repr(bank.manifest.embedder)
        if name not in known:
            known[name] = SharedEmbedder(embedder_of(bank))
        return known[name]

    return embedder_for


@contextmanager
def _own(folder: Path) -> Iterator[None]:
    """See that no other process plays the same run."""
    busy = BankBusyError(
        "another process plays this evaluation", source=str(folder), hint="wait until it is done"
    )
    with files.locked(folder / ".lock", 1.0, busy):
        yield
