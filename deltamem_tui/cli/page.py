"""A page for a person: the forms in which commands show data.

On a terminal a page is drawn with rich. Piped it is plain: verbatim text, and one
record a line with tabs between its fields, for `cut`, `sort` and `awk`. No text is ever
read as markup, and all of it is cleaned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from io import TextIOWrapper
from typing import TYPE_CHECKING, TextIO

from deltamem_tui.text import clean, one_line

if TYPE_CHECKING:
    from rich.console import Console

Cell = str | int | float | bool | None

_PROSE_WIDTH = 14
_BOUNDLESS = 1_000_000


def is_terminal(stream: TextIO) -> bool:
    """Return whether `stream` is a terminal."""
    return not stream.closed and stream.isatty()


class Page:
    """Writes text, facts, tables and outlines to a stream: drawn on a terminal, else plain."""

    def __init__(self, stream: TextIO) -> None:
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # what its encoding lacks becomes a question mark
        self._stream = stream
        self.drawn = is_terminal(stream)

    def text(self, content: str, *, style: str = "") -> None:
        """Write text as it is, in a rich style (`bold`, `red`) on a terminal, and end the line."""
        if not self.drawn:
            self._line(clean(content))
            return
        from rich.text import Text

        self._console.print(Text(clean(content), style=style), soft_wrap=True)

    def item(self, lead: str, content: str, *, style: str = "") -> None:
        """Write a line of text behind what leads it; on a terminal it is folded between words."""
        if not self.drawn:
            self._line(clean(lead) + one_line(content))
            return
        from rich.table import Column, Table
        from rich.text import Text

        grid = Table.grid(Column(no_wrap=True), Column(overflow="fold"))
        grid.add_row(Text(clean(lead)), Text(one_line(content), style=style))
        self._console.print(grid)

    @property
    def width(self) -> int:
        """How many cells a line of the terminal has; only if the page is drawn."""
        return self._console.width

    def line(self, parts: Iterable[tuple[str, str]]) -> None:
        """Write one line of texts, each with its rich style, none of them wrapped."""
        kept = [(clean(text).replace("\n", " "), style) for text, style in parts]
        if not self.drawn:
            self._line("".join(text for text, _ in kept))
            return
        from rich.text import Text

        self._console.print(Text.assemble(*kept), no_wrap=True, overflow="crop")

    def facts(self, facts: Mapping[str, Cell]) -> None:
        """Write name and value pairs, one a line."""
        if not self.drawn:
            for name, value in facts.items():
                self._line(f"{one_line(name)}\t{_plain_cell(value)}")
            return
        self._grid((name, _shown_cell(value)) for name, value in facts.items())

    def table(
        self, columns: Sequence[str], rows: Iterable[Sequence[Cell]], *, headed: bool = False
    ) -> None:
        """Write records, one a line. The column names are for the terminal only, as a rule.

        On a terminal that is too narrow for all columns, each record is a block of its own.
        `headed` writes the names in a pipe, too: for tables among other data, or of bare numbers.
        """
        if not self.drawn:
            for row in (columns, *rows) if headed else rows:
                self._line("\t".join(_plain_cell(cell) for cell in row))
            return
        from rich import box
        from rich.measure import Measurement
        from rich.table import Table
        from rich.text import Text

        kept = [list(row) for row in rows]
        shown = [[_shown_cell(cell) for cell in row] for row in kept]
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
        for index, name in enumerate(columns):
            number = bool(kept) and all(_is_number(row[index]) for row in kept)
            table.add_column(
                Text(one_line(name)),
                justify="right" if number else "left",
                min_width=_least_width([row[index] for row in shown]),
            )
        for row in shown:
            table.add_row(*map(Text, row))
        console = self._console
        boundless = console.options.update_width(_BOUNDLESS)
        if Measurement.get(console, boundless, table).minimum <= console.width:
            console.print(table)
        else:
            self._blocks(columns, shown)

    def outline(self, entries: Iterable[tuple[int, str]]) -> None:
        """Write a tree, one entry a line, with guides that lead from parent to child.

        Entries are depth (0 for the outermost) and text, each parent before its children.
        """
        kept = list(entries)
        lines = (
            guide + one_line(text)
            for guide, (_, text) in zip(_guides([depth for depth, _ in kept]), kept, strict=True)
        )
        if not self.drawn:
            for line in lines:
                self._line(line)
            return
        from rich.text import Text

        for line in lines:
            self._console.print(Text(line), no_wrap=True, overflow="ellipsis")

    def _blocks(self, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Write records below each other, a line for each cell that is not empty."""
        for number, row in enumerate(rows):
            if number:
                self.text("")
            self._grid((name, cell) for name, cell in zip(columns, row, strict=True) if cell)

    def _grid(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Draw names and what belongs to them, which goes on below if it is long."""
        from rich.table import Table
        from rich.text import Text

        grid = Table.grid(padding=(0, 2))
        for name, shown in pairs:
            grid.add_row(Text(one_line(name), style="bold"), Text(shown, overflow="fold"))
        self._console.print(grid)

    @cached_property
    def _console(self) -> Console:
        from rich.console import Console

        return Console(file=self._stream, highlight=False, markup=False, emoji=False)

    def _line(self, line: str) -> None:
        self._stream.write(line + "\n")


def _least_width(cells: Sequence[str]) -> int:
    """Return the least width at which a column can be read: no word is cut, and prose has room."""
    word = max((len(word) for cell in cells for word in cell.split()), default=0)
    return min(max(map(len, cells), default=0), max(word, _PROSE_WIDTH))


def _is_number(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, (int, float)) and not isinstance(cell, bool))


def _plain_cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:.4g}" if isinstance(cell, float) else one_line(str(cell))


def _shown_cell(cell: Cell) -> str:
    return "–" if cell is None else _plain_cell(cell)


def _guides(depths: Sequence[int]) -> list[str]:
    """Return the guide before each entry: a branch from its parent, and lines to later relatives.

    Built from the last entry to the first, so that each knows whether a sibling follows.
    """
    guides: list[str] = []
    followed: set[int] = set()  # the depths at which a later entry of the same parent comes
    for depth in reversed(depths):
        before = "".join("│  " if level in followed else "   " for level in range(1, depth))
        branch = ("├─ " if depth in followed else "└─ ") if depth else ""
        guides.append(before + branch)
        followed = {level for level in followed if level < depth} | {depth}
    return guides[::-1]
