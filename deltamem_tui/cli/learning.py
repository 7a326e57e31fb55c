"""Commands that learn from episodes: extract, judge, and what a method does between episodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Interruption, Invocation, interruptible
from deltamem_tui.cli.models import (
    checked_prompts,
    chosen_model,
    extractor_for,
    model_client,
    model_settings,
)
from deltamem_tui.cli.options import ModelOptions, option
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import InterruptionError, Result
from deltamem_tui.errors import DeltaMemError, ExtractionError, UsageError

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.llm.cache import BatchCaller
    from deltamem_tui.llm.call import ChatRequest
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.reports.view import ReportView
    from deltamem_tui.memory.runs.learning import LearningReport
    from deltamem_tui.memory.runs.questions import AnswersReport
    from deltamem_tui.memory.writers.extraction import Call
    from deltamem_tui.memory.writers.writer import Writer
    from deltamem_tui.trajectory.model import Trajectory

Requests = Annotated[
    Path | None, option("--batch", "FILE", "Ask nothing: write the questions for a batch service.")
]
Answers = Annotated[list[Path] | None, option("--answers", "FILE", "First take these results.")]


@dataclass(slots=True)
class BatchRound:
    """A round of a batch: answers that came back are taken, further questions written down."""

    path: Path
    batch: BatchCaller
    taken: AnswersReport
    asked: int = 0

    @property
    def worked(self) -> int:
        """How many answers were taken and questions asked."""
        return self.asked + self.taken.taken

    def write(self, asked: Sequence[tuple[ChatRequest, Call]]) -> None:
        """Write the requests; an empty file if nothing is asked any more."""
        from deltamem_tui.memory.runs.questions import write_requests

        self.asked = len(asked)
        write_requests(self.path, self.batch, asked)

    def shown(self, view: ReportView) -> ReportView:
        """Return a report with what the round came to."""
        from deltamem_tui.memory.runs.questions import with_batch

        return with_batch(view, self.path, self.asked, self.taken)


def _batch_of(
    invocation: Invocation,
    bank: Bank,
    path: Path | None,
    answers: Sequence[Path] | None,
    model: ModelOptions,
    *,
    alone: bool,
) -> BatchRound | None:
    """Take the answers of a batch that came back; None if no batch was asked for.

    `alone` is whether no option of the command itself contradicts it.
    """
    if path is None:
        if answers:
            hint = "`--batch FILE` says where what is asked next goes"
            raise UsageError("`--answers` goes with `--batch` only", hint=hint)
        return None
    asks = model.max_cost is not None or model.no_cache
    if not alone or model.dry_run or asks:
        options = "--dry-run, --max-cost, --no-cache, --concurrency, --extractor"
        raise UsageError(
            f"{options}: not with `--batch`", hint="nothing is asked in a batch's round"
        )
    from deltamem_tui.llm.cache import BatchCaller, ResponseCache
    from deltamem_tui.llm.models import look_up
    from deltamem_tui.memory.runs.questions import take_answers

    bank.require_writable()
    name = chosen_model(invocation, model.model)
    found = look_up(name, model_settings(invocation, model).stated())
    batch = BatchCaller(found, ResponseCache(), bank.manifest.counts_as)
    with invocation.output.progress("taking answers") as advance:
        return BatchRound(path, batch, take_answers(bank, batch, answers or (), advance))


def _problems(
    invocation: Invocation, rounds: BatchRound | None, errors: Iterable[DeltaMemError]
) -> list[DeltaMemError]:
    """Return all that went wrong, with its traceback on stderr if that is wanted."""
    found = [*(rounds.taken.errors if rounds else ()), *errors]
    for error in found:
        invocation.output.trace(error)
    return found


def extract(
    invocation: Invocation,
    bank: options.Bank,
    extractor: options.Extractor = None,
    limit: options.Limit = None,
    admit: options.Admit = None,
    concurrency: options.Concurrency = 1,
    batch: Requests = None,
    answers: Answers = None,
    *,
    model: ModelOptions,
) -> Result:
    """Learn from the episodes that wait, in the order of their import.

    Every episode is committed by itself: what was learnt before an interruption stays, and the
    same command goes on from there. What a model answered is kept, so nothing is paid twice.
    With --concurrency, what is learnt is the same; a few calls may go unused.

    With --batch nothing is asked: the questions are written down for a batch service. Run it
    again with --answers, until nothing is asked any more.
    """
    from deltamem_tui.memory.method import display_of, settings_of
    from deltamem_tui.memory.runs.learning import candidates, view_learning
    from deltamem_tui.memory.settings import assigned

    opened = invocation.open(bank, write=not model.dry_run)
    policy = assigned(settings_of(opened), f"admission={admit}").admission if admit else None
    alone = extractor is None and concurrency == 1
    rounds = _batch_of(invocation, opened, batch, answers, model, alone=alone)
    caller = rounds.batch if rounds else None
    manifest = opened.manifest
    chosen = extractor_for(invocation, manifest.domain, [manifest.method], extractor, model, caller)
    opened.require_writable()
    found = candidates(opened, policy, limit)
    how: dict[str, Any] = {"concurrency": concurrency, "dry_run": model.dry_run}
    with interruptible() as stop:
        done = _learn(invocation, opened, found.episodes, chosen, rounds, **how, stop=stop)
    failed = [done.failure] if isinstance(done.failure, DeltaMemError) else []
    errors = _problems(invocation, rounds, [*found.broken, *done.refusals, *failed])
    if isinstance(done.failure, KeyboardInterrupt) or (stop() and not errors):
        hint = "what was learnt before stays; run it again"
        errors.append(InterruptionError("interrupted", hint=hint))
    status = Result.verdict(len(done.lessons) + (rounds.worked if rounds else 0), errors)
    if status == "error" and not (done.usage.calls or rounds):
        return Result("extract", None, errors, status)
    view = view_learning(
        done,
        episodes=len(found.episodes),
        waiting=len(opened.episodes.waiting()),
        not_admitted=found.not_admitted,
        dry_run=model.dry_run,
        titles={name: display_of(opened, name).title for name in opened.trees},
    )
    return Result.of_view("extract", rounds.shown(view) if rounds else view, errors, status)


def _learn(
    invocation: Invocation,
    bank: Bank,
    episodes: Sequence[Trajectory],
    extractor: Writer,
    rounds: BatchRound | None,
    *,
    concurrency: int,
    dry_run: bool,
    stop: Interruption,
) -> LearningReport:
    """Learn from episodes, estimate that, or learn what a batch answered and note what it lacks."""
    from deltamem_tui.memory.reports.view import cost_text
    from deltamem_tui.memory.runs.learning import LearningReport, learn_episodes
    from deltamem_tui.memory.runs.questions import estimate_learning, learn_round
    from deltamem_tui.memory.vectors.search import embedder_of
    from deltamem_tui.memory.writers.model import ModelExtractor

    label = "estimating" if dry_run else "learning"
    with invocation.output.progress(label, len(episodes)) as advance:

        def show(usage: Usage) -> None:
            advance(label=f"{label}, {cost_text(usage)}" if usage.calls else label)

        if not isinstance(extractor, ModelExtractor) and dry_run:
            return LearningReport()  # the rules cost nothing
        if isinstance(extractor, ModelExtractor) and dry_run:
            how = dict[str, Any](advance=advance, stopped=stop)
            usage = estimate_learning(bank, episodes, extractor, embedder_of(bank), **how)
            return LearningReport(usage=usage)
        if isinstance(extractor, ModelExtractor) and rounds:
            batch = rounds.batch
            done, asked = learn_round(bank, episodes, extractor, batch, advance=show, stopped=stop)
            if not (stop() or done.failure):
                rounds.write(asked)
            return done
        return learn_episodes(
            bank, extractor, episodes, concurrency=concurrency, advance=show, stopped=stop
        )


def judge(
    invocation: Invocation,
    bank: options.Bank,
    limit: options.Limit = None,
    concurrency: options.Concurrency = 1,
    *,
    model: ModelOptions,
) -> Result:
    """Let a model judge the episodes whose logs state no outcome.

    What a log states or you gave stays. Every judgement is committed by itself, so an interrupted
    run goes on where it stopped. Only an admission other than the usual `strict` learns from judged
    episodes, such as `extract --admit all`.
    """
    from deltamem_tui.memory.runs import judging
    from deltamem_tui.memory.writers.model import Judge

    folders = checked_prompts(invocation, model.prompts)
    opened = invocation.open(bank, write=not model.dry_run)
    judge = Judge(model_client(invocation, model), opened.manifest.domain, folders)
    ids = judging.without_outcome(opened, limit)
    if model.dry_run:
        with invocation.output.progress("counting", len(ids)) as advance:
            found = judging.estimate_judging(opened, judge, ids, advance)
        return Result.of_view("judge", judging.view_judging(found, bank))
    with interruptible() as stop, invocation.output.progress("judging", len(ids)) as advance:
        how: dict[str, Any] = {"concurrency": concurrency, "advance": advance, "stopped": stop}
        done = judging.judge_episodes(opened, judge, ids, **how)
    errors = _problems(invocation, None, done.errors)
    if done.interrupted or (stop() and not errors):
        errors.append(InterruptionError("interrupted", hint="what was judged before stays"))
    view = judging.view_judging(done, bank)
    return Result.of_view("judge", view, errors, Result.verdict(len(done.judged), errors))


def consolidate(
    invocation: Invocation,
    bank: options.Bank,
    extractor: options.Extractor = None,
    concurrency: options.Concurrency = 1,
    *,
    model: ModelOptions,
) -> Result:
    """Run a bank's pending maintenance: merge often-used chains."""
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.engine import due
    from deltamem_tui.memory.runs.learning import LearningRun
    from deltamem_tui.memory.writers.model import ModelExtractor

    opened = invocation.open(bank, write=not model.dry_run)
    if not due(opened):  # then it does not matter who would write
        return _fusions([], 0, [], Usage())
    manifest = opened.manifest
    chosen = extractor_for(invocation, manifest.domain, [manifest.method], extractor, model)
    if model.dry_run:
        rows = [_row(each.collection, each.nodes[-1].id, "due") for each in due(opened)]
        return _fusions(rows, 0, [], Usage())
    rows, errors, done = [], list[DeltaMemError](), 0
    with interruptible() as stop:
        try:
            with LearningRun(opened, chosen, concurrency=concurrency, stopped=stop) as run:
                for found in run.consolidate():
                    node, root = found.chain[-1].id, found.root.id if found.root else None
                    rows.append(_row(found.collection, node, found.reason, root))
                    done += found.done
                    if not found.done:
                        errors.append(ExtractionError(found.reason, source=node))
        except DeltaMemError as error:
            invocation.output.trace(error)
            errors.append(error)
        except KeyboardInterrupt:
            errors.append(InterruptionError("interrupted", hint="what was done before stays"))
    if stop() and not errors:
        errors.append(InterruptionError("interrupted", hint="what was done before stays"))
    usage = chosen.usage if isinstance(chosen, ModelExtractor) else Usage()
    return _fusions(rows, done, errors, usage)


def _row(tree: str, node: str, reason: str, root: str | None = None) -> dict[str, str | None]:
    return {"tree": tree, "node": node, "root": root, "reason": reason}


def _fusions(
    found: list[dict[str, Any]], done: int, errors: list[DeltaMemError], usage: Usage
) -> Result:
    from deltamem_tui.memory.reports.view import usage_facts

    def view(page: Page) -> None:
        if found:
            page.table(("in", "node", "became", "why"), [tuple(each.values()) for each in found])
        if usage.calls or usage.cached:
            page.facts(usage_facts(usage))

    notes = () if found or errors else ("nothing is due",)
    data = {"consolidated": done, "chains": found, "usage": asdict(usage)}
    status = Result.verdict(done, errors)
    return Result("consolidate", data, errors, status, view=view, notes=notes)
