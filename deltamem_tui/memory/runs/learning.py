"""Learning from many episodes, and maintenance: one after another, their questions asked ahead.

Episodes are committed strictly in order, each by itself, so a run that is stopped or killed
leaves a bank that the next one goes on from. What is wrong with one episode stops no other: it
stays waiting, and the journal remembers why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import (
    BankCorruptError,
    DeltaMemError,
    ExtractionError,
    TrajectoryError,
    VectorError,
)
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory import engine
from deltamem_tui.memory.engine import as_stored, learn_stored, writer_of
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.memory.method import method_of, settings_of
from deltamem_tui.memory.plan import REASON_WIDTH, Due, LearnResult, MaintenanceResult
from deltamem_tui.memory.policies import Policy, as_admitted
from deltamem_tui.memory.reports.view import ReportNote, ReportView, Value, cost_text, usage_facts
from deltamem_tui.memory.runs.asking import Asking, Question, StoppedError, asking_by
from deltamem_tui.memory.vectors.search import EmbeddingCache, embedder_of
from deltamem_tui.memory.writers.extraction import Extraction, FailedCallError
from deltamem_tui.memory.writers.model import ModelExtractor
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import counted, one_line
from deltamem_tui.trajectory.model import Trajectory


class LearningRun:
    """One run over waiting episodes or due maintenance; for one thread, closed at the end."""

    def __init__(
        self,
        bank: Bank,
        extractor: Writer,
        *,
        embedder: Embedder | None = None,
        concurrency: int = 1,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """Prepare; `stopped` is asked between episodes and while a model is waited for."""
        self._bank, self._embedder = bank, embedder_of(bank, embedder)
        self._writer = writer_of(bank, extractor)
        self._model = self._writer if isinstance(self._writer, ModelExtractor) else None
        self.asking = Asking(bank, concurrency if self._model else 1, stopped)
        if self._model:
            self._model = self._model.paying(self.asking.pay)
            self._writer = asking_by(self._model, lambda each: self.asking.answer(*each))

    def __enter__(self) -> LearningRun:
        return self

    def __exit__(self, *_: object) -> None:
        """Ask nothing more; see `Asking.close`."""
        self.asking.close(self._model.cancel if self._model else lambda: None)

    def learn(self, trajectories: Iterable[Trajectory]) -> Iterator[LearnResult | DeltaMemError]:
        """Learn from episodes whose outcomes are known, in their order; they are read a bit ahead.

        Yields each episode's lesson, or why it stays waiting; the error's source is its id. What
        was learnt stays where a model cannot be asked at all, or the bank not be written.
        """
        turns = ((each, EmbeddingCache(self._embedder)) for each in trajectories)
        for trajectory, vectors in self.asking.turns(turns, self._questions):
            self._bank.require_writable()  # before a model is paid for nothing
            try:
                stored = as_stored(self._bank, trajectory)
                yield learn_stored(self._bank, stored, self._writer, vectors)
            except StoppedError:
                return
            except (ExtractionError, VectorError, TrajectoryError) as error:
                yield self._refused(trajectory.id, error)

    def consolidate(self) -> Iterator[MaintenanceResult]:
        """Do all maintenance that is due, as to fuse chains, one commit each; raises as `learn`."""
        for task in self.asking.turns(engine.due(self._bank), self._questions):
            try:
                result = engine.maintain(self._bank, task, self._writer, self._embedder)
            except StoppedError:
                return
            if result is not None:
                yield result

    def _questions(self, turn: tuple[Trajectory, Embedder] | Due) -> list[Question]:
        """Return what the bank as it is makes an episode, or maintenance, ask."""
        bank, method, noted = self._bank, method_of(self._bank), list[Question]()

        def note(question: Question) -> Extraction:
            noted.append(question)
            return Extraction(None, "asked ahead")

        if self._model:
            writer = asking_by(self._model, note)
            if isinstance(turn, Due):
                method.maintain(bank, turn, writer, self._embedder)
            else:
                method.plan(bank, as_stored(bank, turn[0]), writer, turn[1])
        return noted

    def _refused(self, trajectory: str, error: DeltaMemError) -> DeltaMemError:
        """Note in the journal why an episode stays waiting."""
        detail: dict[str, Any] = {"trajectory": trajectory}
        detail["reason"] = one_line(str(error), REASON_WIDTH)
        if isinstance(error, FailedCallError):
            detail["calls"] = [error.call.record()]
        with self._bank.writing() as batch:
            if self._bank.episodes.state(trajectory) is not None:
                batch.log("refuse", detail)
        error.source = trajectory
        return error


@dataclass(slots=True)
class LearningReport:
    """The result of learning from some episodes, done or planned.

    Attributes:
        refusals: Why episodes could not be learnt; each names its episode as its source.
        failure: What ended the run before its last episode.
        usage: What calls of a model took, used or not.
        in_flight: How many calls had no answer at the end, and may be paid for.
    """

    lessons: list[LearnResult] = field(default_factory=list)
    refusals: list[DeltaMemError] = field(default_factory=list)
    failure: DeltaMemError | KeyboardInterrupt | None = None
    usage: Usage = field(default_factory=Usage)
    in_flight: int = 0


class Candidates(NamedTuple):
    """Waiting episodes to learn, how many a policy keeps out, and why others cannot be read."""

    episodes: Sequence[Trajectory]
    not_admitted: int
    broken: Sequence[BankCorruptError]


def candidates(bank: Bank, policy: Policy | None = None, limit: int | None = None) -> Candidates:
    """Return the first `limit` episodes whose outcome the policy, by default the bank's, admits."""
    policy = policy or settings_of(bank).admission
    known: list[Trajectory] = []
    broken: list[BankCorruptError] = []
    for each in bank.episodes.waiting():
        try:
            found = episode(bank, each)
        except BankCorruptError as error:
            broken.append(error)
        else:
            known += [found] if found and found.outcome.known else []
    admitted = [found for each in known if (found := as_admitted(policy, each))]
    return Candidates(admitted[:limit], len(known) - len(admitted), broken)


