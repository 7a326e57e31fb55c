"""`deltamem judge`: a model's word for episodes whose outcome nobody stated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.extracted import left_notes
from deltamem_tui.cli.extractors import checked_prompts
from deltamem_tui.cli.interruption import Interruption, interruptible
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.model_client import model_client, recovery_notes, usage_facts, usage_record
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import InterruptionError, Result
from deltamem_tui.errors import DeltaMemError

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.episodes.judging import Judged
    from deltamem_tui.memory.writers.model.judge import Judge

Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, help="Judge at most N episodes.")
]


def run(
    context: typer.Context,
    bank: options.Bank,
    model: options.Model = None,
    limit: Limit = None,
    dry_run: options.DryRun = False,
    api_base: options.ApiBase = None,
    max_cost: options.MaxCost = None,
    no_cache: options.NoCache = False,
    concurrency: options.Concurrency = 1,
    prompts: options.Prompts = None,
    timeout: options.Timeout = None,
) -> Result:
    """Let a model say how episodes ended whose logs do not say.

    Only episodes without an outcome are judged: what a log states or you said stays. Every
    judgement is committed by itself, so an interrupted run goes on where it stopped. `extract`
    does not learn from judged episodes, unless you tell it to with `--admit all`.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.episodes.judging import without_outcome
    from deltamem_tui.memory.runs.ledger import tell_debts
    from deltamem_tui.memory.writers.model.judge import Judge

    invocation = Invocation.of(context)
    folders = checked_prompts(invocation, prompts)
    opened = Bank.open(invocation.bank(bank) if dry_run else invocation.writable_bank(bank))
    if not dry_run:
        opened.require_writable()
    client = model_client(
        invocation,
        model,
        api_base=api_base,
        max_cost=max_cost,
        no_cache=no_cache,
        rehearsed=dry_run,
        timeout=timeout,
    )
    judge = Judge(client, opened.manifest.domain, folders)
    ids = without_outcome(opened, limit)
    if dry_run:
        return _foreseen(invocation, opened, judge, ids)
    recovered = tell_debts(opened)
    judged: list[Judged] = []
    errors: list[DeltaMemError] = []
    on_their_way: list[int] = []
    with interruptible() as stop, invocation.output.progress("judging", len(ids)) as advance:
        for found in _judged(opened, judge, ids, concurrency, stop, on_their_way.append):
            if isinstance(found, DeltaMemError):
                invocation.output.trace(found)
                errors.append(found)
            else:
                judged.append(found)
            advance()
    if stop and not errors:
        errors.append(InterruptionError("interrupted", hint="what was judged before stays"))
    left = len(without_outcome(opened))
    return _result(bank, judged, errors, left, client.usage, recovered, sum(on_their_way))


def _judged(
    bank: Bank,
    judge: Judge,
    ids: list[str],
    concurrency: int,
    stopped: Interruption,
    left: Callable[[int], object],
) -> Iterator[Judged | DeltaMemError]:
    from deltamem_tui.memory.episodes.judging import judge_episodes

    try:
        yield from judge_episodes(
            bank, judge, ids, concurrency=concurrency, stopped=stopped, left=left
        )
    except KeyboardInterrupt:
        yield InterruptionError("interrupted", hint="what was judged before stays")


def _foreseen(invocation: Invocation, bank: Bank, judge: Judge, ids: list[str]) -> Result:
    """What a run would take. Nothing is sent."""
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.episodes.stored_episodes import episode

    usage = Usage()
    with invocation.output.progress("counting", len(ids)) as advance:
        for each in ids:
            found = episode(bank, each)
            if found is not None:
                usage += judge.estimate(found)
            advance()
    data = _data(0, 0, len(ids), usage) | {"would_judge": len(ids), "judgements": []}

    def view(page: Page) -> None:
        page.facts({"would judge": len(ids), **usage_facts(usage)})

    notes = ["nothing was sent: this was a dry run"]
    return Result("judge", data, view=view, notes=notes)


def _result(
    bank: str,
    judged: list[Judged],
    errors: list[DeltaMemError],
    left: int,
    usage: Usage,
    recovered: Usage,
    on_their_way: int,
) -> Result:
    successes = sum(each.judgement.outcome.success is True for each in judged)
    data = _data(successes, len(judged) - successes, left, usage)
    data |= {"would_judge": 0, "judgements": [_record(each) for each in judged]}
    data |= {"recovered": usage_record(recovered), "on_their_way": on_their_way}

    def view(page: Page) -> None:
        counts = ("judged", "successes", "failures", "without_outcome")
        page.facts(
            {**{name.replace("_", " "): data[name] for name in counts}, **usage_facts(usage)}
        )

    notes = recovery_notes(recovered) + left_notes(on_their_way)
    if judged:
        notes.append(f"`deltamem extract {bank} --admit all` learns from judged episodes too")
    elif not errors:
        notes.append("no episode waits for an outcome")
    status = Result.verdict(len(judged), errors)
    return Result("judge", data, tuple(errors), status, view=view, notes=notes)


def _data(successes: int, failures: int, left: int, usage: Usage) -> dict[str, Any]:
    return {
        "judged": successes + failures,
        "successes": successes,
        "failures": failures,
        "without_outcome": left,
        "usage": usage_record(usage),
    }


def _record(judged: Judged) -> dict[str, Any]:
    judgement = judged.judgement
    return {
        "id": judged.trajectory.id,
        "task": judged.trajectory.task,
        "success": judgement.outcome.success,
        "reason": judgement.outcome.reason,
        "model": judgement.model,
        "cut": judgement.cut or None,
    }
