"""What can be scrolled by the keys of a list, though no line of it is the current one."""

from __future__ import annotations

from textual.widget import Widget


class Scrolling(Widget):
    """A widget that the keys of a list scroll; which keys those are, says the registry.

    It stands behind the other base: textual inherits styles from the first alone.
    """

    def action_move_cursor(self, lines: int) -> None:
        """Scroll by some lines."""
        self.scroll_relative(y=lines, animate=False)

    def action_move_page(self, pages: int) -> None:
        """Scroll by some pages."""
        self.scroll_relative(y=pages * max(self.size.height - 1, 1), animate=False)

    def action_move_to_end(self, direction: int) -> None:
        """Scroll to the top or the bottom."""
        self.scroll_to(y=0 if direction < 0 else self.max_scroll_y, animate=False)
