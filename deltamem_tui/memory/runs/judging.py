"""Judging: a model's verdict on episodes that wait without an outcome.

Judgements do not depend on one another, so several can be under way at once. They are
committed one by one in the order of import all the same: an interrupted run has judged the
first episodes, and the next one goes on behind them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, takewhile
from typing import TypeVar

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import (
    AnswerError,
    DeltaMemError,
    PromptTooLongError,
    TrajectoryError,
)
from deltamem_tui.llm.client import NoUsableAnswerError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.llm.failures import QuestionCancelledError
from deltamem_tui.memory.episodes.outcomes import known_episode
from deltamem_tui.memory.episodes.stored_episodes import episode, waiting
from deltamem_tui.memory.learn_result import REASON_WIDTH
from deltamem_tui.memory.runs.payments import Payments
from deltamem_tui.memory.runs.prefetch import GRACE, Lanes, Question, is_done
from deltamem_tui.memory.writers.extraction import Call
from deltamem_tui.memory.writers.model.judge import Judge, Judgement
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.native import to_record

K = TypeVar("K")
T = TypeVar("T")
R = TypeVar("R")


@dataclass(slots=True)
class JudgingReport:
    """What judging episodes came to, or would take.

    Attributes:
        errors: Why others were not, and what ended the run.
        interrupted: Whether a `KeyboardInterrupt` ended it.
        usage: What calls of the model took.
        in_flight: How many calls had no answer at the end, and may be paid for.
        without_outcome: How many episodes wait for an outcome now.
        would_judge: How many episodes a run would ask about; 0 once it is done.
    """

    judged: list[JudgedEpisode] = field(default_factory=list)
    errors: list[DeltaMemError] = field(default_factory=list)
    interrupted: bool = False
    usage: Usage = field(default_factory=Usage)
    in_flight: int = 0
    without_outcome: int = 0
    would_judge: int = 0
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class JudgedEpisode:
    """An episode that was judged."""

    trajectory: Trajectory
    judgement: Judgement


def without_outcome(bank: Bank, limit: int | None = None) -> list[str]:
    """The ids of the first waiting episodes without an outcome, in order of import."""
    unknown = (found.id for found in waiting(bank) if not found.outcome.known)
    return list(islice(unknown, limit))


def estimate_judging(
    bank: Bank, judge: Judge, ids: Sequence[str], advance: Callable[[], object] = lambda: None
) -> JudgingReport:
    """Estimate what judging episodes will take. Nothing is sent; `advance` follows each one."""
    usage = Usage()
    for each in ids:
        if found := episode(bank, each):
            usage += judge.estimate(found)
        advance()
    return JudgingReport(usage=usage, without_outcome=len(ids), would_judge=len(ids), dry_run=True)


def judge_and_report(
    bank: Bank,
    judge: Judge,
    ids: Sequence[str],
    *,
    concurrency: int = 1,
    advance: Callable[[], object] = lambda: None,
    stopped: Callable[[], bool] = lambda: False,
) -> JudgingReport:
    """Judge episodes as `judge_episodes` does, up to the report; `advance` follows each."""
    report = JudgingReport()
    in_flight: list[int] = []
    try:
        for found in judge_episodes(
            bank, judge, ids, concurrency=concurrency, stopped=stopped, left=in_flight.append
        ):
            if isinstance(found, DeltaMemError):
                report.errors.append(found)
            else:
                report.judged.append(found)
            advance()
    except KeyboardInterrupt:
        report.interrupted = True
    report.usage, report.in_flight = judge.usage, sum(in_flight)
    report.without_outcome = len(without_outcome(bank))
    return report


def judge_episodes(
    bank: Bank,
    judge: Judge,
    ids: Sequence[str],
    *,
    concurrency: int = 1,
    stopped: Callable[[], bool] = lambda: False,
    grace: float = GRACE,
    left: Callable[[int], object] = lambda _: None,
) -> Iterator[JudgedEpisode | DeltaMemError]:
    """Judge episodes and keep each outcome, one commit each.

    What is wrong with one episode stops none of the others. What would be wrong with all of
    them, like a refused key, comes last; answers that were under way by then are kept.

    Args:
        bank: The bank; its handle shows the new state afterwards.
        judge: The judge.
        ids: The episodes.
        concurrency: How many are asked about at once.
        stopped: Whether to stop.
        grace: The most seconds that answers which are under way are waited for then.
        left: Called at the end with the number of calls that have no answer.

    Yields:
        Per episode, its judgement or why there is none.
    """
    ended: list[DeltaMemError] = []
    begun = answered = 0

    def episodes() -> Iterator[tuple[str, Trajectory | DeltaMemError]]:
        nonlocal begun
        for each in takewhile(lambda _: not ended, ids):
            begun += 1
            yield each, _read(bank, each)

    def ask(found: Trajectory | DeltaMemError) -> Judgement | DeltaMemError | None:
        if ended:
            return None
        if isinstance(found, DeltaMemError):
            return found
        try:
            return asking.judge(found)
        except DeltaMemError as error:
            return error

    try:
        with Payments(bank) as payments:
            asking = judge.paying(payments)
            for episode_id, found in in_order(
                ask, episodes(), concurrency, stopped, grace, ending=judge.cancel
            ):
                answered += 1
                if found is None or isinstance(found, QuestionCancelledError):
                    continue
                result = _kept(bank, episode_id, found, judge.model)
                if isinstance(result, DeltaMemError) and not _is_of_one(result):
                    ended.append(result)
                else:
                    yield result
    finally:
        left(begun - answered)
    yield from ended[:1]


def _read(bank: Bank, episode_id: str) -> Trajectory | DeltaMemError:
    try:
        found = episode(bank, episode_id)
    except DeltaMemError as error:
        return error
    return found or TrajectoryError("the bank does not have it", source=episode_id)


def _kept(
    bank: Bank, episode_id: str, found: Judgement | DeltaMemError, model: str
) -> JudgedEpisode | DeltaMemError:
    """Keep a judgement, or note that the model gave none."""
    try:
        if isinstance(found, Judgement):
            return JudgedEpisode(take_judgement(bank, episode_id, found), found)
        if isinstance(found, NoUsableAnswerError):
            call = Call("judge", None, model, "", found.usage, found.attempts)
            note_failed_judgement(bank, episode_id, call, found.message)
    except DeltaMemError as error:
        found = error
    if _is_of_one(found):
        return TrajectoryError(found.message, source=episode_id, hint=found.hint)
    return found


def _is_of_one(error: DeltaMemError) -> bool:
    """Whether an error says something of one episode only."""
    return isinstance(error, AnswerError | PromptTooLongError | TrajectoryError)


def take_judgement(bank: Bank, episode_id: str, judgement: Judgement) -> Trajectory:
    """Keep a judge's outcome of an episode that has none; returns the episode with it.

    Raises:
        TrajectoryError: The bank does not have the episode, or it has an outcome by now: a
            judge overrules no one.
        BankCorruptError: What the bank has under this id is not that episode.
        BankFrozenError: The bank is frozen.
    """
    bank.require_writable()
    with bank.writing() as batch:
        known = known_episode(bank, episode_id)
        if known.outcome.known:
            raise TrajectoryError(
                f"its outcome is {known.outcome.source} by now, and a judge overrules no one",
                source=episode_id,
            )
        judged = known.with_outcome(judgement.outcome)
        batch.put_episode(to_record(judged))
        detail = {
            "trajectory": episode_id,
            "success": judgement.outcome.success,
            "calls": [judgement.call().record()],
        }
        batch.log("judge", detail)
    return judged


def note_failed_judgement(bank: Bank, episode_id: str, call: Call, reason: str) -> None:
    """Record in the journal that the answers to a call were not a verdict, and why."""
    detail = {
        "trajectory": episode_id,
        "success": None,
        "reason": one_line(reason, REASON_WIDTH),
        "calls": [call.record()],
    }
    with bank.writing() as batch:
        batch.log("judge", detail)


def in_order(
    function: Callable[[T], R],
    items: Iterable[tuple[K, T]],
    at_once: int,
    stopped: Callable[[], bool] = lambda: False,
    grace: float = GRACE,
    ending: Callable[[], object] = lambda: None,
) -> Iterator[tuple[K, R]]:
    """What `function` gives for each item, in the items' order, with several under way at once.

    The items are taken as they are needed, in the caller's thread, each under a key that comes
    back with the result. When the work is to stop, no item is begun any more: `ending` is
    called, what is under way is waited for up to `grace` seconds, and what is done by then
    comes out too.
    """
    lanes = Lanes(at_once)

    def sent(key: K, item: T) -> tuple[K, Future[R]]:
        question = Question(0, ("", ""), partial(function, item))
        lanes.send(question)
        return key, question.answer

    coming = (sent(key, item) for key, item in items)
    under_way = deque(islice(coming, at_once))
    try:
        while under_way and is_done(under_way[0][1], stopped):
            key, answer = under_way.popleft()
            yield key, answer.result()
            if not stopped():
                under_way.extend(islice(coming, 1))
        ending()
        wait([answer for _, answer in under_way], timeout=grace)
        yield from ((key, answer.result()) for key, answer in under_way if answer.done())
    finally:
        lanes.close()
