"""`deltamem reembed`: new vectors for a bank, of another embedder."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import InterruptionError, Result
from deltamem_tui.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.embedding.protocol import Embedder
    from deltamem_tui.memory.threshold_proposal import Proposal
    from deltamem_tui.memory.vectors.reembed import Reembedding

NewEmbedder = Annotated[
    str,
    typer.Option(
        "--embedder",
        metavar="NAME",
        help="The new embedder: minilm, hashing, or a sentence-transformers model.",
    ),
]
Calibrate = Annotated[
    bool,
    typer.Option("--calibrate", help="Apply the thresholds proposed for the new embedder."),
]


def run(
    context: typer.Context,
    bank: options.Bank,
    embedder: NewEmbedder,
    calibrate: Calibrate = False,
    dry_run: options.DryRun = False,
) -> Result:
    """Give a bank the vectors of another embedder. No episode is learnt again.

    An interrupted run goes on where it was. While it runs, the bank can be read and can learn.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.embedding.load import load
    from deltamem_tui.memory.vectors import reembed

    invocation = Invocation.of(context)
    opened = Bank.open(invocation.bank(bank) if dry_run else invocation.writable_bank(bank))
    opened.require_folder()
    if not dry_run:
        opened.require_writable()
    loaded = load(invocation.settings(embedder=embedder).embedder)
    plan = found = reembed.planned(opened, loaded)
    if plan.needed and not dry_run:
        with invocation.output.progress("embedding", plan.left) as advance:
            try:
                found = reembed.reembed(opened, loaded, advance=advance)
            except KeyboardInterrupt as error:
                raise InterruptionError(
                    "interrupted",
                    source=bank,
                    hint="the same command goes on where this one was; the bank is as it was",
                ) from error
    data = {"bank": opened.name, **_described(found)}
    if not found.done:
        data["thresholds"] = None
        view = _view(found, []) if found.needed else None
        return Result("reembed", data, view=view, notes=_unchanged(found, bank))
    proposals = _calibrated(opened, loaded, apply=calibrate)
    applied = calibrate and any(each.proposed is not None for each in proposals)
    data["thresholds"] = {
        "meaning": f"chosen for {found.before.model}; {found.after.model} scores differently",
        "applied": applied,
        "trees": {each.tree: asdict(each) for each in proposals},
    }
    notes = [f"{bank} has the vectors of {found.after.model}", *_advice(bank, proposals, applied)]
    return Result("reembed", data, view=_view(found, proposals), notes=notes)


def _described(found: Reembedding) -> dict[str, Any]:
    return {
        "reembedded": found.done,
        "before": asdict(found.before),
        "after": asdict(found.after),
        "rows": dict(found.rows),
        "texts": found.texts,
        "kept": found.kept,
        "embedded": found.embedded,
        "left": found.left if found.needed else 0,
    }


def _unchanged(found: Reembedding, bank: str) -> list[str]:
    if not found.needed:
        return [f"{bank} has the vectors of {found.after.model} already"]
    note = f"would embed {counted(found.left, 'text')} with {found.after.model}"
    return [note + (f"; an interrupted run left {found.kept:,} more" if found.kept else "")]


def _calibrated(bank: Bank, embedder: Embedder, *, apply: bool) -> list[Proposal]:
    from deltamem_tui.memory import engine

    proposals = engine.calibrate(bank, embedder=embedder)
    if apply:
        engine.apply_proposals(bank, proposals)
    return proposals


def _advice(bank: str, proposals: Sequence[Proposal], applied: bool) -> list[str]:
    """The thresholds were chosen for other scores: what to do about it."""
    if applied:
        return ["the thresholds are now those that fit its scores"]
    warning = "the thresholds were chosen for the embedder before, and mean something else now"
    if any(each.proposed is not None for each in proposals):
        return [f"{warning}; `deltamem calibrate {bank} --apply` takes the proposed ones"]
    return [f"{warning}; with too few episodes to propose others, `deltamem parameters` sets them"]


def _view(found: Reembedding, proposals: Sequence[Proposal]) -> Any:
    def view(page: Page) -> None:
        page.facts(
            {
                "before": found.before.model,
                "after": found.after.model,
                "dimensions": found.after.dimensions,
                "texts": found.texts,
                "kept": found.kept,
                "embedded": found.embedded,
            }
        )
        rows = [
            (each.tree, each.current, each.proposed, each.matching_now, each.matching_then)
            for each in proposals
        ]
        if rows:
            page.table(("tree", "threshold", "proposed", "match now", "match then"), rows)

    return view
