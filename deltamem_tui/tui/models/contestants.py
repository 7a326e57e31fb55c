"""Contestants in columns, as a replay and an evaluation's run show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from deltamem_tui.text import one_line
from deltamem_tui.tui.models.words import cuttable

_LONGEST_NAME = 40
_SHORTEST_NAME = 12
_GAP = 2
_HEADING = "contestant"


class LetteredRow(Protocol):
    """A contestant: its letter in plots, its name, and its cells."""

    @property
    def letter(self) -> str:
        """What it is called in plots."""

    @property
    def name(self) -> str:
        """What tells it from the others."""

    @property
    def cells(self) -> Sequence[str]:
        """What it came to, a text a column."""


class LetteredTable(Protocol):
    """Contestants, one a row."""

    @property
    def rows(self) -> Sequence[LetteredRow]:
        """The contestants."""

    def lines(self, width: int) -> tuple[str, list[tuple[str, str]]]:
        """Heading, and per row its letter and the rest."""


def contestant_lines(
    columns: Sequence[str], rows: Sequence[LetteredRow], width: int
) -> tuple[str, list[tuple[str, str]]]:
    """Heading, and per row its letter and the rest; last columns that do not fit are left out.

    Args:
        columns: What the cells are called.
        rows: The contestants.
        width: In terminal cells.
    """
    marks = max((len(row.letter) for row in rows), default=1) + 1
    longest = max(len(_HEADING), *(len(row.name) for row in rows))
    wide = [
        max(len(title), *(len(row.cells[at]) for row in rows)) + _GAP
        for at, title in enumerate(columns)
    ]
    least = min(longest, _SHORTEST_NAME)
    shown = 0
    while shown < len(wide) and marks + least + sum(wide[: shown + 1]) <= width:
        shown += 1
    room = max(min(longest, _LONGEST_NAME, width - marks - sum(wide[:shown])), 1)

    def line(name: str, cells: Sequence[str]) -> str:
        listed = zip(cells[:shown], wide, strict=False)
        named = one_line(cuttable(name), room)
        return f"{named:<{room}}" + "".join(f"{cell:>{most}}" for cell, most in listed)

    heading = " " * marks + line(_HEADING, columns)
    return heading, [(f"{row.letter:<{marks}}", line(row.name, row.cells)) for row in rows]
