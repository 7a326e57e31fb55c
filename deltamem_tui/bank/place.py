"""A bank's place in the file system: another name for it, and its end.

A bank is called like its folder, so neither writes to it: a frozen bank stays what it was frozen
as. Both are one step for every other process, and are refused while one of those writes.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from deltamem_tui import paths
from deltamem_tui.bank.bank import LOCK_NAME, Bank
from deltamem_tui.bank.disk import files
from deltamem_tui.errors import BankError, DeltaMemError
from deltamem_tui.text import one_line


@dataclass(frozen=True, slots=True)
class BankContents:
    """The contents that go when a bank is deleted.

    Attributes:
        files: How many files lie in its folder, others than the bank's among them.
        nodes: Living nodes; 0 if the bank cannot be opened.
        error: Why it cannot be opened; empty if it can.
    """

    files: int
    nodes: int = 0
    episodes: int = 0
    frozen: bool = False
    error: str = ""


def contents(path: Path) -> BankContents:
    """Return what lies at a bank's place, sound or not."""
    with files.storage_errors(path):
        found = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    number = sum(each.name != LOCK_NAME for each in found)
    try:
        bank = Bank.open(path)
        nodes = sum(map(len, bank.trees.values()))
        return BankContents(number, nodes, len(bank.episodes), bank.frozen)
    except DeltaMemError as error:
        return BankContents(number, error=one_line(str(error)))


def rename(path: Path, name: str) -> Path:
    """Call a bank otherwise; returns where it lies now, in the same folder.

    An archive keeps its ending.
    """
    archive = path.is_file() and not name.endswith(paths.ARCHIVE_SUFFIX)
    called = paths.check_name(name + paths.ARCHIVE_SUFFIX if archive else name)
    place = paths.new_bank_path(called, path.parent)
    with _quiet(path), files.storage_errors(path):
        path.rename(place)
        files.sync(place.parent)
    return place


def delete(path: Path) -> None:
    """Remove a bank with all that lies in its folder, for good; a BankError if it is a link."""
    if path.is_symlink():
        raise BankError(
            "this is a link to a bank that lies elsewhere",
            source=one_line(str(path)),
            hint="delete that bank, or remove the link by hand",
        )
    with _quiet(path):
        files.remove_folder(path)


def _quiet(path: Path) -> AbstractContextManager[None]:
    """Hold the bank while no process writes to it; an archive is never written."""
    if path.is_file():
        return nullcontext()
    return files.locked(path / LOCK_NAME, 0, "another process is writing to it")
