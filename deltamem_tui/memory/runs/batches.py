"""Rounds of a batch: what would be asked is written down, and answers that came back are taken.

Later prompts show what earlier answers said, so it takes rounds. In each, the bank learns as far
as answers are there. Then the other episodes are played on a copy that is thrown away: where an
answer is missing, its question is noted and a guess stands in. A prompt that shows a guess is not
noted, for it will be another one; all others are, whichever episode they belong to. A guess can be
wrong, and then a question is noted for nothing or a round later, but what the bank learns hangs
on answers alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from deltamem_tui.bank import usage_log
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import files
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import (
    AnswerError,
    BudgetError,
    DeltaMemError,
    PromptTooLongError,
    RecordError,
    TrajectoryError,
)
from deltamem_tui.llm.batch import BatchCaller, ServiceError
from deltamem_tui.llm.client import ChatRequest
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.memory.runs.estimate import GuessingWriter, play
from deltamem_tui.memory.writers.extraction import Payment
from deltamem_tui.memory.writers.model.judge import Judge
from deltamem_tui.memory.writers.model.writer import ModelExtractor
from deltamem_tui.text import clean, one_line
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import LogLimits
from deltamem_tui.trajectory.model import Trajectory

# No text of ours has it, and none of an episode should.
_GUESS = "⟦a guess⟧ "
_LIMITS = LogLimits(record_bytes=8_000_000, nesting=100)
_MOST_ERRORS = 1_000
_WIDTH = 200


@dataclass(slots=True)
class AnswersReport:
    """What became of the results of a batch.

    Attributes:
        taken: How many answers are in the cache now that were not.
        before: How many were there before.
        usage: What the taken ones took.
        errors: Why others were left out, a line each; the last one counts those that are too many.
    """

    taken: int = 0
    before: int = 0
    usage: Usage = field(default_factory=Usage)
    errors: list[DeltaMemError] = field(default_factory=list)
    unlisted: int = 0

    def leave_out(self, error: DeltaMemError) -> None:
        """Count a line that is left out."""
        if len(self.errors) < _MOST_ERRORS:
            self.errors.append(error)
        else:
            self.unlisted += 1


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
    for path in paths:
        for record in Log(path.name, path, _LIMITS).records():
            advance()
            try:
                if isinstance(record, RecordError):
                    raise record
                _take(bank, batch, record.value, report)
            except (AnswerError, RecordError) as error:
                where = {"source": path.name, "position": record.position}
                report.leave_out(AnswerError(error.message, **where, hint=error.hint))
    if report.unlisted:
        report.errors.append(AnswerError(f"{report.unlisted:,} more results were left out"))
    return report


def _take(bank: Bank, batch: BatchCaller, result: object, report: AnswersReport) -> None:
    """Take one result.

    Raises:
        AnswerError: There is no answer in it, or none that is wanted here.
    """
    key = result.get("custom_id") if isinstance(result, dict) else None
    if not isinstance(result, dict) or not isinstance(key, str):
        raise AnswerError("not a result of a batch", hint="`custom_id` and `response` are wanted")
    question = batch.asked(key)
    if question is None:
        if not batch.is_answered(key):
            raise AnswerError(f"{one_line(key, 80)!r} was not asked for this bank")
        report.before += 1
        return
    try:
        reply = batch.read(question, _response(result))
    except ServiceError as error:
        batch.refuse(key, question, error)
        words = one_line(clean(str(error)), _WIDTH)
        raise AnswerError(f"the service gave no answer ({error.status_code}): {words}") from error
    except ValueError as error:
        raise AnswerError(str(error)) from error
    usage = Usage(1, 0, reply.prompt_tokens, reply.completion_tokens, reply.cost)
    bill = question.get("bill")
    usage_log.append(bank.path, {**(bill if isinstance(bill, dict) else {}), **asdict(usage)})
    batch.keep(key, reply)
    report.taken += 1
    report.usage += usage


def _response(result: dict[str, object]) -> object:
    """The response in a result.

    Raises:
        ServiceError: There is an error in its place.
    """
    error, response = result.get("error"), result.get("response")
    if error and not response:
        words = error.get("message") if isinstance(error, dict) else error
        raise ServiceError(500, str(words or error))
    return response


def passed_over(bank: Bank, model: str) -> frozenset[str]:
    """The episodes that a run went past because nothing could be made of them.

    Asking directly would not come back to them in the same run, so no later round does.

    Raises:
        BankCorruptError: A line of the journal is not a commit.
    """
    found: dict[object, bool] = {}
    for commit in bank.journal.commits() if bank.journal.exists else ():
        detail = commit.detail
        calls = detail.get("calls")
        calls = calls if isinstance(calls, list) else []
        others = any(each.get("model") != model for each in calls if isinstance(each, dict))
        failed = commit.event == "refuse" or (
            commit.event == "judge" and detail.get("success") is None
        )
        found[detail.get("trajectory")] = failed and not others
    return frozenset(str(each) for each, is_passed in found.items() if is_passed)


class _Questions:
    """The questions that wait for answers, each with what the bill will say of it, by key."""

    def __init__(self, batch: BatchCaller) -> None:
        self.found: dict[str, tuple[ChatRequest, Payment]] = {}
        self._batch = batch
        self._payment: Payment | None = None

    def paid(self, payment: Payment) -> None:
        """What the bill says of the answer that the extractor speaks of."""
        self._payment = payment

    def note(self, *_: object) -> None:
        """Note the question that the batch was asked last, unless it shows a guess."""
        request = self._batch.noted
        if request is None or any(_GUESS in each["content"] for each in request.messages):
            return
        request.on_answer(Usage())  # so that the extractor speaks of this one
        if self._payment is not None:
            self.found[request.key] = request, self._payment


def questions(
    bank: Bank,
    episodes: Iterable[Trajectory],
    extractor: ModelExtractor,
    batch: BatchCaller,
    embedder: Embedder,
    *,
    draw_scenes: bool = False,
    advance: Callable[[], object] = lambda: None,
    stopped: Callable[[], bool] = lambda: False,
) -> list[tuple[ChatRequest, Payment]]:
    """What learning from episodes would ask, as far as it can be known without the answers.

    The extractor asks the batch. Nothing is sent, and the bank stays as it is.

    Returns:
        Each question once, with what its line of the bill will say.

    Raises:
        LanguageModelError: The model cannot be asked at all.
        StorageError: There is no room for a copy of the bank.
    """
    asked = _Questions(batch)
    writer = GuessingWriter(bank, extractor.paying(asked.paid), asked.note, mark=_GUESS)
    play(bank, episodes, writer, embedder, draw_scenes, advance, stopped)
    return [*asked.found.values()]


def judging_questions(
    bank: Bank, judge: Judge, ids: Iterable[str], batch: BatchCaller
) -> list[tuple[ChatRequest, Payment]]:
    """What judging episodes would ask; see `questions`."""
    asked = _Questions(batch)
    judge = judge.paying(asked.paid)
    for each in ids:
        with suppress(AnswerError, PromptTooLongError, TrajectoryError):  # the run reports it
            try:
                if found := episode(bank, each):
                    judge.judge(found)
            except BudgetError:
                asked.note()
    return [*asked.found.values()]


def write_requests(
    path: Path, batch: BatchCaller, asked: Sequence[tuple[ChatRequest, Payment]]
) -> None:
    """Write questions as requests of a batch: a file that appears whole, over an earlier one.

    Raises:
        BankExistsError: Something other than a file is there.
        StorageError: The disk refused.
    """
    for request, payment in asked:  # before anyone can send them
        batch.remember(request, payment.record())
    with files.new_file(path, replace=True) as draft:
        files.write_parts(draft, (batch.line(request) for request, _ in asked))