def learn_episodes(
    bank: Bank,
    extractor: Writer,
    episodes: Iterable[Trajectory],
    *,
    concurrency: int = 1,
    advance: Callable[[Usage], object] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> LearningReport:
    """Learn from episodes, one commit each, whatever is wrong with some of them.

    `advance` is called after each episode with what the run took so far.
    """
    report = LearningReport()
    if not episodes:
        return report
    run = LearningRun(bank, extractor, concurrency=concurrency, stopped=stopped)
    try:
        with run:
            for outcome in run.learn(episodes):
                if isinstance(outcome, DeltaMemError):
                    report.refusals.append(outcome)
                else:
                    report.lessons.append(outcome)
                advance(run.asking.usage)
    except (DeltaMemError, KeyboardInterrupt) as error:
        report.failure = error
    report.usage, report.in_flight = run.asking.usage, run.asking.in_flight
    return report


def view_learning(
    found: LearningReport,
    *,
    episodes: int,
    waiting: int,
    not_admitted: int = 0,
    dry_run: bool = False,
    titles: Mapping[str, str] = MappingProxyType({}),
) -> ReportView:
    """Show what learning from the waiting episodes came to, or would take.

    Of a dry run, `found` has the usage alone. `titles` has what each collection is called.
    """
    new = [lesson for lesson in found.lessons if lesson.new]
    nodes = Counter(dict.fromkeys(titles, 0))
    for lesson in new:
        nodes.update(lesson.written)
    record: dict[str, Any] = {
        "learned": len(new),
        "skipped": sum(not lesson.written for lesson in new),
        "learned_elsewhere": len(found.lessons) - len(new),
        "nodes_written": dict(nodes),
        "would_learn": episodes if dry_run else 0,
        "waiting": waiting,
        "not_admitted": not_admitted,
        "usage": asdict(found.usage),
        "on_their_way": found.in_flight,
    }
    facts: dict[str, Value] = {"would learn": episodes}
    if not dry_run:
        facts = {"episodes learnt": len(new), "with nothing new": record["skipped"]}
        facts |= {f"nodes written, {titles.get(name, name)}": n for name, n in nodes.items()}
    facts["episodes waiting"] = waiting
    asked = bool(found.usage.calls or found.usage.cached)
    facts |= usage_facts(found.usage) if asked else {}
    notes = [*_notes(found, episodes, not_admitted, waiting)]
    if dry_run and episodes:
        nothing = "sent or written: calls, tokens and cost are an estimate"
        nothing = nothing if asked else "written; the rules are free"
        notes.append(ReportNote(f"nothing was {nothing}"))
    return ReportView(record, facts, notes=notes, summary=_summary(found, nodes.total(), waiting))


def _notes(
    found: LearningReport, episodes: int, not_admitted: int, waiting: int
) -> Iterator[ReportNote]:
    if not episodes and waiting > not_admitted:
        unsaid = counted(waiting - not_admitted, "episode has", "episodes have")
        hint = "`deltamem episode list BANK --waiting` lists what waits, and "
        hint += "`deltamem episode outcome BANK ID success|failure` says how one ended"
        yield ReportNote(f"nothing can be learnt yet: {unsaid} no outcome", hint)
    elif not episodes:
        yield ReportNote("no episode waits to be learnt; `deltamem import` adds some")
    if not_admitted:
        wait = counted(not_admitted, "episode waits", "episodes wait")
        yield ReportNote(f"{wait} because of the source of the outcome", "see `--admit`")
    yield from in_flight_notes(found.in_flight)


def _summary(found: LearningReport, nodes: int, waiting: int) -> str:
    usage, learnt = found.usage, counted(len(found.lessons), "episode")
    calls = f"{counted(usage.calls, 'call')}, {usage.cached:,} cached"
    asked = usage.calls or usage.cached
    price = f"for {cost_text(usage)} ({calls})" if asked else "by rules, no cost"
    parts = [f"learnt {learnt} {price}: {counted(nodes, 'node')}", f"{waiting:,} waiting"]
    if found.in_flight:
        parts.append(f"{found.in_flight:,} in flight, which may be paid for")
    if found.refusals:
        parts.append(f"{len(found.refusals):,} could not be learnt, first: {found.refusals[0]}")
    if isinstance(found.failure, DeltaMemError):
        parts.append(f"then it ended: {found.failure}")
    return "; ".join(parts)


def in_flight_notes(calls: int) -> list[ReportNote]:
    """Return notes on calls that had no answer when the run ended."""
    were = counted(calls, "call was", "calls were")
    note = f"{were} still in flight and may be paid for; these numbers leave it out"
    return [ReportNote(note)] if calls else []
