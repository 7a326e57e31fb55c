"""Jump mode: a letter on everything that can have the focus, and one key to go there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from deltamem_tui.tui.widgets.dialog import Dialog

LETTERS = "asdfghjklqwertyuiopzxcvbnm"
"""The home row first. No screen has more places than these."""


def jump_targets(screen: Screen[Any]) -> Mapping[str, Widget]:
    """What can have the focus on a screen and is in sight, by letter, in reading order."""
    seen = [widget for widget in screen.focus_chain if widget.region.overlaps(screen.region)]
    seen.sort(key=lambda widget: (widget.region.y, widget.region.x))
    return dict(zip(LETTERS, seen, strict=False))


class JumpScreen(Dialog[Widget | None]):
    """Letters over the screen one comes from, which stays in sight; gives what was chosen."""

    DEFAULT_CSS = """
    JumpScreen { background: transparent; layers: letters; }
    JumpScreen Static {
        layer: letters; position: absolute; width: 3; height: 1;
        background: $accent; color: $text; text-style: bold;
    }
    JumpScreen:ansi Static { background: ansi_yellow; color: ansi_black; }
    """
    BINDINGS: ClassVar = [Binding("escape", "dismiss(None)", "Stay")]

    def __init__(self, targets: Mapping[str, Widget]) -> None:
        super().__init__()
        self._targets = targets

    def compose(self) -> ComposeResult:
        """A letter for each place."""
        for letter in self._targets:
            yield Static(Text(f" {letter} "))

    def on_mount(self) -> None:
        """Put the letters where they belong, also once the screen below has another shape."""
        for below in {target.screen for target in self._targets.values()}:
            below.screen_layout_refresh_signal.subscribe(self, lambda _: self._place())
        self._place()

    def on_resize(self) -> None:
        """Put them there anew once the screen below has its new shape."""
        self.call_after_refresh(self._place)

    def _place(self) -> None:
        for label, target in zip(self.query(Static), self._targets.values(), strict=True):
            label.styles.offset = (target.region.x + _inset(target), target.region.y)
            label.display = bool(target.region)

    def on_key(self, event: events.Key) -> None:
        """A letter goes there; any other key stays."""
        event.stop()
        self.dismiss(self._targets.get(event.character or ""))

    def on_click(self) -> None:
        """A click stays."""
        self.dismiss(None)


def _inset(target: Widget) -> int:
    """Room for the title that stands in a pane's border."""
    return 0 if target.size.height <= 1 else max(target.region.width - 5, 0)
