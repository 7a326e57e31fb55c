"""`deltamem consolidate`: what is due between episodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.extractors import ModelOptions, chosen_extractor
from deltamem_tui.cli.interruption import Interruption, interruptible
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import InterruptionError, Result
from deltamem_tui.errors import DeltaMemError, ExtractionError

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.plan import MaintenanceResult
    from deltamem_tui.memory.writers.writer import Writer


def run(
    context: typer.Context,
    bank: options.Bank,
    extractor: options.Extractor = None,
    model: options.Model = None,
    dry_run: options.DryRun = False,
    api_base: options.ApiBase = None,
    concurrency: options.Concurrency = 1,
    max_cost: options.MaxCost = None,
    no_cache: options.NoCache = False,
    prompts: options.Prompts = None,
    timeout: options.Timeout = None,
) -> Result:
    """Do what a bank's method does between episodes: fuse chains, conclude, catch up."""
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.engine import due

    invocation = Invocation.of(context)
    opened = Bank.open(invocation.bank(bank) if dry_run else invocation.writable_bank(bank))
    if not (extractor or model or due(opened)):  # then it does not matter who would write
        if not dry_run:
            opened.require_writable()
        return _result([], 0, [], Usage())
    wanted = ModelOptions(model, api_base, max_cost, no_cache, prompts, dry_run, timeout)
    chosen = chosen_extractor(invocation, opened, extractor, wanted)
    if dry_run:
        return _foreseen(opened, chosen)
    opened.require_writable()
    fusions: list[MaintenanceResult] = []
    errors: list[DeltaMemError] = []
    with interruptible() as interruption:
        for found in _fused(opened, chosen, concurrency, interruption):
            if isinstance(found, DeltaMemError):
                invocation.output.trace(found)
                errors.append(found)
                continue
            fusions.append(found)
            if not found.done:
                errors.append(ExtractionError(found.reason, source=found.chain[-1].id))
    if interruption and not errors:
        errors.append(InterruptionError("interrupted", hint="what was done before stays"))
    done = sum(each.done for each in fusions)
    return _result([_record(each) for each in fusions], done, errors, _usage_of(chosen))


def _fused(
    bank: Bank, extractor: Writer, concurrency: int, interruption: Interruption
) -> Iterator[MaintenanceResult | DeltaMemError]:
    """Each chain that was due; an error that ended the work comes last."""
    from deltamem_tui.memory.engine import due
    from deltamem_tui.memory.runs.maintenance import consolidate

    try:
        if due(bank):
            yield from consolidate(bank, extractor, concurrency=concurrency, stopped=interruption)
    except DeltaMemError as error:
        yield error
    except KeyboardInterrupt:
        yield InterruptionError("interrupted", hint="what was done before stays")


def _foreseen(bank: Bank, extractor: Writer) -> Result:
    """What is due, and what a model would take for it. Nothing is sent."""
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.engine import due
    from deltamem_tui.memory.runs.estimate import estimate_fusions
    from deltamem_tui.memory.writers.model import ModelExtractor

    chains = due(bank)
    usage = Usage()
    if isinstance(extractor, ModelExtractor):
        usage = estimate_fusions(bank, chains, extractor)
    rows = [
        {"tree": each.collection, "node": each.nodes[-1].id, "root": None, "reason": "due"}
        for each in chains
    ]
    return _result(rows, 0, [], usage)


def _usage_of(extractor: Writer) -> Usage:
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.writers.writer import ModelWriter

    return extractor.usage if isinstance(extractor, ModelWriter) else Usage()


def _record(fusion: MaintenanceResult) -> dict[str, Any]:
    return {
        "tree": fusion.collection,
        "node": fusion.chain[-1].id,
        "root": fusion.root.id if fusion.root else None,
        "reason": fusion.reason,
    }


def _result(
    found: list[dict[str, Any]], done: int, errors: list[DeltaMemError], usage: Usage
) -> Result:
    from deltamem_tui.memory.reports.view import usage_facts

    def view(page: Page) -> None:
        rows = [(each["tree"], each["node"], each["root"], each["reason"]) for each in found]
        if rows:
            page.table(("in", "node", "became", "why"), rows)
        if usage.calls or usage.cached:
            page.facts(usage_facts(usage))

    status = Result.verdict(done, errors)
    notes = () if found or errors else ("nothing is due",)
    data = {"consolidated": done, "chains": found, "usage": asdict(usage)}
    return Result("consolidate", data, errors, status, view=view, notes=notes)
