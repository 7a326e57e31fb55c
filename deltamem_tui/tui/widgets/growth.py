"""A slider over the commits of a bank, as high as there were nodes."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from rich.text import Text
from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.widgets.painting import line_of

_HEIGHTS = "▁▂▃▄▅▆▇█"
_PAGE = 10


class GrowthSlider(Widget, can_focus=True):
    """How many nodes there were after each commit, and which commit is looked at.

    Attributes:
        sizes: Per commit, how many nodes there were.
        number: The commit that is looked at.
    """

    COMPONENT_CLASSES = {"slider--past", "slider--here"}  # noqa: RUF012 - textual reads it so
    DEFAULT_CSS = """
    GrowthSlider {
        height: 2; border-top: solid $primary; border-title-color: $foreground;
        color: $foreground 60%;
        &:focus { border-top: heavy $accent; border-title-style: bold; }
        & > .slider--past { color: $text-primary; }
        & > .slider--here { color: $text; background: $primary; text-style: bold; }
        &:ansi { color: ansi_default; border-title-color: ansi_default; }
        &:ansi > .slider--past { color: ansi_cyan; }
        &:ansi > .slider--here {
            color: ansi_default; background: ansi_default; text-style: bold reverse;
        }
    }
    """
    BINDINGS = [*bindings("list")]  # noqa: RUF012 - textual reads it so

    number: reactive[int] = reactive(0, init=False)

    class Went(Message):
        """Another commit is looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: Sequence[int] = ()

    def show(self, sizes: Sequence[int], number: int) -> None:
        """Shows other commits; one of them is looked at."""
        self.sizes = sizes
        self.set_reactive(GrowthSlider.number, self.validate_number(number))
        self.refresh()
        self.post_message(self.Went())

    def validate_number(self, number: int) -> int:
        """It stays among the commits."""
        return max(0, min(number, len(self.sizes) - 1))

    def watch_number(self) -> None:
        """Says so."""
        self.post_message(self.Went())

    def render(self) -> Text:
        """A column a commit, or a commit in some columns: as high as there were nodes."""
        width, count = self.content_size.width, len(self.sizes)
        if not count or not width:
            return Text()
        past, here = (
            self.get_component_rich_style(f"slider--{name}", partial=True)
            for name in ("past", "here")
        )
        most = max(self.sizes) or 1
        line = line_of()
        at = min(range(width), key=lambda column: abs(self._commit_at(column) - self.number))
        for column in range(width):
            size = self.sizes[self._commit_at(column)]
            style = here if column == at else past if column < at else Style.null()
            line.append(_HEIGHTS[(len(_HEIGHTS) - 1) * size // most], style)
        return line

    def _commit_at(self, column: int) -> int:
        """Which commit a column stands for."""
        return round(column * (len(self.sizes) - 1) / max(self.content_size.width - 1, 1))

    def on_click(self, event: events.Click) -> None:
        """Goes to the commit that was clicked."""
        offset = event.get_content_offset_capture(self)
        if self.sizes and offset.y >= 0:
            self.number = self._commit_at(offset.x)

    def action_move_cursor(self, commits: int) -> None:
        """Goes on by some commits."""
        self.number += commits

    def action_move_page(self, pages: int) -> None:
        """Goes on by many."""
        self.number += pages * max(len(self.sizes) // _PAGE, 1)

    def action_move_to_end(self, direction: int) -> None:
        """Goes to the first or the last."""
        self.number = 0 if direction < 0 else len(self.sizes) - 1
