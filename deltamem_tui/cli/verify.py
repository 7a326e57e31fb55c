"""`deltamem verify`: does a bank keep every promise of its format?"""

from __future__ import annotations

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.output import Result


def run(context: typer.Context, bank: options.Bank) -> Result:
    """Check every file, line, vector and counter of a bank. Nothing is changed."""
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.upkeep.verify import unchecked, verify
    from deltamem_tui.errors import BankCorruptError

    invocation = Invocation.of(context)
    opened = Bank.open(invocation.bank(bank))
    with invocation.output.progress("verifying"):
        flaws = verify(opened)
    errors = tuple(
        BankCorruptError(flaw.message, source=flaw.source, position=flaw.position, hint=flaw.hint)
        for flaw in flaws
    )
    missing = unchecked(opened)
    data = {
        "bank": opened.name,
        "frozen": opened.frozen,
        "sound": not flaws,
        "flaws": flaws,
        "unchecked": missing,
    }
    sound = [] if flaws else [f"{bank} is sound"]
    notes = [*sound, *(f"not checked: {each}" for each in missing)]
    return Result("verify", data, errors, "error" if flaws else "success", notes=notes)
