"""Refusals in the browser's words: what to do about them by its keys, its lists and its forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from deltamem_tui import paths
from deltamem_tui.errors import BankError, BankNotFoundError, DeltaMemError, Remedy
from deltamem_tui.text import one_line


def remedies(key_of: Callable[[str], str], *, bank_is_open: bool) -> Mapping[Remedy, str]:
    """What the browser calls each remedy.

    Args:
        key_of: Returns the first key of an action.
        bank_is_open: Whether a bank is shown, and not the list of banks.
    """
    unfreeze = key_of("freeze" if bank_is_open else "freeze_bank")
    return {
        Remedy.ALLOW_WRITING: f"{unfreeze} unfreezes it",
        Remedy.UNPACK: f"{key_of('install_bank')} on the list of banks installs a copy that can be",
        Remedy.REPAIR: "`deltamem verify` in a terminal can cut it back to its last commit",
        Remedy.MAKE_BANK: f"{key_of('look_again')} on the list of banks reloads it",
        Remedy.LIST_BANKS: "the list of banks has all names",
        Remedy.ALLOW_SIZE: "`deltamem install` in a terminal can allow more",
        Remedy.REPLACE: "submit it again to write over it",
        Remedy.NAME_LOG: "a file, a folder, or a pattern such as runs/*.jsonl",
        Remedy.PIPE_LOG: "save what it gives in a file, and name that",
        Remedy.NAME_FORMAT: "name the one it is under Format",
        Remedy.DECLARE_FORMAT: (
            "if you know the format, name it under Format, or a TOML file that declares it"
        ),
        Remedy.SPLIT_LOG: (
            "split the log if another format begins here; "
            "else leave it out, or name the format under Format"
        ),
        Remedy.GIVE_RESULTS: "`deltamem import` in a terminal takes results beside their logs",
        Remedy.ASK_AFRESH: "try another model",
        Remedy.KEEP_NO_ANSWERS: "free some space",
    }


def in_words(error: DeltaMemError, words: Mapping[Remedy, str]) -> DeltaMemError:
    """An error whose hint is a remedy, with a face's own words for it.

    Args:
        error: What went wrong.
        words: The face's words.
    """
    if not isinstance(error.hint, Remedy):
        return error
    return DeltaMemError(
        error.message, source=error.source, position=error.position, hint=words[error.hint]
    )


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
