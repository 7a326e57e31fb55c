"""Rounds of a batch: what would be asked is written down, and answers that came back are taken.

In each round the bank learns from every episode whose questions are answered, and what the others
ask of the bank as it then is is written down. Later prompts show what earlier answers said, so
it takes rounds, and an answer to a question that changed meanwhile was paid for nothing. The bank
is what asking directly gives for the episodes in the order in which they were learnt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from deltamem_tui.bank import usage_log
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.node import Node
from deltamem_tui.errors import (
    AnswerError,
    BudgetError,
    DeltaMemError,
    ExtractionError,
    RecordError,
    TrajectoryError,
    VectorError,
)
from deltamem_tui.llm.cache import BatchCaller
from deltamem_tui.llm.call import ChatRequest
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.engine import as_stored, set_first_thresholds
from deltamem_tui.memory.episodes.scenes import lacks_scene, with_scene
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.memory.methods import method_of, settings_of
from deltamem_tui.memory.prompts.use import SCENE
from deltamem_tui.memory.runs.learning import LearningReport, learn_episodes
from deltamem_tui.memory.vectors.embedder import embedder_of
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs, Payment
from deltamem_tui.memory.writers.model import Judge, ModelExtractor
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import LogLimits
from deltamem_tui.trajectory.model import Trajectory

Questions = Sequence[tuple[ChatRequest, Payment]]
"""A question, with the bill's entry for it."""

# What one of these episodes teaches changes what the others of its kind ask.
_MOST_ALIKE = 4
_LIMITS = LogLimits(record_bytes=8_000_000, nesting=100)
_MOST_ERRORS = 1_000


@dataclass(slots=True)
class AnswersReport:
    """The fate of the results of a batch.

    Attributes:
        taken: How many answers are in the cache now that were not.
        before: How many were there before.
        usage: What the taken ones took.
        errors: Why others were left out: the first thousand.
    """

    taken: int = 0
    before: int = 0
    usage: Usage = field(default_factory=Usage)
    errors: list[DeltaMemError] = field(default_factory=list)


def take_answers(
    bank: Bank,
    batch: BatchCaller,
    paths: Iterable[Path],
    advance: Callable[[], object] = lambda: None,
) -> AnswersReport:
    """Take the results of a batch into the response cache, and put each on the bank's bill.

    A result that is an error, not of its form, or of a question that was not asked for this bank
    is left out and reported with its file and line.

    Raises:
        TrajectoryError: A file cannot be opened.
        StorageError: The disk refused; what was taken before stays.
    """
    report = AnswersReport()
    left_out = 0
    for path in paths:
        for record in Log(path.name, path, _LIMITS).records():
            advance()
            try:
                if isinstance(record, RecordError):
                    raise record
                _take(bank, batch, record.value, report)
            except (AnswerError, RecordError) as error:
                left_out += 1
                where = {"source": path.name, "position": record.position}
                if len(report.errors) < _MOST_ERRORS:
                    report.errors.append(AnswerError(error.message, **where, hint=error.hint))
    if more := left_out - len(report.errors):
        report.errors.append(AnswerError(f"{more:,} more results were left out"))
    return report


def _take(bank: Bank, batch: BatchCaller, result: object, report: AnswersReport) -> None:
    """Take one result, or raise an AnswerError: it has no answer that is wanted here."""
    key = result.get("custom_id") if isinstance(result, dict) else None
    if not isinstance(result, dict) or not isinstance(key, str):
        raise AnswerError("not a result of a batch", hint="`custom_id` and `response` are wanted")
    question = batch.asked(key)
    if question is None:
        if not batch.is_answered(key):
            raise AnswerError(f"{one_line(key, 80)!r} was not asked for this bank")
        report.before += 1
        return
    error, response = result.get("error"), result.get("response")
    reply = batch.read(question, response or {"status_code": 500, "body": {"error": error}})
    usage = Usage(1, 0, reply.prompt_tokens, reply.completion_tokens, reply.cost)
    bill = question.get("bill")
    usage_log.append(bank.path, {**(bill if isinstance(bill, dict) else {}), **asdict(usage)})
    batch.keep(key, reply)
    report.taken += 1
    report.usage += usage


