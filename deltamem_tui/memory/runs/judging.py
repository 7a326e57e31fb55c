"""Judging: a model's verdict on episodes that wait without an outcome.

Judgements do not depend on one another, so several can be under way at once. They are
committed one by one in the order of import all the same: an interrupted run has judged the
first episodes, and the next one goes on behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import (
    AnswerError,
    DeltaMemError,
    PromptTooLongError,
    StorageError,
    TrajectoryError,
)
from deltamem_tui.llm.client import NoUsableAnswerError
from deltamem_tui.llm.cost import QuestionCancelledError, Usage
from deltamem_tui.memory.credit.credit import put_episode
from deltamem_tui.memory.episodes.outcomes import known_episode, verdicts_on, with_verdict
from deltamem_tui.memory.episodes.stored_episodes import episode, episodes, waiting
from deltamem_tui.memory.plan import REASON_WIDTH
from deltamem_tui.memory.runs.asking import GRACE, Asking, Question, StoppedError, Turns
from deltamem_tui.memory.runs.payments import Payments
from deltamem_tui.memory.writers.extraction import Call
from deltamem_tui.memory.writers.model.judge import Judge, Judgement
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Outcome, Trajectory


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
    """An episode with the judge's outcome, and the question that was put to the judge."""

    trajectory: Trajectory
    call: Call

    @property
    def word(self) -> Outcome:
        """What the judge says, which counts only where log and person say nothing."""
        return next(each for each in verdicts_on(self.trajectory) if each.source == "judge")


def without_outcome(bank: Bank, limit: int | None = None) -> list[str]:
    """Return the ids of the first waiting episodes without an outcome, in order of import."""
    unknown = (found.id for found in waiting(bank) if not found.outcome.known)
    return list(islice(unknown, limit))


def without_judgement(bank: Bank, limit: int | None = None) -> list[str]:
    """Return the ids of the first episodes on which no judge has a word yet, in order of import."""
    unjudged = (
        found.id
        for found in episodes(bank)
        if not any(each.source == "judge" for each in verdicts_on(found))
    )
    return list(islice(unjudged, limit))


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


def judge_episodes(
    bank: Bank,
    judge: Judge,
    ids: Sequence[str],
    *,
    concurrency: int = 1,
    beside: bool = False,
    advance: Callable[[], object] = lambda: None,
    stopped: Callable[[], bool] = lambda: False,
    grace: float = GRACE,
) -> JudgingReport:
    """Judge episodes and keep each outcome, one commit each; `advance` follows each one.

    An episode whose outcome is known otherwise is refused, unless the judge is to stand `beside`.

    What is wrong with one episode stops none of the others. What would be wrong with all of
    them, like a refused key, comes last among the errors. A `KeyboardInterrupt` ends the run at
    once. When the work is to stop, answers that are under way are waited for up to `grace` seconds
    and kept.

    Raises:
        BankFrozenError: The bank is frozen; nothing was asked.
    """
    bank.require_writable()
    payments = Payments(bank)
    run = _JudgingRun(bank, judge.paying(payments), Asking(concurrency, stopped), beside)
    turns = Turns(ids, run.asking, lambda each: [run.question(each)], concurrency, stopped)
    report = run.report
    try:
        with payments:
            with suppress(StoppedError):
                for each in turns:
                    run.keep(each, partial(run.asking.answer, *run.question(each).asked))
                    if run.failure:
                        break
                    advance()
            run.asking.close(judge.cancel, grace)
            run.keep_late([*turns.window][1 if run.failure else 0 :])
    except KeyboardInterrupt:
        report.interrupted = True
    except StorageError as error:  # of what was paid, `usage.jsonl` lacks the last
        run.failure = run.failure or error
    report.errors += [run.failure] if run.failure else []
    report.usage, report.in_flight = judge.usage, run.asking.under_way
    report.without_outcome = len(without_outcome(bank))
    return report


@dataclass(slots=True)
class _JudgingRun:
    """Judgements on their way into a bank; `failure` is what would be wrong with all."""

    bank: Bank
    judge: Judge
    asking: Asking
    beside: bool
    report: JudgingReport = field(default_factory=JudgingReport)
    failure: DeltaMemError | None = None

    def question(self, episode_id: str) -> Question:
        """Return the question about an episode, read here and now: a bank is for one thread."""
        ask = partial(_judge, self.judge, _read(self.bank, episode_id))
        return Question(("judge", episode_id), ask)

    def keep(self, episode_id: str, answer: Callable[[], Judgement]) -> None:
        """Keep a judgement, or why there is none."""
        result = _keep(self.bank, episode_id, answer, self.judge.model, beside=self.beside)
        if isinstance(result, JudgedEpisode):
            self.report.judged.append(result)
        elif result is not None and _is_of_one(result):
            self.report.errors.append(result)
        else:
            self.failure = self.failure or result

    def keep_late(self, ids: Sequence[str]) -> None:
        """Keep what came after the run was to stop."""
        for each in ids:
            if late := self.asking.finished(("judge", each)):
                self.keep(each, late.result)


def _read(bank: Bank, episode_id: str) -> Trajectory | DeltaMemError:
    try:
        return known_episode(bank, episode_id)
    except DeltaMemError as error:
        return error


def _judge(judge: Judge, found: Trajectory | DeltaMemError) -> Judgement:
    if isinstance(found, DeltaMemError):
        raise found
    return judge.judge(found)


def _keep(
    bank: Bank, episode_id: str, answer: Callable[[], Judgement], model: str, *, beside: bool
) -> JudgedEpisode | DeltaMemError | None:
    """Keep a judgement, or note that the model gave none; None if it was not asked to the end."""
    try:
        try:
            judgement = answer()
            judged = take_judgement(bank, episode_id, judgement, beside=beside)
            return JudgedEpisode(judged, judgement.call)
        except QuestionCancelledError:
            return None
        except NoUsableAnswerError as error:
            call = Call("judge", None, model, "", error.usage, error.attempts)
            note_failed_judgement(bank, episode_id, call, error.message)
            raise
    except DeltaMemError as error:
        if _is_of_one(error):
            return TrajectoryError(error.message, source=episode_id, hint=error.hint)
        return error


def _is_of_one(error: DeltaMemError) -> bool:
    """Return whether an error says something of one episode only."""
    return isinstance(error, AnswerError | PromptTooLongError | TrajectoryError)


def take_judgement(
    bank: Bank, episode_id: str, judgement: Judgement, *, beside: bool = False
) -> Trajectory:
    """Keep a judge's outcome of an episode that has none; returns the episode with it.

    It may have one if the judge's is to stand `beside` it.

    Raises:
        TrajectoryError: The bank does not have the episode, or it has an outcome by now: a
            judge only fills a gap. The first word of a judge is kept beside it.
        BankCorruptError: What the bank has under this id is not that episode.
        BankFrozenError: The bank is frozen.
    """
    bank.require_writable()
    with bank.writing() as batch:
        known = known_episode(bank, episode_id)
        by_now = TrajectoryError(
            f"its outcome is {known.outcome.source} by now, and a judge only fills a gap",
            source=episode_id,
        )
        if any(each.source == "judge" for each in verdicts_on(known)):
            raise by_now
        judged = with_verdict(known, judgement.outcome)
        put_episode(batch, bank, judged)
        detail = {
            "trajectory": episode_id,
            "success": judgement.outcome.success,
            "calls": [judgement.call.record()],
        }
        batch.log("judge", detail)
    if judged.outcome != judgement.outcome and not beside:
        raise by_now
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
