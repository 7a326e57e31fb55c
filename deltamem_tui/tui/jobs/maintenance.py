"""Making, freezing and verifying banks."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.core.job import BankChange, Info, Progress, WorkPlan
from deltamem_tui.tui.models.sections import Section


def create(path: Path, *, embedder: str, domain: str, description: str) -> BankChange:
    """Make an empty bank at `path`.

    Raises:
        EmbedderUnavailableError: The embedder cannot be loaded.
        BankExistsError: Something lies there already.
    """
    from deltamem_tui.memory.banks import create_bank

    create_bank(path, embedder=embedder, domain=domain, description=description)
    return BankChange(path, f"created {path.name}")


def freeze(path: Path, thaw: str) -> BankChange:
    """Freeze the bank at `path`.

    Args:
        path: The bank.
        thaw: The key that unfreezes it.

    Raises:
        BankError: It cannot be opened or written.
    """
    bank = Bank.open(path)
    bank.freeze()
    return BankChange(path, f"froze {bank.name}; {thaw} unfreezes it")


def plan_unfreeze(path: Path) -> WorkPlan | BankChange:
    """Ask before the bank at `path` is unfrozen: what was promised of it cannot be had back.

    Raises:
        BankError: It cannot be opened; or, when it is to be unfrozen, it was frozen anew since.
    """
    bank = Bank.open(path)
    if not bank.frozen:
        return _unfrozen_by_another(path, bank)

    def unfreeze(_: Progress) -> BankChange:
        frozen = Bank.open(path)
        if not frozen.unfreeze(bank.manifest.digests):
            return _unfrozen_by_another(path, frozen)
        return BankChange(path, f"unfroze {frozen.name}")

    return WorkPlan(
        "unfreezing", f"Unfreeze {one_line(bank.name, 60)}?", [_frozen_section(bank)], unfreeze
    )


def _unfrozen_by_another(path: Path, bank: Bank) -> BankChange:
    """It was written by another process since it was shown, so it is read again."""
    return BankChange(path, f"{bank.name} is not frozen; nothing was done")


def _frozen_section(bank: Bank) -> Section:
    files = counted(len(bank.manifest.digests), "file")
    return Section(
        f"Frozen: {files} that verify can prove to be as they were",
        "Unfrozen it can be written, and these proofs are gone. Frozen again it is another bank. "
        "To keep this one as it is, export it and install a copy to be written.",
    )


def verify(path: Path, progress: Progress) -> Info:
    """Check every file of the bank at `path`.

    Args:
        path: The bank.
        progress: Asked between two parts of the bank whether to stop.

    Raises:
        WorkStoppedError: It was cancelled.
        BankError: It cannot be opened.
    """
    from deltamem_tui.bank.upkeep import verify as checking

    bank = Bank.open(path)
    flaws = checking.verify(bank, progress.go_on)
    if not flaws:
        return Info(f"{bank.name}: every file keeps its promises")
    first = flaws[0]
    where = ", ".join(part for part in (first.source, first.position) if part)
    words = f"{bank.name}: {counted(len(flaws), 'flaw')}; {where}: {first.message}"
    return Info(words, warning=True)
