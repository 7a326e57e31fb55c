"""One line for each bank that was found, sound or not."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from deltamem_tui import paths
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import archive_view
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.deltamem.collections import COLLECTIONS
from deltamem_tui.paths import BankPlace
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.models.words import local_time


@dataclass(frozen=True, slots=True)
class BankLine:
    """What the list of banks says of one.

    Attributes:
        place: Its name and folder.
        nodes: Living nodes per tree.
        episodes: Episodes that it was given.
        waiting: How many of them wait to be learnt.
        domain: The kind of environment.
        model: Its embedding model.
        frozen: Whether it may no longer be written.
        changed: Its last commit, or else its manifest's date, as `2026-07-14 10:22`.
        description: What it is for.
        error: Why it cannot be opened, if it cannot.
        locked: Why it cannot be written although it is not frozen; empty if it can.
    """

    place: BankPlace
    nodes: dict[str, int]
    episodes: int = 0
    waiting: int = 0
    domain: str = ""
    model: str = ""
    frozen: bool = False
    changed: str = ""
    description: str = ""
    error: str = ""
    locked: str = ""


def bank_lines(folder: Path) -> list[BankLine]:
    """Every bank of a folder and of the package.

    Raises:
        StorageError: The folder cannot be read.
    """
    return [bank_line(place) for place in paths.find_banks(folder)]


def bank_line(place: BankPlace) -> BankLine:
    """One bank; if it cannot be opened, why."""
    try:
        bank = Bank.open(place.path)
        return BankLine(
            place=place,
            nodes={name: len(bank.tree(name)) for name in COLLECTIONS},
            episodes=len(bank.episodes),
            waiting=len(bank.episodes.waiting()),
            domain=one_line(bank.manifest.domain, 100),
            model=one_line(str(bank.manifest.embedder.get("model", "")), 200),
            frozen=bank.frozen,
            changed=last_change(bank),
            description=bank.manifest.description,
            locked=_locked(place),
        )
    except DeltaMemError as error:
        return BankLine(place, {}, error=one_line(str(error)))


def _locked(place: BankPlace) -> str:
    """Why nobody here may write a bank, frozen or not; empty if they may."""
    if place.shipped:
        return "install a copy to be written"
    if archive_view.is_archive(place.path):
        return "an archive is never written, install it to be written"
    # Whoever writes makes files in the folder: the lock, and drafts.
    return "" if os.access(place.path, os.W_OK | os.X_OK) else "you may not write in its folder"


def last_change(bank: Bank) -> str:
    """When a bank was last written, in the reader's time zone."""
    if bank.commit.time:
        return local_time(bank.commit.time)
    try:
        seconds = (bank.path / paths.MANIFEST).stat().st_mtime
        return local_time(datetime.fromtimestamp(seconds, UTC).isoformat())
    except (ValueError, OSError):
        return ""


def bank_sections(line: BankLine) -> list[Section]:
    """All that is known of a bank without reading its nodes."""
    place = line.place
    if line.error:
        return [Section(place.name, str(place.path)), Section("Cannot be opened", line.error, True)]
    facts = [
        f"task {counted(line.nodes['task'], 'node')} · env {counted(line.nodes['env'], 'node')}",
        f"{counted(line.episodes, 'episode')}, {line.waiting:,} waiting to be learnt",
        f"domain {line.domain} · embedder {line.model}",
        f"last change {line.changed}",
        _may_be_written(line),
        f"{'comes with the program, ' if place.shipped else ''}{place.path}",
    ]
    sections = [Section(place.name, "\n".join(facts))]
    if line.description.strip():
        sections.insert(1, Section("", line.description))
    return sections


def _may_be_written(line: BankLine) -> str:
    if line.frozen:
        return "frozen: it cannot be written"
    return f"read only: {line.locked}" if line.locked else "can be written"
