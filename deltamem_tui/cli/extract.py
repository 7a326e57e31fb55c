"""`deltamem extract`: waiting episodes to nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.output import InterruptionError, Result
from deltamem_tui.cli.page import Page
from deltamem_tui.errors import DeltaMemError, ExtractionError, TrajectoryError, VectorError

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.embedding.protocol import Embedder
    from deltamem_tui.memory.extraction import Extractor
    from deltamem_tui.memory.learn import Lesson
    from deltamem_tui.trajectory.model import Trajectory

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
    from deltamem_tui.errors import BankFrozenError
    from deltamem_tui.memory.intake import waiting
    from deltamem_tui.memory.recall import embedder_of

    invocation = Invocation.of(context)
    chosen = options.extractor_named(extractor)
    opened = Bank.open(invocation.bank(bank) if dry_run else invocation.writable_bank(bank))
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
            for found in _learnt(opened, ready, chosen, embedder):
                if isinstance(found, DeltaMemError):
                    invocation.output.trace(found)
                    errors.append(found)
                else:
                    lessons.append(found)
                advance()
    status = Result.verdict(len(lessons), errors)
    if status == "error":
        return Result("extract", None, tuple(errors), status)
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
    return Result("extract", data, tuple(errors), status, view=view, notes=notes)


def _learnt(
    bank: Bank, ready: list[Trajectory], extractor: Extractor, embedder: Embedder
) -> Iterator[Lesson | DeltaMemError]:
    """Each episode's lesson, or why there is none.

    What is wrong with one episode stops none of the others. What would be wrong with all of
    them, like a full disk or a refused key, is the last thing told, and so is Ctrl+C.
    """
    from deltamem_tui.memory.learn import learn

    for trajectory in ready:
        try:
            yield learn(bank, trajectory, extractor, embedder=embedder)
        except (ExtractionError, VectorError, TrajectoryError) as error:
            yield type(error)(error.message, source=trajectory.id, hint=error.hint)
        except DeltaMemError as error:
            yield error
            return
        except KeyboardInterrupt:
            yield InterruptionError("interrupted", hint="what was learnt before stays")
            return


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
