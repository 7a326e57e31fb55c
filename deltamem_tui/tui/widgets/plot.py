"""A plot of lines for both trees: a title over a canvas of the plotting library."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import count, pairwise
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from deltamem_tui.tui.widgets.painting import TREE_COLOURS

if TYPE_CHECKING:
    from textual_plot import PlotWidget

_MOST_TICKS = 5
_ROOM = 0.04


class Plot(Vertical):
    """One plot."""

    DEFAULT_CSS = """
    Plot { height: 12; margin-bottom: 1; }
    Plot > Static { height: 1; padding: 0 1; }
    Plot > PlotWidget { height: 1fr; }
    """

    def __init__(self, title: str, id: str | None = None) -> None:  # noqa: A002 - textual's word
        super().__init__(id=id)
        self._title = title

    def compose(self) -> ComposeResult:
        """Title and canvas."""
        from textual_plot import PlotWidget

        title = Text(f"{self._title}   ", "bold")
        for name, colour in TREE_COLOURS.items():
            title.append("■ ", colour).append(f"{name}  ")
        yield Static(title)
        canvas = PlotWidget(allow_pan_and_zoom=False)
        canvas.can_focus = False
        canvas.set_reactive(PlotWidget.margin_top, 0)
        canvas.set_reactive(PlotWidget.margin_bottom, 1)
        yield canvas

    @property
    def _canvas(self) -> PlotWidget:
        from textual_plot import PlotWidget

        return self.query_one(PlotWidget)

    def lines(self, places: Sequence[float], values: Mapping[str, Sequence[float]]) -> None:
        """A line a tree, through whole numbers."""
        self._canvas.clear()
        for name, heights in values.items():
            self._line(name, places, heights)
        low, high = min(places, default=0), max(places, default=0)
        self._axes((low, high), ticks(low, high), values.values())

    def histogram(
        self,
        counts: Mapping[str, tuple[Sequence[float], Sequence[int]]],
        marks: Mapping[str, float],
    ) -> None:
        """Counts between edges, and a mark a tree."""
        self._canvas.clear()
        for name, (edges, heights) in counts.items():
            if len(heights):
                self._line(name, [(low + high) / 2 for low, high in pairwise(edges)], heights)
                self._canvas.add_v_line(marks[name], line_style=TREE_COLOURS[name])
        seen = [*marks.values(), *(edge for edges, _ in counts.values() for edge in edges)]
        low, high = min(seen, default=0), max(seen, default=0)
        tenths = [tenth / 10 for tenth in ticks(low * 10, high * 10)]
        self._axes((low, high), tenths, [heights for _, heights in counts.values()])

    def _line(self, name: str, places: Sequence[float], heights: Sequence[float]) -> None:
        """A line of dots, which lets another one that crosses it be seen."""
        from textual_plot import HiResMode

        self._canvas.plot(
            list(places), list(heights), TREE_COLOURS[name], hires_mode=HiResMode.BRAILLE
        )

    def _axes(
        self,
        across: tuple[float, float],
        ticks_across: Sequence[float],
        values: Iterable[Sequence[float]],
    ) -> None:
        """Ticks at whole numbers from zero up, and room: what lies on the edge is not drawn."""
        canvas = self._canvas
        most = max((each for heights in values for each in heights), default=0) or 1
        ticks_up = ticks(0, most)
        room = (across[1] - across[0] or 1) * _ROOM
        canvas.margin_left = len(f"{ticks_up[-1]:.0f}") + 3
        canvas.set_xlimits(across[0] - room, across[1] + room)
        canvas.set_ylimits(-most * _ROOM, most * (1 + 2 * _ROOM))
        canvas.set_xticks(ticks_across)
        canvas.set_yticks(ticks_up)


def ticks(low: float, high: float) -> list[float]:
    """The ones, twos, fives, tens and so on between two numbers, not more than a handful."""
    steps = (digit * 10**power for power in count() for digit in (1, 2, 5))
    step = next(step for step in steps if high // step + -low // step < _MOST_TICKS)
    return [
        float(each * step) for each in range(math.ceil(low / step), math.floor(high / step) + 1)
    ]
