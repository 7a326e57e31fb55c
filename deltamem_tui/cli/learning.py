"""Commands that learn from episodes: extract, judge, and what a method does between episodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Interruption, Invocation, interruptible
from deltamem_tui.cli.models import checked_prompts, chosen_model, extractor_for, model_client
from deltamem_tui.cli.options import ModelOptions, flag, option, spread
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import InterruptionError, Result
from deltamem_tui.errors import BudgetError, DeltaMemError, ExtractionError, UsageError

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.llm.cache import BatchCaller
    from deltamem_tui.llm.call import ChatRequest
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.plan import MaintenanceResult
    from deltamem_tui.memory.reports.view import ReportView
    from deltamem_tui.memory.runs.batches import AnswersReport
    from deltamem_tui.memory.runs.learning import LearningReport
    from deltamem_tui.memory.writers.extraction import Payment
    from deltamem_tui.memory.writers.writer import Writer
    from deltamem_tui.trajectory.model import Trajectory

DrawScenes = Annotated[
    bool,
    flag(
        "--draw-scenes",
        "Where a log has no scene, have the model draw it out of the task first: a call more.",
    ),
]
Requests = Annotated[
    Path | None,
    option(
        "--batch",
        "FILE",
        "Ask nothing: write what would be asked as requests for a batch service or vLLM.",
    ),
]
Answers = Annotated[
    list[Path] | None,
    option("--answers", "FILE", "With --batch: take these results of a batch first."),
]


@dataclass(slots=True)
class BatchRound:
    """A round of a batch: answers that came back are taken, further questions written down."""

    path: Path
    answers: Sequence[Path]
    batch: BatchCaller
    asked: int = 0
    taken: AnswersReport | None = None

    @classmethod
    def of(
        cls,
        invocation: Invocation,
        bank: Bank,
        path: Path | None,
        answers: Sequence[Path] | None,
        model: ModelOptions,
        others: Mapping[str, object],
    ) -> BatchRound | None:
        """Return the round that was asked for; None if none was."""
        if path is None:
            if answers:
                hint = "`--batch FILE` says where what is asked next goes"
                raise UsageError("`--answers` goes with `--batch` only", hint=hint)
            return None
        others = {
            "--dry-run": model.dry_run,
            "--max-cost": model.max_cost,
            "--no-cache": model.no_cache,
            **others,
        }
        if option := next((name for name, value in others.items() if value), ""):
            what = f"`{option}` does not go with `--batch`"
            raise UsageError(what, hint="nothing is asked in a batch's round")
        from deltamem_tui.llm.cache import BatchCaller, ResponseCache
        from deltamem_tui.llm.models import look_up

        found = look_up(chosen_model(invocation, model.model))
        batch = BatchCaller(found, ResponseCache(), bank.manifest.counts_as)
        return cls(path, answers or (), batch)

    def take(self, invocation: Invocation, bank: Bank) -> None:
        """Take the answers that came back."""
        from deltamem_tui.memory.runs.batches import take_answers

        with invocation.output.progress("taking answers") as advance:
            self.taken = take_answers(bank, self.batch, self.answers, advance)

    def write(self, asked: Sequence[tuple[ChatRequest, Payment]]) -> None:
        """Write the requests; an empty file if nothing is asked any more."""
        from deltamem_tui.memory.runs.batches import write_requests

        self.asked = len(asked)
        write_requests(self.path, self.batch, asked)

    def shown(self, view: ReportView) -> ReportView:
        """Return a report with what the round came to."""
        from deltamem_tui.memory.reports.runs import with_batch

        return with_batch(view, self.path, self.asked, self.taken) if self.taken else view


@spread
def extract(
    context: typer.Context,
    bank: options.Bank,
    extractor: options.Extractor = None,
    limit: options.Limit = None,
    admit: options.Admit = None,
    concurrency: options.Concurrency = 1,
    draw_scenes: DrawScenes = False,
    batch: Requests = None,
    answers: Answers = None,
    *,
    model: ModelOptions,
) -> Result:
    """Learn from the episodes that wait, in the order of their import.

    Every episode is committed by itself: what was learnt before an interruption stays, and the
    same command goes on from there. What a model answered is kept, so nothing is paid twice.
    With --concurrency, what is learnt is the same; a few calls may go unused.

    Places are found by the scene. Logs whose task describes surroundings and goal in one text
    have none: --draw-scenes has the model copy the surroundings out of the task.

    With --batch nothing is asked: the questions are written down for a batch service. Run it
    again with --answers, until nothing is asked any more.
    """
    from deltamem_tui.memory.methods import display_of
    from deltamem_tui.memory.policies.admission import policy_named
    from deltamem_tui.memory.reports.runs import view_learning
    from deltamem_tui.memory.runs.learning import candidates, without_scene

    invocation, dry_run = Invocation.of(context), model.dry_run
    policy = policy_named(admit) if admit else None
    opened = invocation.open(bank, write=not dry_run)
    others = {"--extractor": extractor, "--concurrency": concurrency > 1}
    rounds = BatchRound.of(invocation, opened, batch, answers, model, others)
    caller = rounds.batch if rounds else None
    manifest = opened.manifest
    chosen = extractor_for(invocation, manifest.domain, [manifest.method], extractor, model, caller)
    if draw_scenes:
        _check_scene_prompt(chosen)
    opened.require_writable()
    found = candidates(opened, policy, limit)
    if rounds:
        rounds.take(invocation, opened)
    with interruptible() as stop:
        run = _Learning(invocation, opened, found.episodes, chosen, draw_scenes, stop)
        done = (
            run.estimated() if dry_run else run.round(rounds) if rounds else run.done(concurrency)
        )
    taken = rounds.taken if rounds else None
    errors: list[DeltaMemError] = [
        *(taken.errors if taken else ()),
        *found.broken,
        *done.refusals,
    ]
    if isinstance(done.failure, DeltaMemError):
        errors.append(done.failure)
    for error in errors:
        invocation.output.trace(error)
    if isinstance(done.failure, KeyboardInterrupt) or (stop and not errors):
        hint = "what was learnt before stays; run it again"
        errors.append(InterruptionError("interrupted", hint=hint))
    worked = len(done.lessons) + (rounds.asked if rounds else 0) + (taken.taken if taken else 0)
    status = Result.verdict(worked, errors)
    if status == "error" and not (done.usage.calls or rounds):
        return Result("extract", None, errors, status)
    view = view_learning(
        done,
        episodes=len(found.episodes),
        waiting=len(opened.episodes.waiting()),
        not_admitted=found.not_admitted,
        without_scene=without_scene(opened, found.episodes, chosen),
        draws=draw_scenes,
        dry_run=dry_run,
        titles={name: display_of(opened, name).title for name in opened.trees},
    )
    return Result.of_view("extract", rounds.shown(view) if rounds else view, errors, status)


def _check_scene_prompt(extractor: Writer) -> None:
    """Check, as far as possible without a call, that scenes can be drawn."""
    from deltamem_tui.memory.prompts.use import SCENE
    from deltamem_tui.memory.writers.model import ModelExtractor

    if not isinstance(extractor, ModelExtractor):
        raise UsageError(
            "`--draw-scenes` does not go with `--extractor rules`",
            hint="the rules ask no model; name one with `--model`",
        )
    extractor.check((SCENE,))


@dataclass(frozen=True, slots=True)
class _Learning:
    """Learning from some episodes: estimated, done, or a round of a batch."""

    invocation: Invocation
    bank: Bank
    episodes: Sequence[Trajectory]
    extractor: Writer
    draw_scenes: bool
    stopped: Interruption

    def estimated(self) -> LearningReport:
        """Return what it will take. Nothing is sent, and the rules cost nothing."""
        from deltamem_tui.memory.runs.learning import LearningReport
        from deltamem_tui.memory.writers.model import ModelExtractor

        if not isinstance(self.extractor, ModelExtractor):
            return LearningReport()
        from deltamem_tui.memory.runs.estimate import estimate_learning
        from deltamem_tui.memory.vectors.embedder import embedder_of

        total = len(self.episodes)
        with self.invocation.output.progress("estimating", total) as advance:
            usage = estimate_learning(
                self.bank,
                self.episodes,
                self.extractor,
                embedder_of(self.bank),
                draw_scenes=self.draw_scenes,
                advance=advance,
                stopped=self.stopped,
            )
        return LearningReport(usage=usage)

    def round(self, rounds: BatchRound) -> LearningReport:
        """Learn what is answered, and write down what else is asked."""
        from deltamem_tui.memory.runs.batches import learn_round
        from deltamem_tui.memory.runs.learning import LearningReport
        from deltamem_tui.memory.writers.model import ModelExtractor

        if not isinstance(self.extractor, ModelExtractor):
            return LearningReport()
        with self.invocation.output.progress("learning", len(self.episodes)) as advance:
            done, asked = learn_round(
                self.bank,
                self.episodes,
                self.extractor,
                rounds.batch,
                draw_scenes=self.draw_scenes,
                advance=lambda _: advance(),
                stopped=self.stopped,
            )
        rounds.asked = len(asked)
        if not (self.stopped or done.failure):
            rounds.write(asked)
        return done

    def done(self, concurrency: int) -> LearningReport:
        """Learn from them all."""
        from deltamem_tui.memory.reports.view import cost_text
        from deltamem_tui.memory.runs.learning import learn_episodes

        def closing(_: int) -> None:
            if self.stopped:
                text = "waiting a moment for answers; Ctrl+C again gives them up"
                self.invocation.output.note(text)

        with self.invocation.output.progress("learning", len(self.episodes)) as advance:

            def show(usage: Usage) -> None:
                advance(label=f"learning, {cost_text(usage)}" if usage.calls else "learning")

            return learn_episodes(
                self.bank,
                self.extractor,
                self.episodes,
                draw_scenes=self.draw_scenes,
                concurrency=concurrency,
                advance=show,
                stopped=self.stopped,
                closing=closing,
            )


All = Annotated[
    bool,
    flag(
        "--all", "Judge also what log or person judged: it measures the judge, changes no outcome."
    ),
]


@spread
def judge(
    context: typer.Context,
    bank: options.Bank,
    limit: options.Limit = None,
    all: All = False,  # noqa: A002 - the word that people type
    concurrency: options.Concurrency = 1,
    batch: Requests = None,
    answers: Answers = None,
    *,
    model: ModelOptions,
) -> Result:
    """Let a model judge the episodes whose logs state no outcome.

    What a log states or you gave stays, and is judged only with `--all`. Every
    judgement is committed by itself, so an interrupted run goes on where it stopped. Only an
    admission other than the usual `strict` learns from judged episodes, such as `extract --admit
    all`. `--batch` and `--answers` are those of `extract`.
    """
    from deltamem_tui.memory.reports.runs import view_judging
    from deltamem_tui.memory.runs import judging
    from deltamem_tui.memory.writers.model import Judge

    invocation, dry_run = Invocation.of(context), model.dry_run
    folders = checked_prompts(invocation, model.prompts)
    opened = invocation.open(bank, write=not dry_run)
    if not dry_run:
        opened.require_writable()
    others = {"--concurrency": concurrency > 1}
    rounds = BatchRound.of(invocation, opened, batch, answers, model, others)
    client = model_client(invocation, model, rounds.batch if rounds else None)
    judge = Judge(client, opened.manifest.domain, folders)
    ids = (judging.without_judgement if all else judging.without_outcome)(opened, limit)
    if dry_run:
        with invocation.output.progress("counting", len(ids)) as advance:
            found = judging.estimate_judging(opened, judge, ids, advance)
        return Result.of_view("judge", view_judging(found, bank))
    if rounds:
        rounds.take(invocation, opened)
    with interruptible() as stop, invocation.output.progress("judging", len(ids)) as advance:
        done = judging.judge_episodes(
            opened,
            judge,
            ids,
            concurrency=concurrency,
            beside=all,
            advance=advance,
            stopped=stop,
        )
    taken = rounds.taken if rounds else None
    errors = [*(taken.errors if taken else ()), *done.errors]
    if rounds:
        from deltamem_tui.memory.runs.batches import judging_questions

        errors = [each for each in errors if not isinstance(each, BudgetError)]
        judged = {each.trajectory.id for each in done.judged}
        left = [each for each in ids if each not in judged]
        rounds.write(judging_questions(opened, judge, left, rounds.batch))
    for error in errors:
        invocation.output.trace(error)
    if done.interrupted or (stop and not errors):
        errors.append(InterruptionError("interrupted", hint="what was judged before stays"))
    worked = len(done.judged) + (rounds.asked if rounds else 0) + (taken.taken if taken else 0)
    view = view_judging(done, bank)
    status = Result.verdict(worked, errors)
    return Result.of_view("judge", rounds.shown(view) if rounds else view, errors, status)


@spread
def consolidate(
    context: typer.Context,
    bank: options.Bank,
    extractor: options.Extractor = None,
    concurrency: options.Concurrency = 1,
    *,
    model: ModelOptions,
) -> Result:
    """Run a bank's pending maintenance: merge often-used chains, refresh insights."""
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.engine import due
    from deltamem_tui.memory.runs.estimate import estimate_fusions
    from deltamem_tui.memory.writers.model import ModelExtractor
    from deltamem_tui.memory.writers.writer import ModelWriter

    invocation, dry_run = Invocation.of(context), model.dry_run
    opened = invocation.open(bank, write=not dry_run)
    if not dry_run:
        opened.require_writable()
    if not (extractor or model.model or due(opened)):  # then it does not matter who would write
        return _fusions([], 0, [], Usage())
    manifest = opened.manifest
    chosen = extractor_for(invocation, manifest.domain, [manifest.method], extractor, model)
    if dry_run:
        chains = due(opened)
        usage = Usage()
        if isinstance(chosen, ModelExtractor):
            usage = estimate_fusions(opened, chains, chosen)
        return _fusions([_row(e.collection, e.nodes[-1].id, "due") for e in chains], 0, [], usage)
    rows, errors, done = [], list[DeltaMemError](), 0
    with interruptible() as stop:
        for found in _fused(opened, chosen, concurrency, stop):
            if isinstance(found, DeltaMemError):
                invocation.output.trace(found)
                errors.append(found)
                continue
            node, root = found.chain[-1].id, found.root.id if found.root else None
            rows.append(_row(found.collection, node, found.reason, root))
            done += found.done
            if not found.done:
                errors.append(ExtractionError(found.reason, source=node))
    if stop and not errors:
        errors.append(InterruptionError("interrupted", hint="what was done before stays"))
    return _fusions(
        rows, done, errors, chosen.usage if isinstance(chosen, ModelWriter) else Usage()
    )


