"""Contestants, one a line, below the names of their columns."""

from __future__ import annotations

from typing import Generic, TypeVar

from rich.style import Style
from rich.text import Text
from textual.widgets import Static

from deltamem_tui.memory.reports.replay import letters
from deltamem_tui.tui.models.contestants import LetteredTable
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.painting import line_of
from deltamem_tui.tui.widgets.plots import colours

TableT = TypeVar("TableT", bound=LetteredTable)


class ContestantList(LineList, Generic[TableT]):
    """One contestant a line, in the colour of its curves.

    Args:
        table: The contestants.
    """

    def __init__(self, table: TableT) -> None:
        super().__init__()
        self.table = table

    def line_count(self) -> int:
        """How many contestants there are."""
        return len(self.table.rows)

    def line_text(self, line: int, width: int) -> Text:
        """A contestant in columns."""
        rows = self.table.rows
        colour = colours(letters(len(rows)))[rows[line].letter]
        mark, rest = self.table.lines(width)[1][line]
        return line_of((mark, Style.parse(colour)), (rest, None))


class ContestantHeading(Static):
    """What the columns are called.

    Args:
        table: What is headed.
    """

    DEFAULT_CSS = "ContestantHeading { height: 2; border-top: solid $primary; text-style: dim; }"

    def __init__(self, table: LetteredTable) -> None:
        super().__init__()
        self.table = table

    def render(self) -> Text:
        """The line."""
        return Text(self.table.lines(self.size.width)[0], no_wrap=True, overflow="ellipsis")
