"""`deltamem extract`: waiting episodes to nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.batches import Answers, BatchRound, Requests, batch_round
from deltamem_tui.cli.interruption import Interruption, interruptible
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.models import ModelOptions, chosen_extractor
from deltamem_tui.cli.result import InterruptionError, Result
from deltamem_tui.errors import DeltaMemError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.runs.learning import LearningReport
    from deltamem_tui.memory.writers.writer import Writer
    from deltamem_tui.trajectory.model import Trajectory

Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, help="Learn at most N episodes.")
]

DrawScenes = Annotated[
    bool,
    typer.Option(
        "--draw-scenes",
        help="Where a log has no scene, have the model draw it out of the task first: a call more.",
    ),
]


def run(
    context: typer.Context,
    bank: options.Bank,
    extractor: options.Extractor = None,
    model: options.Model = None,
    limit: Limit = None,
    admit: options.Admit = None,
    dry_run: options.DryRun = False,
    api_base: options.ApiBase = None,
    concurrency: options.Concurrency = 1,
    max_cost: options.MaxCost = None,
    no_cache: options.NoCache = False,
    prompts: options.Prompts = None,
    timeout: options.Timeout = None,
    draw_scenes: DrawScenes = False,
    batch: Requests = None,
    answers: Answers = None,
) -> Result:
    """Learn from the episodes that wait, in the order of their import.

    Every episode is committed by itself: what was learnt before an interruption stays, and the
    same command goes on from there. What a model answered is kept, so nothing is paid twice.
    With --concurrency, what is learnt is the same; a few calls may go unused.

    What a method knows of places it finds by the scene. Many logs have none, because their task
    describes surroundings and goal in one text: then nothing is learnt of places, unless
    --draw-scenes has the model copy the surroundings out of the task.

    With --batch nothing is asked: what would be asked is written down for a batch service. Run it
    again with --answers, until nothing is asked any more. Answers to questions that changed
    meanwhile go unused.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.methods import display_of
    from deltamem_tui.memory.policies.admission import policy_named
    from deltamem_tui.memory.reports.runs import view_learning
    from deltamem_tui.memory.runs.learning import candidates, without_scene

    invocation = Invocation.of(context)
    policy = policy_named(admit) if admit else None
    opened = Bank.open(invocation.bank(bank) if dry_run else invocation.writable_bank(bank))
    unlike = {"--extractor": extractor, "--dry-run": dry_run, "--max-cost": max_cost}
    unlike |= {"--no-cache": no_cache, "--concurrency": concurrency > 1}
    rounds = batch_round(invocation, opened, model, batch, answers, unlike)
    wanted = ModelOptions(
        model,
        api_base,
        max_cost,
        no_cache,
        prompts,
        dry_run,
        timeout,
        rounds.batch if rounds else None,
    )
    chosen = chosen_extractor(invocation, opened, extractor, wanted)
    if draw_scenes:
        _check_scene_prompt(chosen)
    opened.require_writable()
    found = candidates(opened, policy, limit)
    episodes = found.episodes
    taken = rounds.take(invocation, opened) if rounds else None
    asked = 0
    with interruptible() as stop:
        if dry_run:
            done = _estimated(invocation, opened, episodes, chosen, draw_scenes, stop)
        elif rounds:
            done, asked = _round(invocation, opened, episodes, chosen, draw_scenes, rounds, stop)
        else:
            done = _learnt(invocation, opened, episodes, chosen, draw_scenes, concurrency, stop)
    errors = [*(taken.errors if taken else ()), *found.broken, *done.refusals]
    if isinstance(done.failure, DeltaMemError):
        errors.append(done.failure)
    for error in errors:
        invocation.output.trace(error)
    if isinstance(done.failure, KeyboardInterrupt) or (stop and not errors):
        hint = "what was learnt before stays; run it again"
        errors.append(InterruptionError("interrupted", hint=hint))
    status = Result.verdict(len(done.lessons) + asked + (taken.taken if taken else 0), errors)
    if status == "error" and not (done.usage.calls or rounds):
        return Result("extract", None, errors, status)
    view = view_learning(
        done,
        episodes=len(episodes),
        waiting=len(opened.episodes.waiting()),
        not_admitted=found.not_admitted,
        without_scene=without_scene(opened, episodes, chosen),
        draws=draw_scenes,
        dry_run=dry_run,
        titles={name: display_of(opened, name).title for name in opened.trees},
    )
    if rounds and taken:
        from deltamem_tui.memory.reports.runs import with_batch

        view = with_batch(view, rounds.path, asked, taken)
    return Result.of_view("extract", view, errors, status)


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


def _estimated(
    invocation: Invocation,
    bank: Bank,
    episodes: Sequence[Trajectory],
    extractor: Writer,
    draw_scenes: bool,
    stopped: Interruption,
) -> LearningReport:
    """Return what the run will take. Nothing is sent, and the rules cost nothing."""
    from deltamem_tui.memory.runs.learning import LearningReport
    from deltamem_tui.memory.writers.model import ModelExtractor

    if not isinstance(extractor, ModelExtractor):
        return LearningReport()
    from deltamem_tui.memory.runs.estimate import estimate_learning
    from deltamem_tui.memory.vectors.embedder import embedder_of

    with invocation.output.progress("estimating", len(episodes)) as advance:
        usage = estimate_learning(
            bank,
            episodes,
            extractor,
            embedder_of(bank),
            draw_scenes=draw_scenes,
            advance=advance,
            stopped=stopped,
        )
    return LearningReport(usage=usage)


def _round(
    invocation: Invocation,
    bank: Bank,
    episodes: Sequence[Trajectory],
    extractor: Writer,
    draw_scenes: bool,
    rounds: BatchRound,
    stopped: Interruption,
) -> tuple[LearningReport, int]:
    """Learn what is answered, and write down what else is asked; how many questions these are."""
    from deltamem_tui.memory.runs.batches import learn_round
    from deltamem_tui.memory.runs.learning import LearningReport
    from deltamem_tui.memory.writers.model import ModelExtractor

    if not isinstance(extractor, ModelExtractor):
        return LearningReport(), 0
    with invocation.output.progress("learning", len(episodes)) as advance:
        done, asked = learn_round(
            bank,
            episodes,
            extractor,
            rounds.batch,
            draw_scenes=draw_scenes,
            advance=lambda _: advance(),
            stopped=stopped,
        )
    if not (stopped or done.failure):
        rounds.write(asked)
    return done, len(asked)


def _learnt(
    invocation: Invocation,
    bank: Bank,
    episodes: Sequence[Trajectory],
    extractor: Writer,
    draw_scenes: bool,
    concurrency: int,
    stopped: Interruption,
) -> LearningReport:
    from deltamem_tui.memory.reports.view import cost_text
    from deltamem_tui.memory.runs.learning import learn_episodes

    def closing(_: int) -> None:
        if stopped:
            invocation.output.note("waiting a moment for answers; Ctrl+C again gives them up")

    with invocation.output.progress("learning", len(episodes)) as advance:

        def show(usage: Usage) -> None:
            advance(label=f"learning, {cost_text(usage)}" if usage.calls else "learning")

        return learn_episodes(
            bank,
            extractor,
            episodes,
            draw_scenes=draw_scenes,
            concurrency=concurrency,
            advance=show,
            stopped=stopped,
            closing=closing,
        )
