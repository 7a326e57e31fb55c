"""`deltamem verify`: does a bank keep every promise of its format?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.result import Result
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.upkeep.verify import Flaw

Vectors = Annotated[
    bool,
    typer.Option("--vectors", help="Embed every text again, and compare. Loads the bank's model."),
]

Repair = Annotated[
    bool,
    typer.Option(
        "--repair",
        help="First cut a torn journal back to its last whole commit, as a power cut may need.",
    ),
]

_UNPROVED = "whether each vector is of its own line: `deltamem verify --vectors` embeds them again"


def run(
    context: typer.Context, bank: options.Bank, vectors: Vectors = False, repair: Repair = False
) -> Result:
    """Check every file, line, vector and counter of a bank. Only --repair changes anything."""
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.upkeep import verify as verifying
    from deltamem_tui.errors import BankCorruptError

    invocation = Invocation.of(context)
    path = invocation.bank(bank)
    torn = verifying.repair(path) if repair else b""
    opened = Bank.open(path)
    with invocation.output.progress("verifying"):
        flaws = verifying.verify(opened)
    if vectors and not flaws:
        flaws = _strange_vectors(invocation, opened)
    errors = tuple(
        BankCorruptError(flaw.message, source=flaw.source, position=flaw.position, hint=flaw.hint)
        for flaw in flaws
    )
    missing = [*verifying.unchecked(opened), *([] if vectors else [_UNPROVED])]
    data = {
        "bank": opened.name,
        "frozen": opened.frozen,
        "sound": not flaws,
        "flaws": flaws,
        "unchecked": missing,
        "cut": {"bytes": len(torn), "text": _beginning(torn)} if torn else None,
    }
    sound = [] if flaws else [f"{bank} is sound"]
    cut = f"journal.jsonl: cut off {len(torn):,} bytes behind the last whole commit"
    cut_off = [f"{cut}: {_beginning(torn) or 'nothing that can be read'}"] if torn else []
    notes = [*cut_off, *sound, *(f"not checked: {each}" for each in missing)]
    return Result("verify", data, errors, "error" if flaws else "success", notes=notes)


def _beginning(torn: bytes) -> str:
    return one_line(torn.replace(b"\0", b"").decode("utf-8", "replace"), 120)


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
