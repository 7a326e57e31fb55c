"""`deltamem browse` without a terminal.

With a terminal the program opens the browser before the command line is read: the two faces
do not know each other.
"""

from __future__ import annotations

from typing import Annotated

import typer

from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.result import Result
from deltamem_tui.paths import results_named

OptionalBank = Annotated[
    str | None,
    typer.Argument(metavar="[BANK]", help="A bank's name or path, or results of the lab."),
]


def run(context: typer.Context, bank: OptionalBank = None) -> Result:
    """Look at banks in the terminal, ask them, and put them right."""
    invocation = Invocation.of(context)
    if bank is not None and results_named(bank) is None:
        invocation.bank(bank)
    notes = ["the browser needs a terminal"]
    return Result("browse", {"help": context.find_root().get_help()}, notes=notes)
