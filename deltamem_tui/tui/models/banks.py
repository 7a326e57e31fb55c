"""The banks that were found, sound or not: a line each in columns, and what is known of one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.cells import cell_len, set_cell_size

from deltamem_tui import paths
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import archive
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.paths import BankPlace
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.models.sections import Section, cuttable, local_time

_MODEL_FROM = 100
_DOMAIN_FROM = 76
_LONGEST = 24
_DOMAIN = 12
_COUNT = 8
_MOST_COLLECTIONS = 3


@dataclass(frozen=True, slots=True)
class BankLine:
    """What the list of banks says of one.

    Attributes:
        place: Its name and folder.
        nodes: Living nodes per collection.
        episodes: Episodes that it was given.
        waiting: How many of them wait to be learnt.
        domain: The kind of environment.
        method: Its memory method.
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
    method: str = ""
    model: str = ""
    frozen: bool = False
    changed: str = ""
    description: str = ""
    error: str = ""
    locked: str = ""

    @property
    def possible(self) -> frozenset[str]:
        """The names of the actions that can be done with the bank."""
        own = not self.place.shipped
        able = {
            **dict.fromkeys(("open_bank", "verify_bank", "export_bank", "compare_banks"), True),
            "freeze_bank": own and not self.locked,
            "merge_banks": own and not self.locked and not self.frozen,
        }
        found = {name for name, can in able.items() if can and not self.error}
        return frozenset(found | ({"rename_bank", "delete_bank"} if own else set()))


def bank_lines(folder: Path) -> list[BankLine]:
    """Return every bank of a folder and of the package.

    Raises:
        StorageError: The folder cannot be read.
    """
    return [bank_line(place) for place in paths.find_banks(folder)]


def bank_line(place: BankPlace) -> BankLine:
    """Return one bank; if it cannot be opened, why."""
    try:
        bank = Bank.open(place.path)
        return BankLine(
            place=place,
            nodes={name: len(tree) for name, tree in bank.trees.items()},
            episodes=len(bank.episodes),
            waiting=len(bank.episodes.waiting()),
            domain=one_line(bank.manifest.domain, 100),
            method=one_line(bank.manifest.method, 100),
            model=one_line(str(bank.manifest.embedder.get("model", "")), 200),
            frozen=bank.frozen,
            changed=last_change(bank),
            description=bank.manifest.description,
            locked=_locked(place),
        )
    except DeltaMemError as error:
        return BankLine(place, {}, error=one_line(str(error)))


def _locked(place: BankPlace) -> str:
    """Return why a bank, frozen or not, cannot be written here; empty if it can."""
    if place.shipped:
        return "install a writable copy"
    if archive.is_archive(place.path):
        return "an archive cannot be changed: install it, writable"
    # Whoever writes makes files in the folder: the lock, and drafts.
    return "" if os.access(place.path, os.W_OK | os.X_OK) else "you may not write to its folder"


def last_change(bank: Bank) -> str:
    """Return when a bank was last written, in the reader's time zone."""
    if bank.commit.time:
        return local_time(bank.commit.time)
    try:
        seconds = (bank.path / paths.MANIFEST).stat().st_mtime
        return local_time(datetime.fromtimestamp(seconds, UTC).isoformat())
    except (ValueError, OSError):
        return ""


def bank_sections(line: BankLine) -> list[Section]:
    """Return all that is known of a bank without reading its nodes."""
    place = line.place
    if line.error:
        title = f"{place.name} cannot be opened"
        return [Section(title, line.error, True), Section("", str(place.path))]
    facts = [
        " · ".join(
            f"{name.replace('_', ' ')} {counted(count, 'node')}"
            for name, count in line.nodes.items()
        ),
        f"{counted(line.episodes, 'episode')}, {line.waiting:,} waiting to be learnt",
        f"method {line.method} · domain {line.domain} · embedder {line.model}",
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
        return "frozen: it cannot be changed"
    return f"read only: {line.locked}" if line.locked else "can be written"


@dataclass(frozen=True, slots=True)
class BankCells:
    """One line of the table.

    Attributes:
        name: The bank's name.
        counts: Nodes per collection.
        about: Domain and embedding model, as far as there is room.
        frozen: Whether it may no longer be written.
        changed: Its last change.
    """

    name: str
    counts: str
    about: str
    frozen: str
    changed: str


@dataclass(frozen=True, slots=True)
class BankTable:
    """How the columns are laid out.

    Attributes:
        width: How many cells there are.
        name_width: How many of them names have.
        collections: Those that have a column; none if there are too many: all are one number.
    """

    width: int
    name_width: int
    collections: tuple[str, ...]

    @classmethod
    def of(cls, banks: Sequence[BankLine], width: int) -> BankTable:
        """Return the layout for some banks: names are as wide as the longest, within reason."""
        longest = max((cell_len(bank.place.name) for bank in banks), default=0)
        names = tuple(dict.fromkeys(name for bank in banks for name in bank.nodes))
        collections = names if len(names) <= _MOST_COLLECTIONS else ()
        return cls(width, max(8, min(longest, _LONGEST, width // 4)), collections)

    @property
    def headings(self) -> BankCells:
        """What the columns are called."""
        changed = "last change" if self.width >= _DOMAIN_FROM else "changed"
        counts = self.collections or ("nodes",)
        return self._cells("name", counts, "domain", "embedder", "", changed)

    def cells(self, bank: BankLine) -> BankCells:
        """Return a bank's line."""
        counts = [bank.nodes.get(name) for name in self.collections] or [sum(bank.nodes.values())]
        return self._cells(
            bank.place.name,
            ["" if count is None else f"{count:,}" for count in counts],
            bank.domain,
            bank.model,
            "frozen" if bank.frozen else "",
            bank.changed,
        )

    def name(self, name: str) -> str:
        """Return a name in its column; the end of one that is too long is left out."""
        return f" {_cut(name, self.name_width)} "

    def _cells(
        self, name: str, counts: Sequence[str], domain: str, model: str, frozen: str, changed: str
    ) -> BankCells:
        about = ""
        if self.width >= _DOMAIN_FROM:
            about = f"  {_cut(domain, _DOMAIN)}"
        if self.width >= _MODEL_FROM:
            about += f"  {model}"
        day = changed if self.width >= _DOMAIN_FROM else changed[:10]
        room = 16 if self.width >= _DOMAIN_FROM else 10
        columns = " ".join(_cut(text, _COUNT, right=True) for text in counts)
        return BankCells(self.name(name), columns, about, f"{frozen:<6}", f" {day:<{room}} ")


def _cut(text: str, width: int, *, right: bool = False) -> str:
    text = cuttable(text)
    if (room := width - cell_len(text)) < 0:
        return set_cell_size(text, width - 1) + "…"
    return " " * room + text if right else text + " " * room