def _fused(
    bank: Bank, extractor: Writer, concurrency: int, stop: Interruption
) -> Iterator[MaintenanceResult | DeltaMemError]:
    """Yield each chain that was due; an error that ended the work comes last."""
    from deltamem_tui.memory.engine import due
    from deltamem_tui.memory.runs.learning import consolidate

    try:
        if due(bank):
            yield from consolidate(bank, extractor, concurrency=concurrency, stopped=stop)
    except DeltaMemError as error:
        yield error
    except KeyboardInterrupt:
        yield InterruptionError("interrupted", hint="what was done before stays")


def _row(tree: str, node: str, reason: str, root: str | None = None) -> dict[str, str | None]:
    return {"tree": tree, "node": node, "root": root, "reason": reason}


def _fusions(
    found: list[dict[str, Any]], done: int, errors: list[DeltaMemError], usage: Usage
) -> Result:
    from deltamem_tui.memory.reports.view import usage_facts

    def view(page: Page) -> None:
        if found:
            rows = [tuple(each.values()) for each in found]
            page.table(("in", "node", "became", "why"), rows)
        if usage.calls or usage.cached:
            page.facts(usage_facts(usage))

    status = Result.verdict(done, errors)
    notes = () if found or errors else ("nothing is due",)
    data = {"consolidated": done, "chains": found, "usage": asdict(usage)}
    return Result("consolidate", data, errors, status, view=view, notes=notes)
