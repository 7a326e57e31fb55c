"""The list of banks in columns: what there is room for, the same on every line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from deltamem_tui.tui.models.banks import BankLine
from deltamem_tui.tui.models.words import cuttable

_MODEL_FROM = 100
_DOMAIN_FROM = 76
_LONGEST = 24
_DOMAIN = 12


@dataclass(frozen=True, slots=True)
class BankCells:
    """One line of the table.

    Attributes:
        name: The bank's name.
        counts: Nodes of the task tree and of the env tree.
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
    """

    width: int
    name_width: int

    @classmethod
    def of(cls, banks: Sequence[BankLine], width: int) -> BankTable:
        """The layout for some banks: names are as wide as the longest, within reason."""
        longest = max((cell_len(bank.place.name) for bank in banks), default=0)
        return cls(width, max(8, min(longest, _LONGEST, width // 4)))

    @property
    def headings(self) -> BankCells:
        """What the columns are called."""
        changed = "last change" if self.width >= _DOMAIN_FROM else "changed"
        return self._cells("name", "task", "env", "domain", "embedder", "", changed)

    def cells(self, bank: BankLine) -> BankCells:
        """A bank's line."""
        return self._cells(
            bank.place.name,
            f"{bank.nodes['task']:,}",
            f"{bank.nodes['env']:,}",
            bank.domain,
            bank.model,
            "frozen" if bank.frozen else "",
            bank.changed,
        )

    def name(self, name: str) -> str:
        """A name in its column; the end of one that is too long is left out."""
        return f" {_cut(name, self.name_width)} "

    def _cells(
        self, name: str, task: str, env: str, domain: str, model: str, frozen: str, changed: str
    ) -> BankCells:
        about = ""
        if self.width >= _DOMAIN_FROM:
            about = f"  {_cut(domain, _DOMAIN)}"
        if self.width >= _MODEL_FROM:
            about += f"  {model}"
        day = changed if self.width >= _DOMAIN_FROM else changed[:10]
        room = 16 if self.width >= _DOMAIN_FROM else 10
        return BankCells(
            self.name(name), f"{task:>8} {env:>8}", about, f"{frozen:<6}", f" {day:<{room}} "
        )


def _cut(text: str, width: int) -> str:
    text = cuttable(text)
    return (
        text + " " * (width - cell_len(text))
        if cell_len(text) <= width
        else (set_cell_size(text, width - 1) + "…")
    )
