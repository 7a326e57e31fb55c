"""A line to type in. What is pasted into it is outside text like any other."""

from __future__ import annotations

from textual.widgets import Input

from deltamem_tui.text import clean


class LineInput(Input):
    """A line that keeps control characters out, and whose cursor stands still.

    A blinking one would send to the terminal for ever, also over a slow line.
    """

    def on_mount(self) -> None:
        """Keep the cursor from blinking."""
        self.cursor_blink = False

    def validate_value(self, value: str) -> str:
        """The text as one line, its spaces kept: one may still be typing."""
        return clean(value).replace("\n", " ").replace("\t", " ")
