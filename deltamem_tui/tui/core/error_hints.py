"""Refusals in the browser's words: with its keys where the command line names its commands."""

from __future__ import annotations

from copy import copy
from pathlib import Path

from deltamem_tui import paths
from deltamem_tui.bank.bank import UNFREEZE_HINT
from deltamem_tui.bank.manifest import NO_BANK_HINT
from deltamem_tui.errors import BankError, BankNotFoundError, DeltaMemError
from deltamem_tui.text import one_line


def with_keys(error: DeltaMemError, unfreeze: str, look_again: str) -> DeltaMemError:
    """An error whose hint names a key where it named a command.

    Args:
        error: What went wrong.
        unfreeze: The key that unfreezes a bank.
        look_again: The key that looks for banks again.
    """
    keys = {
        UNFREEZE_HINT: f"{unfreeze} unfreezes it",
        NO_BANK_HINT: f"{look_again} on the list of banks reloads it",
    }
    hint = error.hint or ""
    for command, words in keys.items():
        hint = hint.replace(command, words)
    if hint == (error.hint or ""):
        return error
    told = copy(error)
    told.hint = hint
    return told


def if_gone(error: DeltaMemError, bank: Path, leave: str) -> DeltaMemError:
    """An error about the open bank, or that the bank is gone, which says all that follows from it.

    Args:
        error: What went wrong.
        bank: The open bank.
        leave: The key that goes back to the banks.
    """
    if not isinstance(error, BankError) or paths.is_bank(bank) or paths.is_archive(bank):
        return error
    return BankNotFoundError(
        "the bank is gone from this place",
        source=one_line(str(bank), 200),
        hint=f"{leave} goes back to the banks",
    )
