"""What one types into or ticks. What is pasted is outside text like any other."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.binding import Binding
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input

from deltamem_tui.text import clean, one_line

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


class Tick(Widget, can_focus=True):
    """A line with a box, whose state shows without colours.

    Space ticks it; enter is left to the dialog, which goes on.

    Args:
        label: What it means to tick it.
        ticked: Whether it is ticked at first.
    """

    DEFAULT_CSS = """
    Tick { height: 1; margin-bottom: 1; }
    Tick:focus { text-style: bold reverse; }
    """
    BINDINGS: ClassVar = [
        Binding("space", "tick", "Tick it"),
        Binding("enter", "screen.go_on", "Go on"),
    ]

    ticked: reactive[bool] = reactive(False)

    def __init__(self, label: str, *, ticked: bool = False, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._label = one_line(label)
        self.set_reactive(Tick.ticked, ticked)

    def render(self) -> Text:
        """The box and its label."""
        return Text(f"[{'x' if self.ticked else ' '}] {self._label}", no_wrap=True)

    def action_tick(self) -> None:
        """Tick it, or take the tick away."""
        self.ticked = not self.ticked

    def on_click(self) -> None:
        """A click is like the space bar."""
        self.action_tick()
