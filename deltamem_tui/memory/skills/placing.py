"""An export replaces an earlier one, and touches no file that others wrote.

The folder is not swapped: other skills may lie in it, and agents may be reading it. So the
files are moved in one by one. `deltamem.json` is first marked as unfinished, with the digests
of what was there, and last as done: an export that was interrupted is recognised, and the next
one finishes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from deltamem_tui.bank.disk import files
from deltamem_tui.errors import BankExistsError, RecordError
from deltamem_tui.memory.skills import finding, listing
from deltamem_tui.memory.skills.layout import BANK_FILE, SKILL_LIMITS
from deltamem_tui.memory.skills.listing import Listing
from deltamem_tui.text import counted

_SHOWN = 3


def earlier(folder: Path, *, replacing: bool) -> Listing | None:
    """What an earlier export wrote into a folder; None if the folder is new or empty.

    Raises:
        BankExistsError: Something else is here, or what is here is not to be replaced.
        RecordError: What is here does not say what was written.
        StorageError: It cannot be read.
    """
    with files.storage_errors(folder):
        if folder.is_symlink():
            raise BankExistsError(
                "a link, and what it leads to is not written over",
                source=str(folder),
                hint="name the folder itself",
            )
        if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
            return None
        if not (folder / BANK_FILE).is_file():
            raise BankExistsError(
                "something else than an export of skills is here already",
                source=str(folder),
                hint="choose another folder; --replace is for exports only",
            )
    if not replacing:
        raise BankExistsError(
            "a bank was written here before",
            source=str(folder),
            hint="`--replace` writes it anew, and leaves other files alone",
        )
    return listing.read(folder / BANK_FILE)


def put(draft: Path, folder: Path, new: Listing, old: Listing, *, discarding: bool = False) -> None:
    """Move what was written into a draft to where an earlier export lies.

    The draft holds the files of `new`, on the disk. Files that were changed since the export of
    `old` go only if `discarding`.

    Raises:
        BankExistsError: A file was changed since it was written, or another one is in the way.
            Nothing was moved.
        StorageError: The disk refused, maybe in the middle; the next export finishes it.
    """
    before = {path: {old.files[path].digest} if path in old.files else set() for path in old.files}
    for path, digests in old.unfinished.items():
        before.setdefault(path, set()).update(digests)
    there = {path: _state(folder, path) for path in before.keys() | new.files.keys()}
    _require_own(folder, before, there, new, discarding=discarding)
    states = {path: sorted(digests) for path, digests in before.items()}
    files.replace(folder / BANK_FILE, replace(new, unfinished=states).encoded())
    moved = [path for path in new.files if there[path] != new.files[path].digest]
    gone = [path for path in before if path not in new.files and there[path]]
    for path in moved:
        with files.storage_errors(folder / path):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
        files.move(draft / path, folder / path)
    for path in gone:
        files.remove(folder / path)
    _tidy(folder, gone)
    for inner in sorted({"", *_folders([*moved, *gone])}):
        if (folder / inner).is_dir():  # those that were tidied up are gone
            files.sync(folder / inner)
    files.replace(folder / BANK_FILE, new.encoded())


def _state(folder: Path, path: str) -> str:
    """The digest of what lies at a path; empty if nothing does."""
    place = folder / path
    inner = [folder / part for part in _folders([path])]
    if any(part.is_symlink() for part in inner) or place.is_dir():
        raise BankExistsError(
            "a link or a folder is in the way of a file",
            source=str(place),
            hint="move it away first; nothing was written",
        )
    if not os.path.lexists(place):
        return ""
    if place.is_symlink():
        return "a link"
    try:
        return listing.digest_of(finding.read(place, SKILL_LIMITS.file))
    except RecordError:
        return "no plain file, or too large for one of an export"


def _require_own(
    folder: Path,
    before: Mapping[str, set[str]],
    there: Mapping[str, str],
    new: Listing,
    *,
    discarding: bool,
) -> None:
    """Check that only what an export wrote goes."""
    wanted = {path: written.digest for path, written in new.files.items()}
    others = [
        path
        for path, state in there.items()
        if state and state != wanted.get(path) and state not in before.get(path, ())
    ]
    unknown = sorted(path for path in others if path not in before)
    if unknown:
        raise BankExistsError(
            f"{_named(unknown)} would be written over, but is not of an export",
            source=str(folder),
            hint="move it away, or choose another folder; nothing was written",
        )
    if others and not discarding:
        raise BankExistsError(
            f"{_named(sorted(others))} changed since the export",
            source=str(folder),
            hint="`deltamem install` takes in what fences hold; --discard-changes writes over all",
        )


def _named(paths: list[str]) -> str:
    shown = ", ".join(paths[:_SHOWN])
    if len(paths) <= _SHOWN:
        return shown
    return f"{shown} and {counted(len(paths) - _SHOWN, 'file')} more"


def _tidy(folder: Path, gone: Iterable[str]) -> None:
    """Remove the folders that are empty now that those files are gone; others stay."""
    for inner in sorted(_folders(gone), key=len, reverse=True):
        with suppress(OSError):
            (folder / inner).rmdir()


def _folders(paths: Iterable[str]) -> Iterator[str]:
    """All folders on the ways to some files, each once."""
    yield from {
        parent.as_posix() for path in paths for parent in Path(path).parents if parent != Path()
    }