class _Noted:
    """The questions that wait for answers, by key."""

    def __init__(self, batch: BatchCaller) -> None:
        self.found: dict[str, tuple[ChatRequest, Payment]] = {}
        self._batch = batch
        self._payment: Payment | None = None

    def paid(self, payment: Payment) -> None:
        """Remember what the bill says of the answer that the extractor speaks of."""
        self._payment = payment

    def note(self) -> None:
        """Note the question that the batch was asked last."""
        if (request := self._batch.noted) is not None:
            request.on_answer(Usage())  # so that the extractor speaks of this one
            if self._payment is not None:
                self.found[request.key] = request, self._payment


class _WaitingWriter:
    """Writes what the answers say; notes each question without one, and then writes nothing."""

    def __init__(self, writer: ModelExtractor, noted: _Noted, alike: Counter[object]) -> None:
        self.name = writer.name
        self.waits = False
        self._writer, self._noted, self._alike = writer, noted, alike

    def write(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        """Write what the model said, if it said something."""
        try:
            return self._writer.write(purpose, episode, notes, inputs)
        except BudgetError:
            self.waits = True
        key = purpose, tuple(node.id for node in notes)
        self._alike[key] += 1
        if self._alike[key] <= _MOST_ALIKE:
            self._noted.note()
        return Extraction(None, "waits for an answer")


def learn_round(
    bank: Bank,
    episodes: Sequence[Trajectory],
    extractor: ModelExtractor,
    batch: BatchCaller,
    *,
    draw_scenes: bool = False,
    advance: Callable[[Usage], object] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> tuple[LearningReport, Questions]:
    """Learn from the episodes whose questions are answered; the extractor asks the batch.

    Returns:
        What was learnt, and each question of the others once.

    Raises:
        LanguageModelError: The model cannot be asked at all.
    """
    method, embedder, noted = method_of(bank), embedder_of(bank), _Noted(batch)
    made, alike = extractor.of_method(method).paying(noted.paid), Counter[object]()
    draws = draw_scenes and method.uses_scene(settings_of(bank))

    def is_answered(trajectory: Trajectory) -> bool:
        writer, kept = _WaitingWriter(made, noted, alike), as_stored(bank, trajectory)
        if draws and lacks_scene(kept):
            drawn = writer.write(SCENE, kept, ())
            if writer.waits:
                return False
            kept = with_scene(kept, drawn)
        with suppress(ExtractionError, TrajectoryError, VectorError):  # the run reports it
            method.plan(bank, kept, writer, embedder)
        return not writer.waits

    def ready() -> Iterator[Trajectory]:
        for each in episodes:
            bank.refresh()
            if is_answered(each):
                yield each

    set_first_thresholds(bank, embedder)
    report = learn_episodes(
        bank, extractor, ready(), draw_scenes=draw_scenes, advance=advance, stopped=stopped
    )
    return report, [*noted.found.values()]


def judging_questions(
    bank: Bank, judge: Judge, ids: Iterable[str], batch: BatchCaller
) -> Questions:
    """Return what judging episodes would ask."""
    noted = _Noted(batch)
    judge = judge.paying(noted.paid)
    for each in ids:
        with suppress(ExtractionError, TrajectoryError):  # the run reports it
            try:
                if found := episode(bank, each):
                    judge.judge(found)
            except BudgetError:
                noted.note()
    return [*noted.found.values()]


def write_requests(path: Path, batch: BatchCaller, asked: Questions) -> None:
    """Write questions as requests of a batch: a file that appears whole, over an earlier one.

    Raises:
        BankExistsError: Something other than a file is there.
        StorageError: The disk refused.
    """
    for request, payment in asked:  # before anyone can send them
        batch.remember(request, payment.record())
    with files.new_file(path, replace=True) as draft:
        files.write_parts(draft, (batch.line(request) for request, _ in asked))
