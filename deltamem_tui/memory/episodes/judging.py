"""Judging: a model's word for episodes that wait because nobody said how they ended.

Judgements do not depend on one another, so several can be under way at once. They are
committed one by one in the order of import all the same: an interrupted run has judged the
first episodes, and the next one goes on behind them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice, takewhile
from typing import TypeVar

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import (
    AnswerError,
    BankError,
    DeltaMemError,
    PromptTooLongError,
    TrajectoryError,
)
from deltamem_tui.llm.client import InVainError, Tally
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.episodes.intake import episode, waiting
from deltamem_tui.memory.episodes.verdict import note_failed_judgement, take_judgement
from deltamem_tui.memory.model.judge import Judge, Judgement
from deltamem_tui.memory.runs.ahead import GRACE
from deltamem_tui.memory.runs.ledger import Ledger, tell_debts
from deltamem_tui.memory.runs.waste import tell_waste
from deltamem_tui.memory.runs.workers import Workers, is_done
from deltamem_tui.trajectory.model import Trajectory

K = TypeVar("K")
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Judged:
    """An episode that was judged.

    Attributes:
        trajectory: The episode, with the judge's outcome.
        judgement: What the judge said, and what it took.
    """

    trajectory: Trajectory
    judgement: Judgement


def without_outcome(bank: Bank, limit: int | None = None) -> list[str]:
    """The ids of the episodes that nobody said the outcome of, in order of import.

    Args:
        bank: The bank, as its handle shows it.
        limit: The most ids to return.
    """
    unknown = (found.id for found in waiting(bank) if not found.outcome.known)
    return list(islice(unknown, limit))


def judge_episodes(
    bank: Bank,
    judge: Judge,
    ids: Sequence[str],
    *,
    concurrency: int = 1,
    stopped: Callable[[], bool] = lambda: False,
    grace: float = GRACE,
) -> Iterator[Judged | DeltaMemError]:
    """Judge episodes and keep each outcome, one commit each.

    What is wrong with one episode stops none of the others. What would be wrong with all of
    them, like a refused key, is the last thing told; answers that were under way by then are
    kept.

    Args:
        bank: The bank; its handle shows the new state afterwards.
        judge: The judge.
        ids: The episodes.
        concurrency: How many are asked about at once.
        stopped: Whether somebody wants to stop; asked all the time.
        grace: The most seconds that answers which are under way are waited for then.

    Yields:
        Per episode, its judgement or why there is none.
    """
    ended: list[DeltaMemError] = []
    begun = answered = 0

    def told() -> Iterator[tuple[str, Trajectory | DeltaMemError]]:
        nonlocal begun
        for each in takewhile(lambda _: not ended, ids):
            begun += 1
            yield each, _read(bank, each)

    def ask(found: Trajectory | DeltaMemError) -> _Said | None:
        return None if ended else _asked(judge, found)

    tell_debts(bank)
    ledger = Ledger(bank, judge)
    try:
        for episode_id, said in in_order(ask, told(), concurrency, stopped, grace):
            answered += 1
            if said is None:
                continue
            ledger.telling(episode_id)
            result = _kept(bank, judge, episode_id, said)
            ledger.told(said.tally.usage)
            if isinstance(result, DeltaMemError) and not _is_of_one(result):
                ended.append(result)
            else:
                yield result
        tell_waste(bank, (), on_their_way=begun - answered)
    finally:
        ledger.close()
    yield from ended[:1]


def in_order(
    function: Callable[[T], R],
    items: Iterable[tuple[K, T]],
    at_once: int,
    stopped: Callable[[], bool] = lambda: False,
    grace: float = GRACE,
) -> Iterator[tuple[K, R]]:
    """What `function` gives for each item, in the items' order, with several under way at once.

    When somebody wants to stop, no item is begun any more. What is under way is waited for a
    little, and what is done by then comes out too.

    Args:
        function: Called in threads.
        items: What it is called with, each under a key that comes back with the result; taken
            as they are needed, in the caller's thread.
        at_once: How many are under way at once.
        stopped: Whether somebody wants to stop.
        grace: The most seconds to wait then. The threads are left behind after that.
    """
    workers = Workers(at_once)
    coming = ((key, workers.submit(0, partial(function, item))) for key, item in items)
    under_way = deque(islice(coming, at_once))
    try:
        while under_way and is_done(under_way[0][1], stopped):
            key, future = under_way.popleft()
            yield key, future.result()
            if not stopped():
                under_way.extend(islice(coming, 1))
        wait([future for _, future in under_way], timeout=grace)
        yield from ((key, future.result()) for key, future in under_way if future.done())
    finally:
        workers.close()


@dataclass(frozen=True, slots=True)
class _Said:
    """What came of asking the judge, and what it took."""

    found: Judgement | DeltaMemError
    tally: Tally


def _read(bank: Bank, episode_id: str) -> Trajectory | DeltaMemError:
    try:
        found = episode(bank, episode_id)
    except DeltaMemError as error:
        return error
    return found or TrajectoryError("the bank does not have it", source=episode_id)


def _asked(judge: Judge, found: Trajectory | DeltaMemError) -> _Said:
    tally = Tally()
    if isinstance(found, DeltaMemError):
        return _Said(found, tally)
    try:
        return _Said(judge.judge(found, tally), tally)
    except DeltaMemError as error:
        return _Said(error, tally)


def _kept(bank: Bank, judge: Judge, episode_id: str, said: _Said) -> Judged | DeltaMemError:
    found = said.found
    try:
        if isinstance(found, Judgement):
            return Judged(take_judgement(bank, episode_id, found), found)
    except DeltaMemError as error:
        found = error
    if said.tally.usage != Usage():
        in_vain = InVainError(AnswerError(found.message), said.tally.usage, said.tally.attempts)
        with suppress(BankError):  # then that is what is wrong
            note_failed_judgement(bank, episode_id, judge.model, in_vain)
    if _is_of_one(found):
        return TrajectoryError(found.message, source=episode_id, hint=found.hint)
    return found


def _is_of_one(error: DeltaMemError) -> bool:
    """Whether an error says something of one episode only."""
    return isinstance(error, AnswerError | PromptTooLongError | TrajectoryError)
