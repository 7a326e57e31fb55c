"""What one types into or ticks. What is pasted is outside text like any other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding
from textual.events import Click
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


class Choice(Widget, can_focus=True):
    """Some lines, one of which is chosen; which one shows without colours.

    The arrow keys choose; enter is left to the dialog, which goes on.

    Args:
        choices: What can be chosen, and what each is.
        chosen: What is chosen at first; the first one if that is none of them.
    """

    DEFAULT_CSS = """
    Choice { height: auto; margin-bottom: 1; }
    Choice:focus { text-style: bold; }
    """
    BINDINGS: ClassVar = [
        Binding("up", "choose(-1)", "The one above"),
        Binding("down", "choose(1)", "The one below"),
        Binding("enter", "screen.go_on", "Go on"),
    ]

    place: reactive[int] = reactive(0)

    def __init__(self, choices: Mapping[str, str], chosen: str, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._choices = choices
        names = list(choices)
        self.set_reactive(Choice.place, names.index(chosen) if chosen in choices else 0)

    @property
    def chosen(self) -> str:
        """What is chosen."""
        return list(self._choices)[self.place]

    def render(self) -> Text:
        """A line each."""
        width = max(map(len, self._choices))
        lines = [
            f"({'•' if name == self.chosen else ' '}) {one_line(name):<{width}}  {one_line(what)}"
            for name, what in self._choices.items()
        ]
        return Text("\n".join(lines), no_wrap=True, overflow="ellipsis")

    def action_choose(self, step: int) -> None:
        """Choose the line above or below."""
        self.place = min(max(self.place + step, 0), len(self._choices) - 1)

    def on_click(self, event: Click) -> None:
        """A click chooses its line."""
        self.place = min(event.y, len(self._choices) - 1)
