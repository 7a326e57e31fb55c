"""`deltamem extract`: waiting episodes to nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.extractors import Wanted, chosen_extractor
from deltamem_tui.cli.interruption import Interruption, interruptible
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.model_client import usage_facts, usage_record
from deltamem_tui.cli.output import InterruptionError, Result
from deltamem_tui.cli.page import Page
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.text import counted

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.extraction import Extractor
    from deltamem_tui.memory.lesson import Lesson
    from deltamem_tui.memory.runs.run import LearningRun
    from deltamem_tui.trajectory.model import Trajectory

Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, help="Learn at most N episodes.")
]


@dataclass(slots=True)
class _Found:
    """What a run came to."""

    usage: Usage
    wasted: Usage
    on_their_way: int = 0
    lessons: list[Lesson] = field(default_factory=list)
    errors: list[DeltaMemError] = field(default_factory=list)


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
) -> Result:
    """Learn from the episodes that wait, in the order of their import.

    Every episode is committed by itself: what was learnt before an interruption stays, and the
    same command goes on from there. What a model answered is kept, so nothing is paid twice.
    With --concurrency, what is learnt is the same; a few calls may be made in vain.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.episodes.admission import admitted_by, policy_named
    from deltamem_tui.memory.episodes.intake import waiting

    invocation = Invocation.of(context)
    policy = policy_named(admit)
    opened = Bank.open(invocation.bank(bank) if dry_run else invocation.writable_bank(bank))
    wanted = Wanted(extractor, model, api_base, max_cost, no_cache, prompts, dry_run)
    chosen = chosen_extractor(invocation, opened, wanted)
    opened.require_writable()
    known = [trajectory for trajectory in waiting(opened) if trajectory.outcome.known]
    admitted = [each for each in known if admitted_by(policy, each.outcome)]
    ready = admitted[:limit]
    with interruptible() as interruption:
        if dry_run:
            found = _rehearsed(invocation, opened, ready, chosen, interruption)
        else:
            found = _learnt(invocation, opened, ready, chosen, concurrency, interruption)
    if interruption and not found.errors:
        found.errors.append(
            InterruptionError("interrupted", hint="what was learnt before stays; run it again")
        )
    status = Result.verdict(len(found.lessons), found.errors)
    if status == "error" and not found.usage.calls:
        return Result("extract", None, tuple(found.errors), status)
    data = {
        **counts(found.lessons),
        "would_learn": len(ready) if dry_run else 0,
        "waiting": len(opened.episodes.waiting()),
        "not_admitted": len(known) - len(admitted),
        "usage": usage_record(found.usage),
        "wasted": usage_record(found.wasted),
        "on_their_way": found.on_their_way,
    }
    asking = bool(found.usage.calls or found.usage.cached)

    def view(page: Page) -> None:
        page.facts(facts(data, dry_run=dry_run))
        if asking:
            page.facts(usage_facts(found.usage))

    notes = _notes(ready, data, found, dry_run=dry_run)
    return Result("extract", data, tuple(found.errors), status, view=view, notes=notes)


def _rehearsed(
    invocation: Invocation,
    bank: Bank,
    ready: Sequence[Trajectory],
    extractor: Extractor,
    interruption: Interruption,
) -> _Found:
    """What the run will take. Nothing is sent, and the rules cost nothing."""
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.model import ModelExtractor

    if not isinstance(extractor, ModelExtractor):
        return _Found(Usage(), Usage())
    from deltamem_tui.memory.runs.rehearsal import rehearse
    from deltamem_tui.memory.vectors.embedder import embedder_of

    with invocation.output.progress("rehearsing", len(ready)) as advance:
        usage = rehearse(
            bank, ready, extractor, embedder_of(bank), advance=advance, stopped=interruption
        )
    return _Found(usage, Usage())


def _learnt(
    invocation: Invocation,
    bank: Bank,
    ready: Sequence[Trajectory],
    extractor: Extractor,
    concurrency: int,
    interruption: Interruption,
) -> _Found:
    from deltamem_tui.llm.cost import Usage

    if not ready:
        return _Found(Usage(), Usage())
    from deltamem_tui.memory.runs.run import LearningRun

    found = _Found(Usage(), Usage())
    learning = LearningRun(bank, extractor, concurrency=concurrency, stopped=interruption)
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
    return f"learning, {_dollars(usage)}"


def _bill(usage: Usage) -> str:
    tokens = usage.prompt_tokens + usage.completion_tokens
    return f"{tokens:,} tokens, {_dollars(usage)}"


def _dollars(usage: Usage) -> str:
    return "cost unknown" if usage.cost is None else f"${usage.cost:.4f}"


def counts(lessons: Sequence[Lesson]) -> dict[str, Any]:
    """What the lessons came to. An episode that another process learnt first is not of this run."""
    nodes = Counter({"task": 0, "env": 0})
    consolidated = skipped = 0
    for lesson in lessons:
        written = [name for name, taught in lesson.trees.items() if taught.node]
        nodes.update(written)
        skipped += lesson.new and not written
        consolidated += sum(taught.consolidated is not None for taught in lesson.trees.values())
    return {
        "learned": sum(lesson.new for lesson in lessons),
        "skipped": skipped,
        "learned_elsewhere": sum(not lesson.new for lesson in lessons),
        "nodes_written": dict(nodes),
        "consolidated": consolidated,
    }


def facts(data: dict[str, Any], *, dry_run: bool) -> dict[str, Any]:
    """The same for a person."""
    if dry_run:
        return {"would learn": data["would_learn"], "waiting": data["waiting"]}
    elsewhere = data["learned_elsewhere"]
    return {
        "episodes learnt": data["learned"],
        "of these, nothing new to write": data["skipped"],
        **({"learnt by another process meanwhile": elsewhere} if elsewhere else {}),
        "waiting": data["waiting"],
        **{f"new {tree} nodes": count for tree, count in data["nodes_written"].items()},
        "consolidated": data["consolidated"],
    }


def _notes(
    ready: Sequence[Trajectory], data: dict[str, Any], found: _Found, *, dry_run: bool
) -> list[str]:
    notes = []
    if not ready:
        notes.append("no episode with a known outcome waits; `deltamem import` brings some")
    if data["not_admitted"]:
        notes.append(
            f"{counted(data['not_admitted'], 'episode waits', 'episodes wait')} because of who "
            "says how it ended; see `--admit`"
        )
    if found.wasted.calls > 0:
        yet = " yet" if found.errors else ""
        notes.append(f"{found.wasted.calls} of the calls were not used{yet}: {_bill(found.wasted)}")
    if found.on_their_way:
        notes.append(
            f"{found.on_their_way} calls were still on their way; they may be paid for, and are "
            "not in these numbers"
        )
    if dry_run and ready and (found.usage.calls or found.usage.cached):
        notes.append("nothing was sent or written: calls, tokens and cost are an estimate")
    elif dry_run and ready:
        notes.append("nothing was written; the rules ask no model and cost nothing")
    return notes
