"""Making, freezing and verifying banks."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.tui.messages import Changed, Told
from deltamem_tui.tui.models.words import counted


def create(path: Path, *, embedder: str, domain: str, description: str) -> Changed:
    """Make an empty bank at `path`.

    Raises:
        EmbedderUnavailableError: The embedder cannot be loaded.
        BankExistsError: Something lies there already.
    """
    from deltamem_tui.memory.opening import create_bank

    create_bank(path, embedder=embedder, domain=domain, description=description)
    return Changed(path, f"created {path.name}")


def freeze(path: Path, *, frozen: bool) -> Changed:
    """Freeze the bank at `path`, or unfreeze it.

    Raises:
        BankError: It cannot be opened or written.
    """
    bank = Bank.open(path)
    if frozen:
        bank.freeze()
    else:
        bank.unfreeze()
    return Changed(path, f"{'froze' if frozen else 'unfroze'} {bank.name}")


def verify(path: Path) -> Told:
    """Check every file of the bank at `path`.

    Raises:
        BankError: It cannot be opened.
    """
    from deltamem_tui.bank.upkeep import verify as checking

    bank = Bank.open(path)
    flaws = checking.verify(bank)
    if not flaws:
        return Told(f"{bank.name}: every file keeps its promises")
    first = flaws[0]
    where = ", ".join(part for part in (first.source, first.position) if part)
    words = f"{bank.name}: {counted(len(flaws), 'flaw')}; {where}: {first.message}"
    return Told(words, warning=True)
