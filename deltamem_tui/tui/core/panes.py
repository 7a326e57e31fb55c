"""Panes that grow: one alone on the screen, or a larger share of it, by keys and by mouse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from textual.css.scalar import Scalar, Unit
from textual.screen import Screen
from textual.widget import Widget

Axis = Literal["width", "height"]
_LAYOUTS = {"width": "horizontal", "height": "vertical"}
_STEP = 1.25
_LEAST_CELLS = 3
_ROUNDED_AWAY = 0.1
"""Of a cell: textual rounds a share down, and one that is a hair too small would lose its row."""


def toggle_maximized(screen: Screen[object]) -> None:
    """Gives the pane in focus the whole screen, or all panes their places again."""
    if screen.maximized is not None:
        screen.minimize()
    elif screen.focused is not None:
        screen.maximize(screen.focused)


def resize(widget: Widget, axis: Axis, steps: int) -> bool:
    """Gives the pane that a widget lies in a larger or smaller share of the room.

    Args:
        widget: The pane, or something in it.
        axis: Whether it becomes wider or taller.
        steps: How much; negative for less.

    Returns:
        Whether there is another pane along this axis to share the room with.
    """
    for each in _ancestors(widget):
        if len(shared := _sharing(each, axis)) > 1:
            share = max(min(_share(each, axis) * _STEP**steps, 8.0), 0.125)
            _set_share(each, axis, share)
            return each in shared
    return False


def drag_top(pane: Widget, row: int) -> None:
    """Moves the upper edge of a pane to a row of the screen; the pane above gives or takes."""
    for each in _ancestors(pane):
        panes = _sharing(each, "height")
        at = panes.index(each) if each in panes else 0
        if at == 0:
            continue
        above = panes[at - 1]
        cells = above.outer_size.height + each.outer_size.height
        first = max(_LEAST_CELLS, min(row - above.region.y, cells - _LEAST_CELLS))
        both = _share(above, "height") + _share(each, "height")
        part = (first + _ROUNDED_AWAY) / cells
        _set_share(above, "height", both * part)
        _set_share(each, "height", both * (1 - part))
        return


def has_edge(widget: Widget | None, row: int) -> bool:
    """Whether the row of the screen is the upper edge of a pane, which has its title."""
    return widget is not None and bool(widget.styles.border_top[0]) and row == widget.region.y


def _ancestors(widget: Widget) -> Iterator[Widget]:
    """The widget, and what it lies in."""
    return (each for each in widget.ancestors_with_self if isinstance(each, Widget))


def _sharing(widget: Widget, axis: Axis) -> list[Widget]:
    """The panes that share the room along an axis, the widget among them; none if it does not."""
    parent = widget.parent
    layout = parent.styles.layout if isinstance(parent, Widget) else None
    if not isinstance(parent, Widget) or layout is None or layout.name != _LAYOUTS[axis]:
        return []
    found = [each for each in parent.children if each.display and _is_share(each, axis)]
    return found if widget in found else []


def _is_share(widget: Widget, axis: Axis) -> bool:
    scalar: Scalar | None = getattr(widget.styles, axis)
    return scalar is not None and scalar.unit == Unit.FRACTION


def _share(widget: Widget, axis: Axis) -> float:
    scalar: Scalar = getattr(widget.styles, axis)
    return scalar.value


def _set_share(widget: Widget, axis: Axis, share: float) -> None:
    setattr(widget.styles, axis, f"{share:.4f}fr")
