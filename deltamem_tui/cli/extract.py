"""`deltamem extract`: waiting episodes to nodes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.output import Result
from deltamem_tui.cli.page import Page

if TYPE_CHECKING:
    from deltamem_tui.memory.learn import Lesson

Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, help="Learn at most N episodes.")
]

_NO_USAGE = {"calls": 0, "cached": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost": 0.0}


def run(
    context: typer.Context,
    bank: options.Bank,
    extractor: options.Extractor = None,
    limit: Limit = None,
    dry_run: options.DryRun = False,
) -> Result:
    """Learn from the episodes that wait, in the order of their import.

    Every episode is committed by itself: what was learnt before an interruption stays.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.errors import BankFrozenError, DeltaMemError, ExtractionError
    from deltamem_tui.memory.intake import waiting
    from deltamem_tui.memory.learn import learn
    from deltamem_tui.memory.recall import embedder_of

    invocation = Invocation.of(context)
    chosen = options.extractor_named(extractor)
    opened = Bank.open(invocation.bank(bank))
    if opened.frozen:
        raise BankFrozenError(
            "the bank is frozen", source=str(opened.path), hint="`deltamem unfreeze` allows writing"
        )
    ready = [trajectory for trajectory in waiting(opened) if trajectory.outcome.known][:limit]
    lessons: list[Lesson] = []
    errors: list[DeltaMemError] = []
    if ready and not dry_run:
        embedder = embedder_of(opened)
        with invocation.output.progress("learning", len(ready)) as advance:
            for trajectory in ready:
                try:
                    lessons.append(learn(opened, trajectory, chosen, embedder=embedder))
                except ExtractionError as error:
                    errors.append(
                        ExtractionError(error.message, source=trajectory.id, hint=error.hint)
                    )
                advance()
    data = {
        **_counts(lessons),
        "would_learn": len(ready) if dry_run else 0,
        "waiting": len(opened.episodes.waiting()),
        "usage": _NO_USAGE,
    }

    def view(page: Page) -> None:
        nodes = data["nodes_written"]
        page.facts(
            {
                "learned": data["learned"],
                "skipped": data["skipped"],
                "waiting": data["waiting"],
                **{f"new {tree} nodes": count for tree, count in nodes.items()},
                "consolidated": data["consolidated"],
                **({"would learn": data["would_learn"]} if dry_run else {}),
            }
        )

    notes = []
    if not ready:
        notes.append("no episode with a known outcome waits; `deltamem import` brings some")
    status = Result.verdict(len(lessons), errors)
    return Result("extract", data, tuple(errors), status, view=view, notes=notes)


def _counts(lessons: list[Lesson]) -> dict[str, Any]:
    nodes = Counter({"task": 0, "env": 0})
    consolidated = skipped = 0
    for lesson in lessons:
        written = [name for name, taught in lesson.trees.items() if taught.node]
        nodes.update(written)
        skipped += not written
        consolidated += sum(taught.consolidated is not None for taught in lesson.trees.values())
    return {
        "learned": sum(lesson.new for lesson in lessons),
        "skipped": skipped,
        "nodes_written": dict(nodes),
        "consolidated": consolidated,
    }
