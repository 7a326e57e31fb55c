"""A box to tick, whose state can be told without colours."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.binding import Binding
from textual.reactive import reactive
from textual.widget import Widget

from deltamem_tui.text import one_line


class Tick(Widget, can_focus=True):
    """A line with a box. Space ticks it; enter is left to the dialog, which goes on.

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
