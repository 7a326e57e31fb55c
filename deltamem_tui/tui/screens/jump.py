"""Jump mode: a letter on every pane and every line of a list, and one key to go there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.geometry import Offset
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from deltamem_tui.tui.widgets.dialog import Dialog, Key, KeyLine
from deltamem_tui.tui.widgets.line_list import LineList

LETTERS = "asdfghjklqwertyuiopzxcvbnm"
"""The home row first."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one can jump to: what can have the focus, or a line of a list.

    Attributes:
        widget: What gets the focus.
        row: The line, counted from the first that is in sight; None for no line.
    """

    widget: Widget
    row: int | None = None

    @property
    def offset(self) -> Offset | None:
        """Where its letter stands; None if it is not in sight."""
        if not self.widget.region:
            return None
        if self.row is None:
            return self.widget.region.offset + Offset(_inset(self.widget), 0)
        if self.row >= _rows(self.widget):
            return None
        return self.widget.content_region.offset + Offset(0, self.row)

    def go(self) -> None:
        """Go there."""
        self.widget.focus()
        if self.row is not None and isinstance(self.widget, LineList):
            self.widget.cursor = self.widget.scroll_offset.y + self.row


def jump_targets(screen: Screen[Any]) -> Mapping[str, Place]:
    """The places that are in sight on a screen, by what is typed for them.

    Panes come first, so that their letters are short and stay the same; then lines. Each in
    reading order.
    """
    panes = [each for each in screen.focus_chain if each.region.overlaps(screen.region)]
    panes.sort(key=lambda widget: (widget.region.y, widget.region.x))
    lines = [Place(each, row) for each in panes for row in range(_rows(each))]
    places = [*map(Place, panes), *lines]
    return dict(zip(_labels(len(places)), places, strict=False))


def _labels(count: int) -> Iterator[str]:
    """Letters for so many places; the last ones are followed by another if one is too few."""
    letters = len(LETTERS)
    singles = letters - max(-(-(count - letters) // (letters - 1)), 0)
    yield from LETTERS[: max(singles, 0)]
    yield from (first + second for first in LETTERS[max(singles, 0) :] for second in LETTERS)


def _rows(widget: Widget) -> int:
    """How many lines of a list are in sight."""
    if not isinstance(widget, LineList):
        return 0
    return max(min(widget.content_size.height, widget.line_count() - widget.scroll_offset.y), 0)


class Letter(Static):
    """What is typed to go somewhere, on the place itself.

    Args:
        label: The letter, or two.
    """

    def __init__(self, label: str) -> None:
        super().__init__(Text(f" {label} "))
        self.label = label


class JumpScreen(Dialog[Place | None]):
    """Letters over the screen one comes from, which stays in sight; gives what was chosen."""

    IS_BOX = False
    DEFAULT_CSS = """
    JumpScreen { background: transparent; layers: letters; }
    JumpScreen Letter {
        layer: letters; position: absolute; width: auto; height: 1;
        background: $accent; color: $text; text-style: bold;
    }
    JumpScreen KeyLine { layer: letters; dock: bottom; background: $panel; color: $text-muted; }
    JumpScreen:ansi Letter { background: ansi_yellow; color: ansi_black; }
    JumpScreen:ansi KeyLine { background: ansi_default; color: ansi_default; }
    """
    BINDINGS: ClassVar = [Binding("escape", "dismiss(None)", "Stay")]

    def __init__(self, targets: Mapping[str, Place]) -> None:
        super().__init__()
        self._targets = targets
        self._typed = ""

    def compose(self) -> ComposeResult:
        """A letter for each place, and how to leave."""
        for label in self._targets:
            yield Letter(label)
        yield KeyLine([Key("a letter goes there"), Key("escape stays here", "dismiss(None)")])

    def on_mount(self) -> None:
        """Put the letters where they belong, also once the screen below has another shape."""
        for below in {target.widget.screen for target in self._targets.values()}:
            below.screen_layout_refresh_signal.subscribe(self, lambda _: self._place())
        self._place()

    def on_resize(self) -> None:
        """Put them there anew once the screen below has its new shape."""
        self.call_after_refresh(self._place)

    def _place(self) -> None:
        for letter in self.query(Letter):
            offset = self._targets[letter.label].offset
            letter.display = offset is not None and letter.label.startswith(self._typed)
            if offset is not None:
                letter.styles.offset = offset

    def on_key(self, event: events.Key) -> None:
        """What was typed for a place goes there, its beginning waits; anything else stays."""
        event.stop()
        self._typed += event.character or "\0"
        if self._typed not in self._targets and any(
            label.startswith(self._typed) for label in self._targets
        ):
            self._place()
            return
        self.dismiss(self._targets.get(self._typed))

    def on_click(self) -> None:
        """A click stays."""
        self.dismiss(None)


def _inset(target: Widget) -> int:
    """Room for the title that stands in a pane's border."""
    return 0 if target.size.height <= 1 else max(target.region.width - 5, 0)
