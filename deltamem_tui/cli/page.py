"""A page for a person: drawn with rich on a terminal, plain text with tabs in a pipe.

No text is read as markup, and all of it is cleaned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from io import TextIOWrapper
from typing import TYPE_CHECKING, Literal, TextIO

from deltamem_tui.text import clean, one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

Cell = str | int | float | bool | None

_STYLES = {"success": "green", "failure": "red", "✗": "red"}
"""The colours of cells that say how an episode ended."""


def is_terminal(stream: TextIO) -> bool:
    """Return whether `stream` is a terminal."""
    return not stream.closed and stream.isatty()


class Page:
    """Writes text, facts, tables and outlines to a stream."""

    def __init__(self, stream: TextIO) -> None:
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # what its encoding lacks becomes a question mark
        self._stream = stream
        self.drawn = is_terminal(stream)

    def text(self, content: str, *, style: str = "") -> None:
        """Write text as it is, in a rich style (`bold`, `red`) on a terminal, and end the line."""
        if self.drawn:
            self._console.print(_text(clean(content), style), soft_wrap=True)
        else:
            self._stream.write(clean(content) + "\n")

    def facts(self, facts: Mapping[str, Cell]) -> None:
        """Write name and value pairs, one a line."""
        if not self.drawn:
            for name, value in facts.items():
                self.text(f"{one_line(name)}\t{_plain_cell(value)}")
            return
        from rich.table import Column, Table

        grid = Table.grid(Column(no_wrap=True), Column(overflow="fold"), padding=(0, 2))
        for name, value in facts.items():
            grid.add_row(_text(one_line(name), "bold"), _shown_cell(value))
        self._console.print(grid)

    def table(
        self, columns: Sequence[str], rows: Iterable[Sequence[Cell]], *, zeros: bool = True
    ) -> None:
        """Write records, one a line, below the names of their columns.

        A terminal is spared the columns that are empty in all of them; without `zeros` a nought
        is nothing, too.
        """
        if not self.drawn:
            for row in (columns, *rows):
                self.text("\t".join(map(_plain_cell, row)))
            return
        from rich import box
        from rich.table import Table

        kept = [[cell if zeros or cell != 0 else None for cell in row] for row in rows]
        used = [at for at in range(len(columns)) if any(r[at] not in ("", None) for r in kept)]
        columns = [columns[at] for at in used] if kept else columns
        kept = [[row[at] for at in used] for row in kept]
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
        for index, name in enumerate(columns):
            number = bool(kept) and all(_is_number(row[index]) for row in kept)
            side: Literal["left", "right"] = "right" if number else "left"
            heading = _text(one_line(name))  # a number is cut nowhere: the texts give way
            table.add_column(heading, justify=side, overflow="fold", no_wrap=number)
        for row in kept:
            table.add_row(*map(_shown_cell, row))
        self._console.print(table)

    def outline(self, entries: Iterable[tuple[int, str]]) -> None:
        """Write a tree, one entry a line, with guides that lead from parent to child.

        Entries are depth (0 for the outermost) and text, each parent before its children.
        """
        kept = list(entries)
        for guide, (_, entry) in zip(_guides([depth for depth, _ in kept]), kept, strict=True):
            line = guide + one_line(entry)
            if self.drawn:
                style = next((color for mark, color in _STYLES.items() if f" {mark} " in line), "")
                self._console.print(_text(line, style), no_wrap=True, overflow="ellipsis")
            else:
                self.text(line)

    @cached_property
    def _console(self) -> Console:
        from rich.console import Console

        return Console(file=self._stream, highlight=False, markup=False, emoji=False)


def _text(content: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(content, style=style)


def _is_number(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, (int, float)) and not isinstance(cell, bool))


def _plain_cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:.4g}" if isinstance(cell, float) else one_line(str(cell))


def _shown_cell(cell: Cell) -> Text:
    shown = "–" if cell is None else _plain_cell(cell)
    return _text(shown, _STYLES.get(shown, ""))


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
