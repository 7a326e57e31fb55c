"""Actions of a widget that the keys of a list scroll, though none of its lines is current."""

from __future__ import annotations

from textual.widget import Widget


def move_cursor(widget: Widget, lines: int) -> None:
    """Scrolls by some lines."""
    widget.scroll_relative(y=lines, animate=False)


def move_page(widget: Widget, pages: int) -> None:
    """Scrolls by some pages."""
    widget.scroll_relative(y=pages * max(widget.size.height - 1, 1), animate=False)


def move_to_end(widget: Widget, direction: int) -> None:
    """Scrolls to the top or the bottom."""
    widget.scroll_to(y=0 if direction < 0 else widget.max_scroll_y, animate=False)
