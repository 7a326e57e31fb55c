"""Plots, a colour a collection: lines on a canvas of the plotting library, and rows of bars."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, cycle, pairwise
from math import ceil
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.models.statistics import BarRow
from deltamem_tui.tui.widgets.text_pane import move_cursor, move_page, move_to_end

if TYPE_CHECKING:
    from textual_plot import PlotWidget

_COLOURS = ("cyan", "magenta", "yellow", "green", "blue", "red")
"""Of the collections in their order; each theme has its own cyan and magenta."""

_MOST_TICKS = 5
_ROOM = 0.04
_SIDE_BY_SIDE = 36
"""In fewer cells than this, one tree stands below the other."""

_EIGHTHS = " ▏▎▍▌▋▊▉█"


def colours(names: Iterable[str]) -> dict[str, str]:
    """Return the colours of lines, by name."""
    return dict(zip(names, cycle(_COLOURS), strict=False))


class Plots(VerticalScroll, can_focus=True):
    """Plots, one below the other; the keys of a list scroll them."""

    DEFAULT_CSS = "Plots { scrollbar-size-vertical: 1; }"
    BINDINGS: ClassVar = [*bindings("list")]
    action_move_cursor = move_cursor
    action_move_page = move_page
    action_move_to_end = move_to_end


class Plot(Vertical):
    """Lines, one for each of some names."""

    DEFAULT_CSS = """
    Plot { height: 12; margin-bottom: 1; }
    Plot > Static { height: 1; padding: 0 1; }
    Plot > PlotWidget { height: 1fr; }
    Plot.-empty { height: 1; }
    Plot.-empty > PlotWidget { display: none; }
    """

    def __init__(
        self,
        title: str,
        names: Sequence[str],
        id: str | None = None,  # noqa: A002 - textual's word
    ) -> None:
        super().__init__(id=id)
        self._title = title
        self._colours = colours(names)

    def compose(self) -> ComposeResult:
        from textual_plot import PlotWidget

        yield Static(self._heading())
        canvas = PlotWidget(allow_pan_and_zoom=False)
        canvas.can_focus = False
        canvas.set_reactive(PlotWidget.margin_top, 0)
        canvas.set_reactive(PlotWidget.margin_bottom, 1)
        yield canvas

    def _heading(self, *, empty: bool = False) -> Text:
        """What is shown, and the colours of the names, or that there is nothing to be drawn."""
        title = Text(f"{self._title}   ", "bold")
        if empty:
            return title.append("nothing to draw yet", "not bold dim")
        for name, colour in self._colours.items():
            title.append("■ ", colour).append(f"{name}  ")
        return title

    @property
    def _canvas(self) -> PlotWidget:
        from textual_plot import PlotWidget

        return self.query_one(PlotWidget)

    def lines(
        self,
        places: Sequence[float],
        values: Mapping[str, Sequence[float | None]],
        top: float | None = None,
    ) -> None:
        """Return a line a name over places that are whole numbers.

        Args:
            places: Where the values stand.
            values: Per name its values; None where it has none yet.
            top: What the axis reaches at least.
        """
        self._canvas.clear()
        known = {
            name: [(at, each) for at, each in zip(places, heights, strict=True) if each is not None]
            for name, heights in values.items()
        }
        for name, points in known.items():
            self._line(name, [at for at, _ in points], [height for _, height in points])
        low, high = min(places, default=0), max(places, default=0)
        heights = [[height for _, height in points] for points in known.values()]
        self._axes((low, high), ticks(low, high), [*heights, [top or 0]])

    def histogram(
        self,
        counts: Mapping[str, tuple[Sequence[float], Sequence[int]]],
        marks: Mapping[str, float],
    ) -> None:
        """Draw counts between edges, and a mark a tree."""
        self._canvas.clear()
        for name, (edges, heights) in counts.items():
            if len(heights):
                self._line(name, [(low + high) / 2 for low, high in pairwise(edges)], heights)
                self._canvas.add_v_line(marks[name], line_style=self._colours[name])
        seen = [*marks.values(), *(edge for edges, _ in counts.values() for edge in edges)]
        low, high = min(seen, default=0), max(seen, default=0)
        tenths = [tenth / 10 for tenth in ticks(low * 10, high * 10)]
        self._axes((low, high), tenths, [heights for _, heights in counts.values()])

    def _line(self, name: str, places: Sequence[float], heights: Sequence[float]) -> None:
        """Return a line of dots, which lets another one that crosses it be seen."""
        from textual_plot import HiResMode

        self._canvas.plot(
            list(places), list(heights), self._colours[name], hires_mode=HiResMode.BRAILLE
        )

    def _axes(
        self,
        across: tuple[float, float],
        ticks_across: Sequence[float],
        values: Iterable[Sequence[float]],
    ) -> None:
        """Ticks at whole numbers from zero up, and room: what lies on the edge is not drawn."""
        canvas = self._canvas
        most = max((each for heights in values for each in heights), default=0)
        self.set_class(not most, "-empty")
        self.query_one(Static).update(self._heading(empty=not most))
        most = most or 1
        ticks_up = ticks(0, most)
        room = (across[1] - across[0] or 1) * _ROOM
        canvas.margin_left = len(f"{ticks_up[-1]:.0f}") + 3
        canvas.set_xlimits(across[0] - room, across[1] + room)
        canvas.set_ylimits(-most * _ROOM, most * (1 + 2 * _ROOM))
        canvas.set_xticks(ticks_across)
        canvas.set_yticks(ticks_up)


def ticks(low: float, high: float) -> list[float]:
    """Return the ones, twos, fives, tens and so on between two numbers, not more than a handful."""
    steps = (digit * 10**power for power in count() for digit in (1, 2, 5))
    step = next(step for step in steps if high // step + -low // step < _MOST_TICKS)
    return [
        float(each * step) for each in range(math.ceil(low / step), math.floor(high / step) + 1)
    ]


class BarPlot(Widget):
    """Bars with their names at the left and their numbers at the right, all to one scale.

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
        """Return the title, and what is below it."""
        return 1 + len(list(self._lines(width)))

    def render(self) -> Text:
        lines = [Text(self._title, "bold"), *self._lines(self.content_size.width)]
        return Text("\n").join(lines)

    def _lines(self, width: int) -> Iterator[Text]:
        if not self.rows or not any(value for row in self.rows for value in row.values.values()):
            yield Text("counting …" if self.rows is None else "nothing to count", "dim")
        elif width >= _SIDE_BY_SIDE:
            yield from _block(self.rows, tuple(self.rows[0].values), width)
        else:
            for name in self.rows[0].values:
                yield from _block(self.rows, (name,), width)


