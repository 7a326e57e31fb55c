"""The last line of a dialog: its keys with what they do, which can be clicked as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.widget import Widget

_BETWEEN = " · "


class Key(NamedTuple):
    """A key of a dialog.

    Attributes:
        words: The key and what it does.
        action: The action of the dialog that a click does; empty for none.
    """

    words: str
    action: str = ""


class KeyLine(Widget):
    """Keys of a dialog; a click on one does it.

    Args:
        keys: The keys.
    """

    DEFAULT_CSS = "KeyLine { height: auto; width: 1fr; }"

    def __init__(self, keys: Sequence[Key], *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self._keys = keys

    def show(self, keys: Sequence[Key]) -> None:
        """Show other keys."""
        self._keys = keys
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """As many lines as the keys need."""
        return len(list(self._lines(width)))

    def render(self) -> Text:
        """The keys."""
        lines = self._lines(self.size.width)
        return Text("\n".join(_BETWEEN.join(key.words for key in line) for line in lines))

    def _lines(self, width: int) -> Iterator[list[Key]]:
        """The keys that there is room for on a line; none is cut in two."""
        line: list[Key] = []
        for key in self._keys:
            if line and Text(_BETWEEN.join(each.words for each in [*line, key])).cell_len > width:
                yield line
                line = []
            line.append(key)
        yield line

    async def on_click(self, event: events.Click) -> None:
        """Do what was clicked."""
        lines = list(self._lines(self.size.width))
        left = 0
        for key in lines[event.y] if event.y < len(lines) else ():
            right = left + Text(key.words).cell_len
            if left <= event.x < right and key.action:
                await self.screen.run_action(key.action)
                return
            left = right + len(_BETWEEN)
