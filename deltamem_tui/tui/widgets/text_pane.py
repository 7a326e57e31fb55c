"""A pane of text: it folds its sections once and draws only the lines one sees."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.style import Style
from rich.text import Text
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from deltamem_tui.memory.views.occurrences import occurrences
from deltamem_tui.text import clean
from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.core.browser import browser_of
from deltamem_tui.tui.models.found_words import with_found
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
        match: The line with a word that is sought to which one went last; None if there is none.
    """

    COMPONENT_CLASSES = {  # noqa: RUF012 - textual reads it so
        *("pane--title", "pane--warning", "pane--quiet", "pane--current", "pane--new"),
        *("pane--found", "pane--match"),
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
        & > .pane--found { background: $warning-muted; color: $text-warning; text-style: bold; }
        & > .pane--match { background: $warning; color: $text; text-style: bold; }
        &:ansi > .pane--title { color: ansi_cyan; text-style: bold; }
        &:ansi > .pane--current { color: ansi_cyan; text-style: bold reverse; }
        &:ansi > .pane--warning { color: ansi_red; text-style: bold; }
        &:ansi > .pane--new { color: ansi_green; }
        &:ansi > .pane--found {
            color: ansi_yellow; background: ansi_default; text-style: bold underline;
        }
        &:ansi > .pane--match {
            color: ansi_yellow; background: ansi_default; text-style: bold reverse;
        }
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
        self._words: tuple[str, ...] = ()
        self.match: int | None = None
        self._lines: list[_Line] = []
        self._starts: list[int] = []
        self._found: list[int] = []
        self._folded_at = 0

    def show(self, sections: Sequence[Section], current: int | None = None) -> None:
        """Show these sections, the current one in sight."""
        if list(sections) == self.sections and current == self.current:
            return
        self.sections = list(sections)
        self.current = current
        self.match = None
        self._fold()
        self._to_current()

    def mark(self, words: tuple[str, ...]) -> None:
        """Marks where words stand, as a filter has them; the text stays where it is."""
        if words != self._words:
            self._words, self.match = words, None
            self._fold()

    def to_match(self, direction: int) -> bool:
        """Scrolls to the next line with a word that is marked, or the one before; it goes round.

        What comes next is counted from the last such line if it is in sight, else from the top.

        Returns:
            Whether there is any.
        """
        if not self._found:
            return False
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        here = self.match
        if here is None or not top <= here < top + height:
            here = top - 1 if direction > 0 else top + height
        place = bisect_right(self._found, here) if direction > 0 else bisect_left(self._found, here)
        place = place % len(self._found) if direction > 0 else place - 1
        self.match = line = self._found[place]
        if not top <= line < top + height:
            self.scroll_to(y=line - height // 3, animate=False, force=True)
        self.refresh()
        return True

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
        text = self._painted(folded, "match" if line == self.match else "found")
        if self.current is not None:
            marked = folded.section == self.current or self.sections[folded.section].marked
            mark = "▌ " if marked else "  "
            text = Text(end="").append(mark, self._style("title")).append_text(text)
        if self.text_selection and (span := self.text_selection.get_span(line)):
            start, end = span
            selected = self.screen.get_component_rich_style("screen--selection")
            text.stylize(selected, start, len(text) if end < 0 else end)
        return strip_of(text, self.app.console, width, self.rich_style).apply_offsets(0, line)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text that was selected by the mouse, in lines as they are folded, without marks."""
        gutter = "" if self.current is None else " " * _GUTTER
        drawn = (gutter + "".join(piece.text for piece in line.pieces) for line in self._lines)
        lines = selection.extract("\n".join(drawn)).split("\n")
        return "\n".join(line.removeprefix(gutter) for line in lines), "\n"

    def _fold(self) -> None:
        width = self._room
        self._folded_at = width
        if self.is_attached and self.text_selection:
            self.screen.clear_selection()
        self._lines, self._starts = [], []
        if width:
            room = width - (_GUTTER if self.current is not None else 0)
            for number in range(len(self.sections)):
                self._starts.append(len(self._lines))
                self._lines += self._section_lines(number, room)
        found = (any(piece.found for piece in line.pieces) for line in self._lines)
        self._found = [line for line, each in enumerate(found) if each]
        self.match = self.match if self.match in self._found else None
        self.virtual_size = Size(0, len(self._lines))
        self.refresh()

    def _section_lines(self, number: int, width: int) -> list[_Line]:
        section = self.sections[number]
        title = "current" if number == self.current else "title"
        heading = clean(section.title)
        style = "warning" if section.warning else title
        lines = [
            _Line(number, style, pieces)
            for line in (heading.split("\n") if heading else ())
            for pieces in self._folded(line, width)
        ]
        body, style = section.shown_body(self._read_key), "quiet" if section.quiet else ""
        if section.above and body:
            above = sequences(section.above)
            for each in body.split("\n"):
                brief = section.brief and not occurrences(each, self._words)
                told = with_found(pieces_of(each, above, brief=brief), self._words)
                folded = wrapped_pieces(told, self.app.console, width)
                lines += [_Line(number, "delta", pieces) for pieces in folded]
        elif body:
            lines += [
                _Line(number, style, pieces)
                for line in body.split("\n")
                for pieces in self._folded(line, width)
            ]
        if number + 1 < len(self.sections):
            lines.append(_Line(number, "", ()))
        return lines

    def _folded(self, line: str, width: int) -> Iterator[tuple[Piece, ...]]:
        """A line in which nothing is repeated, folded; most have nothing that is sought either."""
        told = with_found([Piece(line, repeats=False)], self._words)
        if any(piece.found for piece in told):
            yield from wrapped_pieces(told, self.app.console, width)
        else:
            for each in wrapped(line, self.app.console, width):
                yield (Piece(each, repeats=False),)

    def _painted(self, line: _Line, found: str) -> Text:
        """A line in its style; of a delta, what repeats is quiet, and what is new has colour."""
        text = Text(end="")
        for piece in line.pieces:
            name = line.style
            if name == "delta":
                name = "quiet" if piece.repeats else "new"
            style = self._style(name) if name else Style.null()
            text.append(piece.text, style + self._style(found) if piece.found else style)
        return text

    @property
    def _read_key(self) -> str:
        """The key that shows a long text whole; in a dialog there is none."""
        if isinstance(self.screen, ModalScreen):
            return ""
        return browser_of(self).key_of("read_whole")

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"pane--{name}", partial=True)
