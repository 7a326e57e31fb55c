"""A plot of both trees: a title over a canvas of the plotting library."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from deltamem_tui.bank.node import TreeName

if TYPE_CHECKING:
    from textual_plot import PlotWidget

_COLOURS: Mapping[TreeName, str] = {"task": "cyan", "env": "magenta"}
_SIDE: Mapping[TreeName, float] = {"task": -0.2, "env": 0.2}
_BAR = 0.36
_MOST_BARS = 24


class Plot(Vertical):
    """One plot."""

    DEFAULT_CSS = """
    Plot { height: 13; }
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
        for name, colour in _COLOURS.items():
            title.append("■ ", colour).append(f"{name}  ")
        yield Static(title)
        canvas = PlotWidget(allow_pan_and_zoom=False)
        canvas.can_focus = False
        yield canvas

    @property
    def _canvas(self) -> PlotWidget:
        from textual_plot import PlotWidget

        return self.query_one(PlotWidget)

    def bars(self, counts: Mapping[TreeName, Mapping[int, int]]) -> None:
        """A bar a value, the trees side by side."""
        canvas = self._canvas
        canvas.clear()
        for name, values in counts.items():
            shown = list(values.items())[:_MOST_BARS]
            if shown:
                places = [value + _SIDE[name] for value, _ in shown]
                heights = [float(count) for _, count in shown]
                canvas.bar(places, heights, width=_BAR, bar_style=_COLOURS[name])
        ticks = sorted({value for values in counts.values() for value in list(values)[:_MOST_BARS]})
        if ticks:
            canvas.set_xlimits(ticks[0] - 0.6, ticks[-1] + 0.6)
        canvas.set_xticks([float(tick) for tick in ticks[:: max(len(ticks) // 8, 1)]])
        canvas.set_ylimits(ymin=0)

    def named_bars(self, heights: Mapping[TreeName, Mapping[str, float]]) -> None:
        """A bar a name and tree."""
        canvas = self._canvas
        canvas.clear()
        bars = [
            (f"{tree} {name}", height, _COLOURS[tree])
            for tree, named in heights.items()
            for name, height in named.items()
        ]
        canvas.bar(
            [name for name, _, _ in bars],
            [height for _, height, _ in bars],
            width=0.6,
            bar_style=[colour for _, _, colour in bars],
        )
        canvas.set_ylimits(ymin=0)

    def lines(self, places: Sequence[float], values: Mapping[TreeName, Sequence[float]]) -> None:
        """A line a tree."""
        canvas = self._canvas
        canvas.clear()
        for name, heights in values.items():
            if len(places) > 1:
                canvas.plot(list(places), list(heights), line_style=_COLOURS[name])
        canvas.set_ylimits(ymin=0)

    def histogram(
        self,
        counts: Mapping[TreeName, tuple[Sequence[float], Sequence[int]]],
        marks: Mapping[TreeName, float],
    ) -> None:
        """Counts between edges, and a mark a tree."""
        canvas = self._canvas
        canvas.clear()
        for name, (edges, heights) in counts.items():
            if len(heights):
                places = [(low + high) / 2 for low, high in pairwise(edges)]
                canvas.plot(
                    places, [float(height) for height in heights], line_style=_COLOURS[name]
                )
                canvas.add_v_line(marks[name], line_style=_COLOURS[name])
        seen = [*marks.values(), *(edge for edges, _ in counts.values() for edge in edges)]
        if len(ticks := _tenths(min(seen, default=0), max(seen, default=0))) > 1:
            canvas.set_xticks(ticks)
        canvas.set_ylimits(ymin=0)


def _tenths(low: float, high: float) -> list[float]:
    """The tenths between two scores: few enough that their labels do not run together."""
    return [tenth / 10 for tenth in range(math.ceil(low * 10), math.floor(high * 10) + 1)]
