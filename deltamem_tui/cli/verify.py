"""`deltamem verify`: does a bank keep every promise of its format?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.result import Result

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.upkeep.verify import Flaw

Vectors = Annotated[
    bool,
    typer.Option("--vectors", help="Embed every text again, and compare. Loads the bank's model."),
]

_UNPROVED = "whether each vector is of its own line: `deltamem verify --vectors` embeds them again"


def run(context: typer.Context, bank: options.Bank, vectors: Vectors = False) -> Result:
    """Check every file, line, vector and counter of a bank. Nothing is changed."""
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.upkeep.verify import unchecked, verify
    from deltamem_tui.errors import BankCorruptError

    invocation = Invocation.of(context)
    opened = Bank.open(invocation.bank(bank))
    with invocation.output.progress("verifying"):
        flaws = verify(opened)
    if vectors and not flaws:
        flaws = _strange_vectors(invocation, opened)
    errors = tuple(
        BankCorruptError(flaw.message, source=flaw.source, position=flaw.position, hint=flaw.hint)
        for flaw in flaws
    )
    missing = [*unchecked(opened), *([] if vectors else [_UNPROVED])]
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


def _strange_vectors(invocation: Invocation, bank: Bank) -> list[Flaw]:
    """The vectors that are not of their lines; a bank whose files have flaws is not embedded."""
    from deltamem_tui.memory.vectors.embedder import embedder_of
    from deltamem_tui.memory.vectors.vector_check import strange_vectors

    embedder = embedder_of(bank)
    total = sum(
        snapshot.extent.rows for snapshot in map(bank.snapshots.get, bank.trees) if snapshot
    )
    with invocation.output.progress("embedding", total) as advance:
        return list(strange_vectors(bank, embedder, advance=advance))
