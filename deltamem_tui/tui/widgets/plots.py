"""Plots, a colour a collection: lines on a canvas of the plotting library."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import count, cycle, pairwise
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.widgets.text_pane import move_cursor, move_page, move_to_end

if TYPE_CHECKING:
    from textual_plot import PlotWidget

_COLOURS = ("cyan", "magenta", "yellow", "green", "blue", "red")
"""Of the collections in their order; each theme has its own cyan and magenta."""

_MOST_TICKS = 5
_ROOM = 0.04


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
        """Return the title and the colours of the names, or that there is nothing to draw."""
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
        values: Mapping[str, Sequence[float]],
    ) -> None:
        """Draw a line a name over places that are whole numbers."""
        self._canvas.clear()
        for name, heights in values.items():
            self._line(name, places, heights)
        low, high = min(places, default=0), max(places, default=0)
        self._axes((low, high), ticks(low, high), list(values.values()))

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
        """Draw a line of dots, which lets another one that crosses it be seen."""
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
