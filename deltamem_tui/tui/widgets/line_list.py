"""A list that draws only the lines one sees, whatever its length."""

from __future__ import annotations

from collections.abc import Sized

from rich.style import Style
from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from deltamem_tui.memory.filters import occurrences
from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.widgets.text_pane import INK_CSS, INKS, strip_of


class LineList(ScrollView, can_focus=True):
    """Lines with a cursor. A kind of list says how many there are and what each says."""

    COMPONENT_CLASSES = INKS | {"ink--cursor"}
    DEFAULT_CSS = f"""
    {INK_CSS.replace("INKED", "LineList")}
    LineList > .ink--cursor {{ background: $surface-lighten-2; text-style: bold; }}
    LineList:focus > .ink--cursor {{ background: $primary; color: $text; text-style: bold; }}
    LineList:ansi > .ink--cursor {{ background: ansi_default; text-style: bold underline; }}
    LineList:ansi:focus > .ink--cursor {{
        color: ansi_default; background: ansi_default; text-style: reverse bold;
    }}
    """
    BINDINGS = [*bindings("list")]  # noqa: RUF012 - textual reads it so

    cursor: reactive[int] = reactive(0, init=False)
    words: tuple[str, ...] = ()
    lines: Sized = ()

    class Moved(Message):
        """The cursor is on another line, or the line says something else."""

        def __init__(self, lines: LineList) -> None:
            super().__init__()
            self.lines = lines

    class Chosen(Moved):
        """The line under the cursor was clicked once more."""

    def line_count(self) -> int:
        """Return how many lines there are."""
        return len(self.lines)

    def line_text(self, line: int, width: int) -> Text:
        """Return what a line says, in at most `width` cells."""
        raise NotImplementedError

    def style_of(self, name: str) -> Style:
        """Return the style of a part of a line: `warning`, `good`, `quiet`, `strong`, `found`."""
        return self.get_component_rich_style(f"ink--{name}", partial=True)

    def mark(self, text: Text) -> Text:
        """Mark in a part of a line what is sought."""
        for begin, end in occurrences(text.plain, self.words) if self.words else ():
            text.stylize(self.style_of("found"), begin, end)
        return text

    def lines_changed(self, cursor: int | None = None) -> None:
        """Draw anew after the lines changed, the cursor on the given line."""
        count = self.line_count()
        self.virtual_size = Size(0, count)
        place = self.cursor if cursor is None else cursor
        self.set_reactive(LineList.cursor, max(0, min(place, count - 1)))
        self._keep_in_sight()
        self.refresh()
        self.post_message(self.Moved(self))

    def render_line(self, y: int) -> Strip:
        line = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if line >= self.line_count():
            return Strip.blank(width, self.rich_style)
        text = self.line_text(line, width)
        text.truncate(width, overflow="ellipsis")
        style = self.rich_style
        if line == self.cursor:
            cursor, found = self.style_of("cursor"), self.style_of("found")
            spans = [each for each in text.spans if each.style == found]
            text = Text(text.plain, end="", spans=spans)
            return strip_of(text, self.app.console, width, style + cursor)
        return strip_of(text, self.app.console, width, style)

    def watch_cursor(self, before: int, after: int) -> None:
        self.refresh_line(before)
        self.refresh_line(after)
        self._keep_in_sight()
        self.post_message(self.Moved(self))

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, self.line_count() - 1))

    def _keep_in_sight(self) -> None:
        height = self.scrollable_content_region.height
        top = self.scroll_offset.y
        if not height:
            return
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, force=True)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False, force=True)

    def on_resize(self) -> None:
        self._keep_in_sight()

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the line; a second click chooses it. The title is not a line."""
        offset = event.get_content_offset_capture(self)
        line = offset.y + self.scroll_offset.y
        if offset.y >= 0 and line < self.line_count():
            self.clicked(line, offset.x)

    def clicked(self, line: int, column: int) -> None:  # noqa: ARG002 - some kinds of list ask
        """React to a click on a line, in this column."""
        if line == self.cursor:
            self.post_message(self.Chosen(self))
        self.cursor = line

    def action_move_cursor(self, lines: int) -> None:
        self.cursor += lines

    def action_move_page(self, pages: int) -> None:
        self.cursor += pages * max(self.scrollable_content_region.height - 1, 1)

    def action_move_to_end(self, direction: int) -> None:
        self.cursor = 0 if direction < 0 else self.line_count() - 1
