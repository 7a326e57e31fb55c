"""Judging: a model's verdict on episodes that wait without an outcome.

Judgements do not depend on one another, so several can be under way at once. They are
committed one by one in the order of import all the same: an interrupted run has judged the
first episodes, and the next one goes on behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import DeltaMemError, ExtractionError, TrajectoryError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.episodes.outcomes import known_episode, verdicts_on, with_verdict
from deltamem_tui.memory.episodes.stored_episodes import episode, put_episode, waiting
from deltamem_tui.memory.plan import REASON_WIDTH
from deltamem_tui.memory.prompts.use import JUDGE
from deltamem_tui.memory.reports.view import ReportNote, ReportView, Value, usage_facts
from deltamem_tui.memory.runs.asking import Asking, Question, StoppedError
from deltamem_tui.memory.runs.learning import in_flight_notes
from deltamem_tui.memory.work.signs import is_weak, weak_outcome
from deltamem_tui.memory.writers.extraction import Call, FailedCallError
from deltamem_tui.memory.writers.model import Judge
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Outcome, Trajectory


@dataclass(slots=True)
class JudgingReport:
    """The result of judging episodes, done or planned.

    Attributes:
        judged: Episodes with the judge's outcome, each with the question that was put to it.
        errors: Why others were not, and what ended the run.
        interrupted: Whether a `KeyboardInterrupt` ended it.
        in_flight: How many calls had no answer at the end, and may be paid for.
        without_outcome: How many episodes wait for an outcome now.
    """

    judged: list[tuple[Trajectory, Call]] = field(default_factory=list)
    errors: list[DeltaMemError] = field(default_factory=list)
    interrupted: bool = False
    usage: Usage = field(default_factory=Usage)
    in_flight: int = 0
    without_outcome: int = 0
    dry_run: bool = False


def without_outcome(bank: Bank, limit: int | None = None) -> list[str]:
    """Return the ids of the first waiting episodes without an outcome, in order of import.

    One that was read off weak signs counts for none.
    """
    found = (each.id for each in waiting(bank) if not each.outcome.known or is_weak(each.outcome))
    return list(islice(found, limit))


def note_signs(bank: Bank, ids: Iterable[str]) -> list[Trajectory]:
    """Note what weak signs say of episodes without an outcome, one commit each; returns those."""
    found = []
    for each in ids:
        with bank.writing() as batch:
            known = known_episode(bank, each)
            said = weak_outcome(known) if not known.outcome.known else None
            if said is None:
                continue
            found.append(with_verdict(known, said))
            put_episode(batch, bank, found[-1])
            detail = {"trajectory": each, "success": said.success, "reason": said.reason}
            batch.log("judge", detail)
    return found


def estimate_judging(
    bank: Bank, judge: Judge, ids: Sequence[str], advance: Callable[[], object] = lambda: None
) -> JudgingReport:
    """Estimate what judging episodes will take. Nothing is sent; `advance` follows each one."""
    usage = Usage()
    for each in ids:
        if found := episode(bank, each):
            usage += judge.estimate(JUDGE, judge.request(JUDGE, found, ()))
        advance()
    return JudgingReport(usage=usage, without_outcome=len(ids), dry_run=True)


def judge_episodes(
    bank: Bank,
    judge: Judge,
    ids: Sequence[str],
    *,
    concurrency: int = 1,
    advance: Callable[[], object] = lambda: None,
    stopped: Callable[[], bool] = lambda: False,
) -> JudgingReport:
    """Judge episodes and keep each outcome, one commit each; `advance` follows each one.

    What is wrong with one episode stops none of the others; what would be wrong with all of them,
    like a refused key, comes last among the errors. When the work is to stop, answers that are
    under way are waited for a bit: the cache keeps them.
    """
    bank.require_writable()
    asking, report = Asking(bank, concurrency, stopped), JudgingReport()
    judge = judge.paying(asking.pay)

    def question(episode_id: str) -> Question:
        # Read here and now: a bank is for one thread.
        return Question(
            ("judge", episode_id), partial(judge.judge, known_episode(bank, episode_id))
        )

    try:
        with ExitStack() as stack:
            stack.callback(asking.close, judge.cancel)
            for each in asking.turns(ids, lambda episode_id: [question(episode_id)]):
                try:
                    outcome, call = asking.answer(*question(each))
                    report.judged.append((take_judgement(bank, each, outcome, call), call))
                except (ExtractionError, TrajectoryError) as error:
                    report.errors.append(_refused(bank, each, error))
                advance()
    except StoppedError:
        pass
    except KeyboardInterrupt:
        report.interrupted = True
    except DeltaMemError as error:
        report.errors.append(error)
    report.usage, report.in_flight = judge.usage, asking.in_flight
    report.without_outcome = len(without_outcome(bank))
    return report


def _refused(bank: Bank, episode_id: str, error: DeltaMemError) -> TrajectoryError:
    """Return why an episode was not judged; the journal notes what that took."""
    if isinstance(error, FailedCallError):
        reason = one_line(error.message, REASON_WIDTH)
        with bank.writing() as batch:
            batch.log("judge", _detail(episode_id, None, error.call) | {"reason": reason})
    return TrajectoryError(error.message, source=episode_id, hint=error.hint)


def take_judgement(bank: Bank, episode_id: str, outcome: Outcome, call: Call) -> Trajectory:
    """Keep a judge's outcome of an episode that has none; returns the episode with it.

    Raises a TrajectoryError if the bank does not have it, or it has an outcome by now: a judge
    only fills a gap. The first verdict of a judge is kept beside it.
    """
    bank.require_writable()
    with bank.writing() as batch:
        known = known_episode(bank, episode_id)
        by_now = TrajectoryError(
            f"already has an outcome ({known.outcome.source}); judges only fill missing ones",
            source=episode_id,
        )
        if any(each.source == "judge" and not is_weak(each) for each in verdicts_on(known)):
            raise by_now
        judged = with_verdict(known, outcome)
        put_episode(batch, bank, judged)
        batch.log("judge", _detail(episode_id, outcome.success, call))
    if judged.outcome != outcome:
        raise by_now
    return judged


def _detail(episode_id: str, success: bool | None, call: Call) -> dict[str, Any]:
    return {"trajectory": episode_id, "success": success, "calls": [call.record()]}


def view_judging(found: JudgingReport, bank: str) -> ReportView:
    """Show what judging came to, or would take."""
    words = [episode.outcome for episode, _ in found.judged]
    successes = sum(word.success is True for word in words)
    record: dict[str, Any] = {
        "judged": len(words),
        "successes": successes,
        "failures": len(words) - successes,
        "without_outcome": found.without_outcome,
        "usage": asdict(found.usage),
        "would_judge": found.without_outcome if found.dry_run else 0,
        "judgements": [
            {
                "id": episode.id,
                "task": episode.task,
                "success": episode.outcome.success,
                "reason": episode.outcome.reason,
                "model": call.model,
                "cut": call.cut or None,
            }
            for episode, call in found.judged
        ],
    }
    if found.dry_run:
        facts: dict[str, Value] = {"would judge": found.without_outcome, **usage_facts(found.usage)}
        return ReportView(record, facts, notes=[ReportNote("nothing was sent: this was a dry run")])
    record["on_their_way"] = found.in_flight
    counts = ("judged", "successes", "failures", "without_outcome")
    facts = {name.replace("_", " "): record[name] for name in counts} | usage_facts(found.usage)
    notes = in_flight_notes(found.in_flight)
    if found.judged:
        notes.append(
            ReportNote(f"`deltamem extract {bank} --admit all` learns from judged episodes too")
        )
    elif not found.errors:
        notes.append(ReportNote("every episode has an outcome"))
    return ReportView(record, facts, notes=notes)
