"""A line to type in. What is pasted into it is outside text like any other."""

from __future__ import annotations

from textual.widgets import Input

from deltamem_tui.text import clean

_TYPED = frozenset({"slash", "minus", "plus"})


class LineInput(Input):
    """A line that keeps control characters out, and whose cursor stands still.

    A blinking one would send to the terminal for ever, also over a slow line.
    """

    def on_mount(self) -> None:
        """Keep the cursor from blinking."""
        self.cursor_blink = False

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Whether a key is typed here; textual does not know what some of them type."""
        return key in _TYPED or super().check_consume_key(key, character)

    def validate_value(self, value: str) -> str:
        """The text as one line, its spaces kept: one may still be typing."""
        return clean(value).replace("\n", " ").replace("\t", " ")
