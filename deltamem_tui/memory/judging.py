"""Judging: a model's word for episodes that wait because nobody said how they ended.

Judgements do not depend on one another, so several can be under way at once. They are
committed one by one in the order of import all the same: an interrupted run has judged the
first episodes, and the next one goes on behind them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import islice, takewhile
from threading import Thread
from typing import TypeVar

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import (
    AnswerError,
    DeltaMemError,
    PromptTooLongError,
    TrajectoryError,
)
from deltamem_tui.llm.client import InVainError
from deltamem_tui.memory.intake import episode, waiting
from deltamem_tui.memory.model.judge import Judge, Judgement
from deltamem_tui.memory.verdict import note_failed_judgement, take_judgement
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
    bank: Bank, judge: Judge, ids: Sequence[str], *, concurrency: int = 1
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

    Yields:
        Per episode, its judgement or why there is none.
    """
    stopped: list[DeltaMemError] = []

    def ask(found: Trajectory | DeltaMemError) -> Judgement | DeltaMemError | None:
        return None if stopped else _asked(judge, found)

    going_on = takewhile(lambda _: not stopped, ids)
    told = ((each, _read(bank, each)) for each in going_on)
    for episode_id, said in in_order(ask, told, concurrency):
        if said is None:
            continue
        result = _kept(bank, judge, episode_id, said)
        if isinstance(result, DeltaMemError) and not _is_of_one(result):
            stopped.append(result)
        else:
            yield result
    yield from stopped[:1]


def in_order(
    function: Callable[[T], R], items: Iterable[tuple[K, T]], at_once: int
) -> Iterator[tuple[K, R]]:
    """What `function` gives for each item, in the items' order, with several under way at once.

    The threads are left behind when the caller is interrupted: a person who presses Ctrl+C
    does not wait for answers.

    Args:
        function: Called in threads, unless only one is under way at once.
        items: What it is called with, each under a key that comes back with the result; taken
            as they are needed, in the caller's thread.
        at_once: How many are under way at once.
    """
    if at_once == 1:
        yield from ((key, function(item)) for key, item in items)
        return
    coming = ((key, _started(function, item)) for key, item in items)
    under_way = deque(islice(coming, at_once))
    while under_way:
        key, future = under_way.popleft()
        yield key, future.result()
        under_way.extend(islice(coming, 1))


def _started(function: Callable[[T], R], item: T) -> Future[R]:
    future: Future[R] = Future()

    def work() -> None:
        try:
            future.set_result(function(item))
        except BaseException as error:  # noqa: BLE001 - raised again where the result is asked for
            future.set_exception(error)

    Thread(target=work, name="deltamem-judge", daemon=True).start()
    return future


def _read(bank: Bank, episode_id: str) -> Trajectory | DeltaMemError:
    try:
        found = episode(bank, episode_id)
    except DeltaMemError as error:
        return error
    return found or TrajectoryError("the bank does not have it", source=episode_id)


def _asked(judge: Judge, found: Trajectory | DeltaMemError) -> Judgement | DeltaMemError:
    if isinstance(found, DeltaMemError):
        return found
    try:
        return judge.judge(found)
    except DeltaMemError as error:
        return error


def _kept(
    bank: Bank, judge: Judge, episode_id: str, found: Judgement | DeltaMemError
) -> Judged | DeltaMemError:
    try:
        if isinstance(found, Judgement):
            return Judged(take_judgement(bank, episode_id, found), found)
        if isinstance(found, InVainError):
            note_failed_judgement(bank, episode_id, judge.model, found)
    except DeltaMemError as error:
        found = error
    if _is_of_one(found):
        return TrajectoryError(found.message, source=episode_id, hint=found.hint)
    return found


def _is_of_one(error: DeltaMemError) -> bool:
    """Whether an error says something of one episode only."""
    return isinstance(error, AnswerError | PromptTooLongError | TrajectoryError)
