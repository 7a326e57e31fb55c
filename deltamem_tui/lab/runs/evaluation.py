"""An evaluation: all contestants play the same games, and what is finished is kept."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path

import msgspec

from deltamem_tui.bank.disk import files
from deltamem_tui.errors import BankBusyError
from deltamem_tui.lab.contestants.entrant import Entrant
from deltamem_tui.lab.environment import GameInfo
from deltamem_tui.lab.runs.competitor import Competitor
from deltamem_tui.lab.runs.opening import MemoryMaker
from deltamem_tui.lab.runs.plan import EvaluationPlan, check, folders_of, keep_plan
from deltamem_tui.lab.runs.result import RESULT, EvaluationResult, evaluation_result
from deltamem_tui.lab.runs.tools import EvaluationTools, SharedEmbedder, embedders, loaded
from deltamem_tui.trajectory.model import Trajectory


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
            plan=plan,
            embedder=shared,
            embedder_for=embedders(shared),
            writer=tools.writer,
            log=log,
            game_of=tools.game_of,
            scratch=Path(scratch),
            between=unless_halted,
            advance=advance,
        )
        players = [
            Competitor(plan, tools, maker, entrant, folder / name)
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


def _lanes(
    plan: EvaluationPlan, players: Sequence[Competitor], parallel: int
) -> list[tuple[Sequence[GameInfo], Sequence[Competitor]]]:
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
    players: Sequence[Competitor],
    tools: EvaluationTools,
    advance: Callable[[Entrant, int], object],
) -> None:
    for info in games:
        with ExitStack() as stack:
            load = cache(partial(loaded, stack, tools, info))
            for each in players:
                each.course.play(info, load)
                advance(each.entrant, 1)


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


@contextmanager
def _own(folder: Path) -> Iterator[None]:
    """See that no other process plays the same run."""
    busy = BankBusyError(
        "another process plays this evaluation", source=str(folder), hint="wait until it is done"
    )
    with files.locked(folder / ".lock", 1.0, busy):
        yield
