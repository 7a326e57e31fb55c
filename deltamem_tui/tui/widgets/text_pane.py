"""A pane of text: it folds its sections once and draws only the lines one sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.style import Style
from rich.text import Text
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from deltamem_tui.text import clean
from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.core.browser import browser_of
from deltamem_tui.tui.models.repeats import Piece, pieces_of, sequences
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.widgets.painting import strip_of, wrapped, wrapped_pieces

_GUTTER = 2
_WIDEST = 100
"""The eye loses the next of longer lines."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A folded line: its section, the name of its style, its text or the pieces of it.

    The style itself is looked up when the line is drawn: a theme may have changed since.
    """

    section: int
    style: str
    pieces: tuple[Piece, ...]


# The keys of a list scroll what has no current line.


def move_cursor(widget: Widget, lines: int) -> None:
    """Scrolls by some lines."""
    widget.scroll_relative(y=lines, animate=False)


def move_page(widget: Widget, pages: int) -> None:
    """Scrolls by some pages."""
    widget.scroll_relative(y=pages * max(widget.size.height - 1, 1), animate=False)


def move_to_end(widget: Widget, direction: int) -> None:
    """Scrolls to the top or the bottom."""
    widget.scroll_to(y=0 if direction < 0 else widget.max_scroll_y, animate=False)


class TextPane(ScrollView, can_focus=True):
    """Sections of text, one of which may be the current one.

    Attributes:
        sections: What is shown.
        current: The section that is marked; None for no marks at all.
    """

    COMPONENT_CLASSES = {  # noqa: RUF012 - textual reads it so
        *("pane--title", "pane--warning", "pane--quiet", "pane--current", "pane--new"),
    }
    DEFAULT_CSS = """
    TextPane {
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        border-title-color: $foreground;
        &:focus { border-title-style: bold; }
        &:ansi { border-title-color: ansi_default; }
        & > .pane--title { color: $text-primary; text-style: bold; }
        & > .pane--current { color: $text-primary; text-style: bold reverse; }
        & > .pane--warning { color: $text-warning; text-style: bold; }
        & > .pane--quiet { text-style: dim; }
        & > .pane--new { color: $text-success; }
        &:ansi > .pane--title { color: ansi_cyan; text-style: bold; }
        &:ansi > .pane--current { color: ansi_cyan; text-style: bold reverse; }
        &:ansi > .pane--warning { color: ansi_red; text-style: bold; }
        &:ansi > .pane--new { color: ansi_green; }
        &:ansi > .pane--quiet { color: ansi_default; text-style: dim; }
    }
    """
    BINDINGS = [*bindings("list")]  # noqa: RUF012 - textual reads it so
    action_move_cursor = move_cursor
    action_move_page = move_page
    action_move_to_end = move_to_end

    def __init__(self, id: str | None = None) -> None:  # noqa: A002 - textual's word
        super().__init__(id=id)
        self.sections: list[Section] = []
        self.current: int | None = None
        self._lines: list[_Line] = []
        self._starts: list[int] = []
        self._folded_at = 0

    def show(self, sections: Sequence[Section], current: int | None = None) -> None:
        """Show these sections, the current one in sight."""
        if list(sections) == self.sections and current == self.current:
            return
        self.sections = list(sections)
        self.current = current
        self._fold()
        self._to_current()

    def on_resize(self) -> None:
        """Fold anew for another width."""
        if self._room != self._folded_at:
            self._fold()
            if self.current is not None:
                self._to_current()

    def _to_current(self) -> None:
        """Scroll to the current section, else to the top.

        The pane may have no scrollbar yet, without which textual would not scroll.
        """
        start = self._starts[self.current] if self.current is not None and self._starts else 0
        self.scroll_to(y=start, animate=False, force=True)

    @property
    def _room(self) -> int:
        """The width of a line, beside a scrollbar that may come once the lines are counted."""
        width = self.scrollable_content_region.width
        return min(width if self.show_vertical_scrollbar else max(width - 1, 0), _WIDEST)

    def render_line(self, y: int) -> Strip:
        """One line of the widget."""
        width = self.scrollable_content_region.width
        line = y + self.scroll_offset.y
        if line >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        folded = self._lines[line]
        text = self._painted(folded)
        if self.current is not None:
            marked = folded.section == self.current or self.sections[folded.section].marked
            mark = "▌ " if marked else "  "
            text = Text(end="").append(mark, self._style("title")).append_text(text)
        return strip_of(text, self.app.console, width, self.rich_style)

    def _fold(self) -> None:
        width = self._room
        self._folded_at = width
        self._lines, self._starts = [], []
        if width:
            room = width - (_GUTTER if self.current is not None else 0)
            for number in range(len(self.sections)):
                self._starts.append(len(self._lines))
                self._lines += self._section_lines(number, room)
        self.virtual_size = Size(0, len(self._lines))
        self.refresh()

    def _section_lines(self, number: int, width: int) -> list[_Line]:
        section = self.sections[number]
        title = "current" if number == self.current else "title"
        heading = clean(section.title)
        lines = [
            _Line(number, "warning" if section.warning else title, (Piece(line, repeats=False),))
            for line in (wrapped(heading, self.app.console, width) if heading else ())
        ]
        body, style = section.shown_body(self._read_key), "quiet" if section.quiet else ""
        if section.above and body:
            above = sequences(section.above)
            for each in body.split("\n"):
                told = pieces_of(each, above, brief=section.brief)
                folded = wrapped_pieces(told, self.app.console, width)
                lines += [_Line(number, "delta", pieces) for pieces in folded]
        elif body:
            folded_body = wrapped(body, self.app.console, width)
            lines += [_Line(number, style, (Piece(line, repeats=False),)) for line in folded_body]
        if number + 1 < len(self.sections):
            lines.append(_Line(number, "", ()))
        return lines

    def _painted(self, line: _Line) -> Text:
        """A line in its style; of a delta, what repeats is quiet, and what is new has colour."""
        text = Text(end="")
        for piece in line.pieces:
            name = line.style
            if name == "delta":
                name = "quiet" if piece.repeats else "new"
            text.append(piece.text, self._style(name) if name else None)
        return text

    @property
    def _read_key(self) -> str:
        """The key that shows a long text whole; in a dialog there is none."""
        if isinstance(self.screen, ModalScreen):
            return ""
        return browser_of(self).key_of("read_whole")

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"pane--{name}", partial=True)