def _block(rows: Sequence[BarRow], trees: Sequence[str], width: int) -> Iterator[Text]:
    """Return some trees side by side, below their names."""
    names = max(len(row.name) for row in rows) + 1
    numbers = max(len(_number(value)) for row in rows for value in row.values.values())
    most = max(value or 0 for row in rows for value in row.values.values())
    colour = colours(rows[0].values)
    column = (width - names) // len(trees)
    heading = Text(" " * names, no_wrap=True)
    for tree in trees:
        name = tree if len(tree) < column - 2 else f"{tree[: max(column - 4, 1)]}…"
        heading.append("■ ", colour[tree]).append(name.ljust(column - 2))
    yield heading
    for row in rows:
        line = Text(f"{row.name:>{names - 1}} ", no_wrap=True)
        for tree in trees:
            value = row.values[tree]
            drawn = bar(value or 0, most, max(column - numbers - 2, 1))
            line.append(drawn, colour[tree])
            line.append(f"{' ' if drawn else ''}{_number(value)}".ljust(column - len(drawn)))
        yield line


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def bar(value: float, most: float, width: int) -> str:
    """Return a bar of eighths of a cell; what is more than nothing can be seen."""
    eighths = ceil(value / most * width * 8) if most > 0 else 0
    whole, part = divmod(min(eighths, width * 8), 8)
    return "█" * whole + (_EIGHTHS[part] if part else "")
