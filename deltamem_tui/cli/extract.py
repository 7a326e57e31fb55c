"""`deltamem extract`: waiting episodes to nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.extracted import Found, counts, facts, notes, without_scene
from deltamem_tui.cli.extractors import Wanted, chosen_extractor
from deltamem_tui.cli.interruption import Interruption, interruptible
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.model_client import dollars, usage_facts, usage_record
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import InterruptionError, Result
from deltamem_tui.errors import DeltaMemError, UsageError

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.deltamem.learn_result import Lesson
    from deltamem_tui.memory.runs.run import LearningRun
    from deltamem_tui.memory.writers.extraction import Extractor
    from deltamem_tui.memory.writers.model import SceneDrawer
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
) -> Result:
    """Learn from the episodes that wait, in the order of their import.

    Every episode is committed by itself: what was learnt before an interruption stays, and the
    same command goes on from there. What a model answered is kept, so nothing is paid twice.
    With --concurrency, what is learnt is the same; a few calls may be made in vain.

    Knowledge is found by the scene it is about. Many logs have none, because their task tells
    the surroundings and the goal in one text: then the env tree learns nothing, unless
    --draw-scenes has the model copy the surroundings out of the task.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.episodes.stored_episodes import waiting
    from deltamem_tui.memory.policies.admission import admitted_by, policy_named

    invocation = Invocation.of(context)
    policy = policy_named(admit)
    opened = Bank.open(invocation.bank(bank) if dry_run else invocation.writable_bank(bank))
    wanted = Wanted(extractor, model, api_base, max_cost, no_cache, prompts, dry_run, timeout)
    chosen = chosen_extractor(invocation, opened, wanted)
    drawer = _drawer(chosen) if draw_scenes else None
    opened.require_writable()
    known = [trajectory for trajectory in waiting(opened) if trajectory.outcome.known]
    admitted = [each for each in known if admitted_by(policy, each.outcome)]
    ready = admitted[:limit]
    with interruptible() as interruption:
        if dry_run:
            found = _rehearsed(invocation, opened, ready, chosen, drawer, interruption)
        else:
            found = _learnt(invocation, opened, ready, chosen, drawer, concurrency, interruption)
    if interruption and not found.errors:
        found.errors.append(
            InterruptionError("interrupted", hint="what was learnt before stays; run it again")
        )
    status = Result.verdict(len(found.lessons), found.errors)
    if status == "error" and not found.usage.calls and not found.recovered.calls:
        return Result("extract", None, tuple(found.errors), status)
    lacking = without_scene(opened, ready, chosen)
    data = {
        **counts(found.lessons),
        "would_learn": len(ready) if dry_run else 0,
        "waiting": len(opened.episodes.waiting()),
        "not_admitted": len(known) - len(admitted),
        "usage": usage_record(found.usage),
        "wasted": usage_record(found.wasted),
        "recovered": usage_record(found.recovered),
        "scenes_drawn": found.scenes,
        "would_draw": lacking if dry_run and drawer else 0,
        "without_scene": 0 if drawer else lacking,
        "on_their_way": found.on_their_way,
    }
    asking = bool(found.usage.calls or found.usage.cached)

    def view(page: Page) -> None:
        page.facts(facts(data, dry_run=dry_run))
        if asking:
            page.facts(usage_facts(found.usage))

    said = notes(ready, data, found, dry_run=dry_run)
    return Result("extract", data, tuple(found.errors), status, view=view, notes=said)


def _drawer(extractor: Extractor) -> SceneDrawer:
    """What draws the scenes, checked as far as that is possible without a call.

    Raises:
        UsageError: No model was named that could.
        ConfigurationError: The prompt cannot be used.
    """
    from deltamem_tui.memory.writers.model import ModelExtractor

    if not isinstance(extractor, ModelExtractor):
        raise UsageError(
            "`--draw-scenes` does not go with `--extractor rules`",
            hint="the rules ask no model; name one with `--model`",
        )
    drawer = extractor.drawer()
    drawer.check()
    return drawer


def _rehearsed(
    invocation: Invocation,
    bank: Bank,
    ready: Sequence[Trajectory],
    extractor: Extractor,
    drawer: SceneDrawer | None,
    interruption: Interruption,
) -> Found:
    """What the run will take. Nothing is sent, and the rules cost nothing."""
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.writers.model import ModelExtractor

    if not isinstance(extractor, ModelExtractor):
        return Found(Usage(), Usage(), Usage())
    from deltamem_tui.memory.runs.estimate import rehearse
    from deltamem_tui.memory.vectors.embedder import embedder_of

    with invocation.output.progress("rehearsing", len(ready)) as advance:
        usage = rehearse(
            bank,
            ready,
            extractor,
            embedder_of(bank),
            drawer=drawer,
            advance=advance,
            stopped=interruption,
        )
    return Found(usage, Usage(), Usage())


def _learnt(
    invocation: Invocation,
    bank: Bank,
    ready: Sequence[Trajectory],
    extractor: Extractor,
    drawer: SceneDrawer | None,
    concurrency: int,
    interruption: Interruption,
) -> Found:
    from deltamem_tui.llm.cost import Usage

    if not ready:
        return Found(Usage(), Usage(), Usage())
    from deltamem_tui.memory.runs.run import LearningRun

    found = Found(Usage(), Usage(), Usage())
    learning = LearningRun(
        bank, extractor, drawer=drawer, concurrency=concurrency, stopped=interruption
    )
    with (
        _closed_in_the_end(invocation, learning, interruption),
        invocation.output.progress("learning", len(ready)) as advance,
    ):
        for each in _lessons(learning, ready):
            if isinstance(each, DeltaMemError):
                invocation.output.trace(each)
                found.errors.append(each)
            else:
                found.lessons.append(each)
            advance(label=_label(learning.usage))
    found.usage, found.wasted = learning.usage, learning.wasted
    found.recovered, found.scenes = learning.recovered, learning.scenes_drawn
    found.on_their_way = learning.on_their_way
    return found


@contextmanager
def _closed_in_the_end(
    invocation: Invocation, learning: LearningRun, interruption: Interruption
) -> Iterator[None]:
    """Close the run. Another Ctrl+C ends the wait for calls that are on their way."""
    try:
        yield
    finally:
        if interruption and learning.on_their_way:
            invocation.output.note("waiting a moment for answers; Ctrl+C again leaves them")
        with suppress(KeyboardInterrupt):
            learning.close()


def _lessons(
    learning: LearningRun, ready: Sequence[Trajectory]
) -> Iterator[Lesson | DeltaMemError]:
    """Each episode's lesson, or why there is none.

    What is wrong with one episode stops none of the others. What would be wrong with all of
    them, like a full disk or a refused key, is the last thing told, and so is Ctrl+C.
    """
    from deltamem_tui.memory.runs.run import Refusal

    try:
        for outcome in learning.learn(ready):
            if isinstance(outcome, Refusal):
                outcome.error.source = outcome.trajectory
                yield outcome.error
            else:
                yield outcome
    except DeltaMemError as error:
        yield error
    except KeyboardInterrupt:
        yield InterruptionError("interrupted", hint="what was learnt before stays")


def _label(usage: Usage) -> str:
    if not usage.calls:
        return "learning"
    return f"learning, {dollars(usage)}"
