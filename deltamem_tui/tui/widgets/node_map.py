"""The map of a collection: points on a canvas of the plotting library, one of them chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from deltamem_tui.tui.models.node_map import Mark, NodeMap

if TYPE_CHECKING:
    from textual_plot import PlotWidget

SIGNS: dict[Mark, tuple[str, str, str]] = {
    "quiet": ("·", "grey62", "never hit"),
    "hit": ("●", "cyan", "hit"),
    "useless": ("▼", "yellow", "seldom helped where it was shown"),
    "failure": ("✗", "red", "failure"),
}
"""Per mark its character, its colour, and what it means."""

_EDGE = 1.1


class NodeMapView(Vertical, can_focus=True):
    """A map with a cursor; `WentTo` says that it is on another node.

    Attributes:
        shown: What is drawn; None while it is laid out.
        point: The number of the point under the cursor.
    """

    DEFAULT_CSS = """
    NodeMapView { border-top: solid $primary; border-title-color: $foreground; }
    NodeMapView:focus { border-top: heavy $accent; border-title-style: bold; }
    NodeMapView > PlotWidget { height: 1fr; }
    """

    class WentTo(Message):
        """The cursor is on another node."""

    class Picked(Message):
        """The node under the cursor was clicked once more."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: NodeMap | None = None
        self.point = 0

    def compose(self) -> ComposeResult:
        """The canvas."""
        from textual_plot import PlotWidget

        canvas = PlotWidget(allow_pan_and_zoom=False)
        canvas.can_focus = False
        for side in ("top", "bottom", "left"):
            canvas.set_reactive(getattr(PlotWidget, f"margin_{side}"), 0)
        yield canvas

    @property
    def _canvas(self) -> PlotWidget:
        from textual_plot import PlotWidget

        return self.query_one(PlotWidget)

    @property
    def row(self) -> int | None:
        """The row of the node under the cursor; None if there is none."""
        found = self.shown
        return int(found.rows[self.point]) if found is not None and len(found.rows) else None

    def show(self, found: NodeMap, title: str) -> None:
        """Draws a map, the cursor on the node that it was on if it is still there."""
        row = self.row if self.shown is not None and self.shown.tree == found.tree else None
        same = [at for at, each in enumerate(found.rows.tolist()) if each == row]
        self.shown = found
        self.border_title = Content(title)
        self._go(same[0] if same else found.nearest(0, 0) or 0)

    def _go(self, point: int) -> None:
        self.point = point
        self._draw()
        self.post_message(self.WentTo())

    def _draw(self) -> None:
        canvas, found = self._canvas, self.shown
        canvas.clear()
        canvas.set_xlimits(-_EDGE, _EDGE)
        canvas.set_ylimits(-_EDGE, _EDGE)
        canvas.set_xticks([])
        canvas.set_yticks([])
        if found is None or not len(found.rows):
            return
        for mark, places in found.groups.items():
            sign, colour, _ = SIGNS[mark]
            canvas.scatter(places[:, 0], places[:, 1], sign, colour)
        x, y = found.places[self.point]
        canvas.scatter([x], [y], SIGNS[found.marks[self.point]][0], "bold reverse")

    def go_towards(self, across: int, up: int) -> None:
        """Goes to the next node in a direction."""
        if self.shown is not None and len(self.shown.rows):
            self._go(self.shown.towards(self.point, across, up))

    def on_click(self, event: events.Click) -> None:
        """Goes to the node next to the click; a second click on it chooses it."""
        offset = event.get_content_offset(self)
        if offset is None or self.shown is None:
            return
        frame = 1  # the canvas draws an axis around the plot
        point = self.shown.nearest(
            *self._canvas.get_coordinate_from_pixel(offset.x - frame, offset.y - frame)
        )
        if point is not None and point == self.point:
            self.post_message(self.Picked())
        elif point is not None:
            self._go(point)
