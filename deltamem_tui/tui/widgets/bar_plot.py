"""A plot of bars: a row a value, the trees side by side or, where it is narrow, in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text
from textual.geometry import Size
from textual.widget import Widget

from deltamem_tui.memory.deltamem.collections import COLLECTIONS
from deltamem_tui.tui.models.bars import BarRow, bar
from deltamem_tui.tui.widgets.painting import TREE_COLOURS

_SIDE_BY_SIDE = 36
"""In fewer cells than this, one tree stands below the other."""


class BarPlot(Widget):
    """Bars with their names at the left and their numbers at the right, all to one scale.

    Args:
        title: What is counted.

    Attributes:
        rows: What is shown; None while it is counted.
    """

    DEFAULT_CSS = "BarPlot { height: auto; padding: 0 1; margin-bottom: 1; }"

    def __init__(self, title: str, id: str | None = None) -> None:  # noqa: A002 - textual's word
        super().__init__(id=id)
        self._title = title
        self.rows: Sequence[BarRow] | None = None

    def show(self, rows: Sequence[BarRow]) -> None:
        """Show these rows."""
        self.rows = rows
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """The title, and what is below it."""
        return 1 + len(list(self._lines(width)))

    def render(self) -> Text:
        """Title, the trees' names, a line a row."""
        lines = [Text(self._title, "bold"), *self._lines(self.content_size.width)]
        return Text("\n").join(lines)

    def _lines(self, width: int) -> Iterator[Text]:
        if not self.rows:
            yield Text("counting …" if self.rows is None else "nothing to count", "dim")
        elif width >= _SIDE_BY_SIDE:
            yield from _block(self.rows, tuple(COLLECTIONS), width)
        else:
            for name in COLLECTIONS:
                yield from _block(self.rows, (name,), width)


def _block(rows: Sequence[BarRow], trees: Sequence[str], width: int) -> Iterator[Text]:
    """Some trees side by side, below their names."""
    names = max(len(row.name) for row in rows) + 1
    numbers = max(len(_number(row.values[tree])) for row in rows for tree in COLLECTIONS)
    most = max(row.values[tree] or 0 for row in rows for tree in COLLECTIONS)
    column = (width - names) // len(trees)
    heading = Text(" " * names, no_wrap=True)
    for tree in trees:
        heading.append("■ ", TREE_COLOURS[tree]).append(tree.ljust(column - 2))
    yield heading
    for row in rows:
        line = Text(f"{row.name:>{names - 1}} ", no_wrap=True)
        for tree in trees:
            value = row.values[tree]
            drawn = bar(value or 0, most, max(column - numbers - 2, 1))
            line.append(drawn, TREE_COLOURS[tree])
            line.append(f"{' ' if drawn else ''}{_number(value)}".ljust(column - len(drawn)))
        yield line


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
