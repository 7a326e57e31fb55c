"""`deltamem freeze`: protect a bank from being written."""

from __future__ import annotations

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.result import Result


def run(context: typer.Context, bank: options.Bank) -> Result:
    """Forbid all writing to a bank, and note each file's digest."""
    from deltamem_tui.bank.bank import Bank

    opened = Bank.open(Invocation.of(context).writable_bank(bank))
    opened.freeze()
    notes = (f"{bank} is frozen; `deltamem verify {bank}` proves its files",)
    data = {"bank": opened.name, "frozen": True, "digests": opened.manifest.digests}
    return Result("freeze", data, notes=notes)
