"""`deltamem consolidate`: often-hit chains to new roots."""

from __future__ import annotations

from typing import Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.output import Result
from deltamem_tui.cli.page import Page


def run(
    context: typer.Context,
    bank: options.Bank,
    extractor: options.Extractor = None,
    dry_run: options.DryRun = False,
) -> Result:
    """Fuse every chain that was hit often enough into a new root. Nothing is deleted."""
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.errors import BankFrozenError, ExtractionError
    from deltamem_tui.memory.consolidate import consolidate, due

    invocation = Invocation.of(context)
    opened = Bank.open(invocation.bank(bank) if dry_run else invocation.writable_bank(bank))
    if dry_run:
        found: list[dict[str, Any]] = [
            {"tree": name, "node": node.id, "root": None, "reason": "due"}
            for name, node in due(opened)
        ]
        errors: tuple[ExtractionError, ...] = ()
    else:
        chosen = options.extractor_named(extractor)
        if opened.frozen:
            raise BankFrozenError(
                "the bank is frozen",
                source=str(opened.path),
                hint="`deltamem unfreeze` allows writing",
            )
        fusions = list(consolidate(opened, chosen)) if due(opened) else []
        found = [
            {
                "tree": fusion.tree,
                "node": fusion.chain[-1].id,
                "root": fusion.root.id if fusion.root else None,
                "reason": fusion.reason,
            }
            for fusion in fusions
        ]
        errors = tuple(
            ExtractionError(fusion.reason, source=fusion.chain[-1].id)
            for fusion in fusions
            if fusion.root is None
        )

    def view(page: Page) -> None:
        rows = [(each["tree"], each["node"], each["root"], each["reason"]) for each in found]
        if rows:
            page.table(("tree", "node", "new root", "why"), rows)

    done = sum(each["root"] is not None for each in found)
    status = Result.verdict(done, errors)
    notes = () if found else ("no chain is due",)
    data = {"consolidated": done, "chains": found}
    return Result("consolidate", data, errors, status, view=view, notes=notes)
