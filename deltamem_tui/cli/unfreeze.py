"""`deltamem unfreeze`: writing again."""

from __future__ import annotations

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.result import Result


def run(context: typer.Context, bank: options.Bank) -> Result:
    """Allow writing to a frozen bank again."""
    from deltamem_tui.bank.bank import Bank

    opened = Bank.open(Invocation.of(context).writable_bank(bank))
    was_frozen = opened.unfreeze()
    state = "can be written again" if was_frozen else "was not frozen"
    return Result("unfreeze", {"bank": opened.name, "frozen": False}, notes=(f"{bank} {state}",))
