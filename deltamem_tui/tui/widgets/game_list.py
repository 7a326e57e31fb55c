"""The games of a run: what each is, and what every contestant made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.style import Style
from rich.text import Text
from textual.widgets import Static

from deltamem_tui.memory.reports.replay import letters
from deltamem_tui.tui.models.run import GameCell, GameLine, RunTable
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.painting import columns, line_of
from deltamem_tui.tui.widgets.plots import colours

_LEAST_TITLE = 14


class GameColumns:
    """Which contestants' columns fit beside the games, and how wide they are.

    Args:
        table: The run.
        chosen: The number of the contestant whose column is always shown.
    """

    def __init__(self, table: RunTable, chosen: Callable[[], int]) -> None:
        self.table = table
        self.chosen = chosen
        cells = [cell for line in table.games for cell in line.cells]
        self._score = max((len(cell.score) for cell in cells), default=1)
        self._steps = max((len(cell.steps) for cell in cells), default=1)

    @property
    def wide(self) -> int:
        """Cells of a column, with the gap before it."""
        return self._score + self._steps + 3

    def shown(self, width: int) -> Sequence[int]:
        """The numbers of the contestants that fit into `width` cells, at least the chosen one."""
        most = max((width - _LEAST_TITLE) // self.wide, 1)
        count, chosen = len(self.table.rows), self.chosen()
        first = min(max(chosen - most + 1, 0), max(count - most, 0))
        return range(first, min(first + most, count))

    def text(self, cell: GameCell, mark: str) -> str:
        """Score and steps of a game, behind a mark."""
        if not cell.score:
            return f"{mark:>2}{'–':>{self.wide - 2}}"
        return f"{mark:>2}{cell.score:>{self._score}} {cell.steps:>{self._steps}}"


class GameHeading(Static):
    """The letters of the contestants above their columns, the chosen one marked.

    Args:
        columns: Which they are.
    """

    DEFAULT_CSS = "GameHeading { height: 1; }"

    def __init__(self, columns: GameColumns) -> None:
        super().__init__()
        self.columns = columns

    def render(self) -> Text:
        """The line."""
        width = self.size.width - 1  # beside the scrollbar of the list
        names = letters(len(self.columns.table.rows))
        colour = colours(names)
        right = Text(end="", no_wrap=True)
        for number in self.columns.shown(width):
            letter = names[number]
            style = Style.parse(colour[letter])
            right.append(" " * (self.columns.wide - len(letter)))
            right.append(letter, style + Style(reverse=number == self.columns.chosen(), bold=True))
        return columns(line_of(("game: score, steps", Style(dim=True))), right, width)


class GameList(LineList):
    """One game a line.

    Args:
        columns: The contestants' columns.
    """

    def __init__(self, columns: GameColumns) -> None:
        super().__init__()
        self.columns = columns

    def line_count(self) -> int:
        """How many games there are."""
        return len(self.columns.table.games)

    @property
    def game(self) -> GameLine:
        """The game under the cursor."""
        return self.columns.table.games[self.cursor]

    def line_text(self, line: int, width: int) -> Text:
        """A game, and what contestants made of it; the chosen one's is marked."""
        width = min(width, self.size.width - 1)
        game = self.columns.table.games[line]
        right = Text(end="", no_wrap=True)
        for number in self.columns.shown(width):
            chosen = line == self.cursor and number == self.columns.chosen()
            cell = game.cells[number]
            style = self.style_of("good" if cell.solved else "quiet")
            right.append_text(line_of((self.columns.text(cell, "›" if chosen else ""), style)))
        return columns(line_of((game.title, None)), right, width)
