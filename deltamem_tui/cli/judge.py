"""`deltamem judge`: a model's verdict on episodes whose logs state no outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.batches import Answers, BatchRound, Requests, batch_round
from deltamem_tui.cli.interruption import interruptible
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.models import ModelOptions, checked_prompts, model_client
from deltamem_tui.cli.result import InterruptionError, Result
from deltamem_tui.errors import BudgetError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.writers.model import Judge

Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, help="Judge at most N episodes.")
]

All = Annotated[
    bool,
    typer.Option(
        "--all",
        help="Judge also what log or person judged: it gives the judge's errors, changes no "
        "outcome.",
    ),
]


def run(
    context: typer.Context,
    bank: options.Bank,
    model: options.Model = None,
    limit: Limit = None,
    all: All = False,  # noqa: A002 - the word that people type
    dry_run: options.DryRun = False,
    api_base: options.ApiBase = None,
    max_cost: options.MaxCost = None,
    no_cache: options.NoCache = False,
    concurrency: options.Concurrency = 1,
    prompts: options.Prompts = None,
    timeout: options.Timeout = None,
    batch: Requests = None,
    answers: Answers = None,
) -> Result:
    """Let a model judge the episodes whose logs state no outcome.

    What a log states or you gave stays, and is judged only with `--all`. Every
    judgement is committed by itself, so an interrupted run goes on where it stopped. Only an
    admission other than the usual `strict` learns from judged episodes, such as `extract --admit
    all`. `--batch` and `--answers` are those of `extract`.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.reports.runs import view_judging
    from deltamem_tui.memory.runs.judging import (
        estimate_judging,
        judge_episodes,
        without_judgement,
        without_outcome,
    )
    from deltamem_tui.memory.writers.model import Judge

    invocation = Invocation.of(context)
    folders = checked_prompts(invocation, prompts)
    opened = Bank.open(invocation.bank(bank) if dry_run else invocation.writable_bank(bank))
    if not dry_run:
        opened.require_writable()
    unlike = {"--dry-run": dry_run, "--max-cost": max_cost, "--no-cache": no_cache}
    unlike |= {"--concurrency": concurrency > 1}
    rounds = batch_round(invocation, opened, model, batch, answers, unlike)
    asked = rounds.batch if rounds else None
    wanted = ModelOptions(model, api_base, max_cost, no_cache, prompts, dry_run, timeout, asked)
    judge = Judge(model_client(invocation, wanted), opened.manifest.domain, folders)
    unjudged = without_judgement if all else without_outcome
    ids = unjudged(opened, limit)
    taken = rounds.take(invocation, opened) if rounds else None
    if dry_run:
        with invocation.output.progress("counting", len(ids)) as advance:
            return Result.of_view(
                "judge", view_judging(estimate_judging(opened, judge, ids, advance), bank)
            )
    with interruptible() as stop, invocation.output.progress("judging", len(ids)) as advance:
        done = judge_episodes(
            opened,
            judge,
            ids,
            concurrency=concurrency,
            beside=all,
            advance=advance,
            stopped=stop,
        )
    errors = [*(taken.errors if taken else ()), *done.errors]
    written = 0
    if rounds:
        errors = [each for each in errors if not isinstance(each, BudgetError)]
        judged = {each.trajectory.id for each in done.judged}
        written = _write(rounds, opened, judge, [each for each in ids if each not in judged])
    for error in errors:
        invocation.output.trace(error)
    if done.interrupted or (stop and not errors):
        errors.append(InterruptionError("interrupted", hint="what was judged before stays"))
    status = Result.verdict(len(done.judged) + written + (taken.taken if taken else 0), errors)
    view = view_judging(done, bank)
    if rounds and taken:
        from deltamem_tui.memory.reports.runs import with_batch

        view = with_batch(view, rounds.path, written, taken)
    return Result.of_view("judge", view, errors, status)


def _write(rounds: BatchRound, bank: Bank, judge: Judge, ids: Sequence[str]) -> int:
    """Write down what is asked about episodes; how many questions these are."""
    from deltamem_tui.memory.runs.batches import judging_questions

    found = judging_questions(bank, judge, ids, rounds.batch)
    rounds.write(found)
    return len(found)
