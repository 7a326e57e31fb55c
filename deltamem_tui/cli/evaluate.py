"""`deltamem evaluate`: what a memory is worth to an agent that acts."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from deltamem_tui.cli.evaluation_options import EvaluateOptions
from deltamem_tui.cli.interruption import Interruption, interruptible
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.option_struct import with_options
from deltamem_tui.cli.result import InterruptionError, Result

if TYPE_CHECKING:
    from deltamem_tui.cli.evaluation_setup import Setup
    from deltamem_tui.cli.page import Cell
    from deltamem_tui.lab.contestants.entrant import Entrant
    from deltamem_tui.lab.runs.estimate import RunEstimate
    from deltamem_tui.lab.runs.result import EvaluationResult


@with_options(EvaluateOptions)
def run(context: typer.Context, wishes: EvaluateOptions) -> Result:
    """Let an agent play games with memories and without, and compare what they are worth to it.

    All contestants play the same games in the same order. Options with several values are
    repeated. What is finished is kept: the same command goes on with a run that was
    interrupted, and shows one that is done.
    """
    from deltamem_tui.cli.evaluation_setup import set_up

    invocation = Invocation.of(context)
    with interruptible() as stop, ExitStack() as stack:
        setup = set_up(invocation, wishes, stop, stack)
        folder = (wishes.out or setup.default_folder).expanduser()
        if wishes.dry_run:
            return _estimated(setup, folder)
        found, is_new = _played(invocation, setup, folder, stop)
    if wishes.markdown is not None:
        _write(wishes.markdown, found)
    return _shown(found, setup, folder, is_new=is_new)


def _played(
    invocation: Invocation, setup: Setup, folder: Path, stop: Interruption
) -> tuple[EvaluationResult, bool]:
    """What came of it, and whether anything was played for that now."""
    from deltamem_tui.lab.runs.evaluation import evaluate
    from deltamem_tui.lab.runs.opening import pieces_before

    plan = setup.plan
    total = sum(
        len(plan.games) + pieces_before(plan, each, len(setup.log)) for each in plan.entrants
    )
    with invocation.output.progress("playing", total) as advance:
        begun: list[bool] = []

        def between() -> None:
            begun[:] = [True]
            if stop:
                raise KeyboardInterrupt

        def done(entrant: Entrant, pieces: int) -> None:
            advance(pieces, entrant.name)

        try:
            found = evaluate(
                plan, setup.tools, folder, log=setup.log, between=between, advance=done
            )
        except KeyboardInterrupt as error:
            hint = "what is finished is kept; the same command goes on"
            raise InterruptionError("interrupted", source=str(folder), hint=hint) from error
    return found, bool(begun)


def _estimated(setup: Setup, folder: Path) -> Result:
    from msgspec.structs import asdict, replace

    from deltamem_tui.lab.agents.react import ReActAgent
    from deltamem_tui.lab.runs.estimate import estimate

    plan, agent = setup.plan, setup.tools.agent
    found = estimate(plan, folder, len(setup.log))
    notes = ["dry run: nothing was played"]
    if not found.played and isinstance(agent, ReActAgent):
        with setup.tools.playing(plan.games[0]) as game:
            usage = agent.estimate(game.start(), "", plan.limit)
        found = replace(
            found,
            calls=float(usage.calls),
            tokens=float(usage.prompt_tokens + usage.completion_tokens),
            cost=usage.cost,
            cost_left=None if usage.cost is None else usage.cost * found.tries,
        )
        notes.append("costs are those of games that take all actions, without a memory's text")
    if setup.writes_by_model:
        notes.append("what the writer's model takes is not in it")
    data = asdict(found)
    return Result(
        "evaluate",
        {"folder": folder, **data},
        view=lambda page: page.facts(_facts(found)),
        notes=notes,
    )


def _facts(found: RunEstimate) -> dict[str, Cell]:
    """An estimate in words: what models take is left out where none is asked."""
    from msgspec.structs import asdict

    facts = asdict(found)
    if found.tokens:
        facts["tokens"] = round(found.tokens)
    if not (found.calls or found.tokens or found.cost):
        for name in ("calls", "tokens", "cost", "cost_left"):
            del facts[name]
    return {
        name.replace("_", " "): "unknown" if value is None else value
        for name, value in facts.items()
    }


def _write(path: Path, found: EvaluationResult) -> None:
    from deltamem_tui.bank.disk import files
    from deltamem_tui.lab.runs.report import markdown_page

    files.replace(path, markdown_page(found).encode())


def _shown(found: EvaluationResult, setup: Setup, folder: Path, *, is_new: bool) -> Result:
    from msgspec import to_builtins

    from deltamem_tui.cli.evaluate_view import show
    from deltamem_tui.lab.runs.report import warnings

    earlier = "" if is_new else "; all of it was played before: remove it to play it again"
    notes = [*warnings(found), f"kept in {folder}{earlier}"]
    data = {**to_builtins(found), "folder": str(folder)}
    return Result(
        "evaluate",
        data,
        setup.errors,
        Result.verdict(1, setup.errors),
        view=lambda page: show(page, found),
        notes=notes,
    )
