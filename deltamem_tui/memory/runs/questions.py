"""Questions for models that are not asked yet: estimated, or written down for a batch service.

An estimate learns every episode into a copy of the bank that is thrown away. Where the response
cache has no answer, the rules write instead, so later prompts are only like the real ones.

In each round of a batch the bank learns from every episode whose questions are answered, and what
the others ask of the bank as it then is is written down: later prompts show earlier answers.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from deltamem_tui.bank import usage_log
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.transfer import copy_bank
from deltamem_tui.embedding.protocol import Embedder
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
from deltamem_tui.memory.engine import as_stored, learn_stored, writer_of
from deltamem_tui.memory.method import method_of
from deltamem_tui.memory.reports.view import ReportNote, ReportView
from deltamem_tui.memory.runs.learning import LearningReport, learn_episodes
from deltamem_tui.memory.vectors.search import embedder_of
from deltamem_tui.memory.writers.extraction import Call, Extraction, FunctionWriter
from deltamem_tui.memory.writers.model import ModelExtractor
from deltamem_tui.text import counted, one_line
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import LogLimits
from deltamem_tui.trajectory.model import Trajectory

Questions = Sequence[tuple[ChatRequest, Call]]
"""A question, with the bill's entry for it."""

# What one of these episodes teaches changes what the others of its kind ask.
_MOST_ALIKE = 4
_LIMITS = LogLimits(record_bytes=8_000_000, nesting=100)


class _Counter:
    """Counts the questions to a model; the rules write."""

    def __init__(self, bank: Bank, extractor: ModelExtractor) -> None:
        self.usage = Usage()
        self.writer = FunctionWriter(extractor.name, self._write)
        self._asked: set[str | None] = set()
        self._extractor = extractor.of_method(method_of(bank))
        self._rules = writer_of(bank)

    def begin(self) -> None:
        """Begin an episode, which asks again where no answers are kept."""
        if not self._extractor.client.keeps:
            self._asked.clear()

    def _write(self, *question: Any) -> Extraction:
        """Count a question, and answer it as the cache or the rules do."""
        request = self._extractor.request(*question)
        took = self._extractor.estimate(question[0], request)
        if took.cached:
            with suppress(BudgetError):  # a first answer is there, and not one that can be used
                found = self._extractor.write(*question)
                self.usage += found.usage
                return found
        prompt = request.prompt if request else None
        self.usage += Usage(cached=1) if prompt in self._asked else took
        self._asked.add(prompt)
        return self._rules.write(*question)


def estimate_learning(
    bank: Bank,
    trajectories: Iterable[Trajectory],
    extractor: ModelExtractor,
    embedder: Embedder,
    *,
    advance: Callable[[], object] = lambda: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Usage:
    """Estimate what learning from episodes will take. Nothing is sent, the bank stays as it is.

    The extractor's client has a budget of `NOTHING`. Once `stopped`, it is of those so far.
    """
    counter = _Counter(bank, extractor)
    with tempfile.TemporaryDirectory(prefix="deltamem-estimate-") as folder:
        stage = copy_bank(bank, Path(folder) / bank.path.name)
        for trajectory in trajectories:
            if stopped():
                break
            counter.begin()
            with suppress(ExtractionError, TrajectoryError, VectorError):  # the run will report it
                learn_stored(stage, as_stored(bank, trajectory), counter.writer, embedder)
            advance()
    return counter.usage


@dataclass(slots=True)
class AnswersReport:
    """The fate of a batch's results: how many are new in the cache, and which were left out."""

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

    One that is no answer to a question of this bank is reported with its file and line.
    """
    report = AnswersReport()
    for path in paths:
        for record in Log(path.name, path, _LIMITS).records():
            advance()
            try:
                if isinstance(record, RecordError):
                    raise record
                _take(bank, batch, record.value, report)
            except (AnswerError, RecordError) as error:
                where = {"source": path.name, "position": record.position}
                report.errors.append(AnswerError(error.message, **where, hint=error.hint))
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


def learn_round(
    bank: Bank,
    trajectories: Sequence[Trajectory],
    extractor: ModelExtractor,
    batch: BatchCaller,
    *,
    advance: Callable[[Usage], object] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> tuple[LearningReport, Questions]:
    """Learn from the episodes whose questions are answered; the extractor asks the batch.

    Also returns each question of the others once.
    """
    method, embedder, payments = method_of(bank), embedder_of(bank), list[Call]()
    model, alike = extractor.of_method(method).paying(payments.append), Counter[object]()
    asked: dict[str, tuple[ChatRequest, Call]] = {}

    def ready() -> Iterator[Trajectory]:
        waits = False

        def write(*question: Any) -> Extraction:
            """Write what the answers say; note a question without one, and write nothing."""
            nonlocal waits
            try:
                return model.write(*question)
            except BudgetError:
                waits = True
            key = question[0], tuple(node.id for node in question[2])
            alike[key] += 1
            if alike[key] <= _MOST_ALIKE and (request := batch.noted) is not None:
                request.on_answer(Usage())  # so that the extractor says what it is for
                asked[request.key] = request, payments[-1]
            return Extraction(None, "waits for an answer")

        for each in trajectories:
            bank.refresh()
            waits = False
            with suppress(ExtractionError, TrajectoryError, VectorError):  # the run reports it
                writer = FunctionWriter(model.name, write)
                method.plan(bank, as_stored(bank, each), writer, embedder)
            if not waits:
                yield each

    report = learn_episodes(bank, extractor, ready(), advance=advance, stopped=stopped)
    return report, [*asked.values()]


def write_requests(path: Path, batch: BatchCaller, asked: Questions) -> None:
    """Write questions as requests of a batch: a file that appears whole, over an earlier one."""
    for request, payment in asked:  # before anyone can send them
        batch.remember(request, payment.bill())
    with files.new_file(path, replace=True) as draft:
        files.write_parts(draft, (batch.line(request) for request, _ in asked))


def with_batch(view: ReportView, path: Path, asked: int, taken: AnswersReport) -> ReportView:
    """Add to a report how many questions a file of requests has, and what became of answers."""
    record = {
        "file": str(path),
        "asked": asked,
        "answers_taken": taken.taken,
        "answers_before": taken.before,
        "usage": asdict(taken.usage),
    }
    note = ReportNote("every question is answered")
    if asked:
        hint = "have them answered, and run this again with `--answers RESULTS`"
        note = ReportNote(f"{counted(asked, 'question waits', 'questions wait')} in {path}", hint)
    return replace(
        view,
        record={**view.record, "batch": record},
        facts={**view.facts, "answers taken": taken.taken, "questions asked": asked},
        notes=[*view.notes, note],
    )
