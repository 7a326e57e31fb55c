"""`deltamem browse`, as far as the command line goes: its help, and what it says with no terminal.

With a terminal the program opens the browser before the command line is read: the two faces
do not know each other.
"""

from __future__ import annotations

from typing import Annotated

import typer

from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.output import Result

OptionalBank = Annotated[
    str | None,
    typer.Argument(metavar="[BANK]", help="A bank's name in the banks folder, or a path."),
]


def run(context: typer.Context, bank: OptionalBank = None) -> Result:
    """Look at banks in the terminal, ask them, and put them right."""
    if bank is not None:
        Invocation.of(context).bank(bank)
    text = context.find_root().get_help()
    notes = ["the browser needs a terminal"]
    return Result("browse", {"help": text}, view=lambda page: page.text(text), notes=notes)
