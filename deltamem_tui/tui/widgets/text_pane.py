"""A pane of text: it folds its sections once and draws only the lines one sees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby
from operator import itemgetter

from rich.console import Console
from rich.style import Style
from rich.text import Span, Text
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.scroll_view import ScrollView
from textual.strip import Strip

from deltamem_tui.memory.filters import occurrences
from deltamem_tui.text import clean, one_line
from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.core.browser import browser_of
from deltamem_tui.tui.models.sections import Section, cuttable

_RUN = 3
"""So many words in a row, the ends of a line among them, are a repetition; fewer are chance."""

_NUMBER = re.compile(r"\d+[.)]|[-+*•]")
_WORD = re.compile(r"\S+")
_SIGNS = ".,:;!?()[]\"'`"
_EDGE = "\n"

WordSequence = tuple[str, ...]
"""Words in a row: three, or all of a line that has fewer."""


def sequences(texts: Iterable[str]) -> frozenset[WordSequence]:
    """Return all sequences of three words in the lines of some texts."""
    lines = (line.split() for text in texts for line in text.split("\n"))
    return frozenset(each for words in lines if words for each in _sequences(_told(words)))


def repeated_words(words: Sequence[str], above: AbstractSet[WordSequence]) -> list[bool]:
    """Per word of a line, whether it is part of a sequence that stands above.

    The number of a list's entry is as new as the entry.
    """
    told = _told(words)
    marks = [False] * len(told)
    for start, each in enumerate(_sequences(told)):
        if each in above:
            marks[start : start + len(each)] = [True] * len(each)
    found = marks[1:-1]
    return [*found[:1] * (len(words) - len(found)), *found]


def delta_of(line: str, above: AbstractSet[WordSequence]) -> Text:
    """Return one line of a delta: what repeats what stands above is quiet, what is new is not."""
    text, starts = Text(line), [match.start() for match in _WORD.finditer(line)]
    marks = repeated_words(line.split(), above)
    words = zip(marks, [0, *starts[1:]], [*starts[1:], len(line)], strict=False)
    for repeats, group in groupby(words, key=itemgetter(0)):
        places = list(group)
        text.stylize("quiet" if repeats else "good", places[0][1], places[-1][2])
    return text


def _told(words: Sequence[str]) -> list[str]:
    """Return the words of a line between its edges, as compared: without a list's number."""
    numbered = len(words) > 1 and _NUMBER.fullmatch(words[0]) is not None
    bare = (word.strip(_SIGNS).casefold() for word in words[numbered:])
    return [_EDGE, *bare, _EDGE]


def _sequences(told: Sequence[str]) -> list[WordSequence]:
    return [tuple(told[start : start + _RUN]) for start in range(max(len(told) - _RUN + 1, 1))]


LINE_CHARACTERS = 400
"""No terminal is wider than this many characters of a line that is cut anyway."""


def line_of(*parts: tuple[str, Style | None]) -> Text:
    """Return one line of text from outside, in styled parts."""
    text = Text(no_wrap=True, overflow="ellipsis", end="")
    for part, style in parts:
        text.append(part if part.isspace() else _flat(part), style)
    return text


def _flat(part: str) -> str:
    """Return the part without control characters and line breaks, its outer spaces kept."""
    flat = cuttable(clean(part)).replace("\n", " ").replace("\t", " ")
    return flat if len(flat) <= LINE_CHARACTERS else one_line(flat, LINE_CHARACTERS)


def columns(left: Text, right: Text, width: int) -> Text:
    """`left`, cut where needed, and `right` at the right edge."""
    room = max(width - right.cell_len - 1, 0)
    left.truncate(room, overflow="ellipsis", pad=True)
    left.append(" ")
    left.append_text(right)
    return left


def strip_of(text: Text, console: Console, width: int, style: Style) -> Strip:
    """Return a line as a strip of exactly `width` cells on `style`."""
    strip = Strip(text.render(console, end="")).apply_style(console.get_style(text.style))
    return strip.adjust_cell_length(width).apply_style(style)


def wrapped(text: str, console: Console, width: int) -> Iterator[Text]:
    """Return the lines of a text, folded at `width` cells."""
    for line in cuttable(text).split("\n"):
        yield from folded(Text(line), console, width)


def folded(line: Text, console: Console, width: int) -> Iterable[Text]:
    """Fold a line at `width` cells.

    Most lines fit. They are given as they are: to ask the terminal library to fold them would
    take twenty times as long.
    """
    if "\t" not in line.plain and line.cell_len <= width:
        return (line,)
    return line.wrap(console, max(width, 1), overflow="fold", tab_size=4)


INKS = {f"ink--{name}" for name in ("strong", "current", "warning", "quiet", "good", "found")}
"""The styles of parts of a text, in panes and in lists."""

INK_CSS = """
INKED {
    overflow-x: hidden;
    scrollbar-size-vertical: 1;
    border-title-color: $foreground;
    &:focus { border-title-style: bold; }
    &:ansi { border-title-color: ansi_default; }
    & > .ink--strong { color: $text-primary; text-style: bold; }
    & > .ink--current { color: $text-primary; text-style: bold reverse; }
    & > .ink--warning { color: $text-warning; }
    & > .ink--quiet { text-style: dim; }
    & > .ink--good { color: $text-success; }
    & > .ink--found { background: $warning-muted; color: $text-warning; text-style: bold; }
    &:ansi > .ink--strong { color: ansi_cyan; text-style: bold; }
    &:ansi > .ink--current { color: ansi_cyan; text-style: bold reverse; }
    &:ansi:light > .ink--strong, &:ansi:light > .ink--current { color: ansi_blue; }
    &:ansi > .ink--warning { color: ansi_red; text-style: bold; }
    &:ansi > .ink--quiet { color: ansi_default; }
    &:ansi > .ink--good { color: ansi_green; }
    &:ansi > .ink--found {
        color: ansi_yellow; background: ansi_default; text-style: bold underline;
    }
    &:ansi:light > .ink--found { color: ansi_magenta; }
}
"""
"""How those look; the terminal's own colours where it asks for them."""

_MOST_SECTIONS = 500
_GUTTER = 2
_WIDEST = 100
"""The eye loses the next of longer lines."""


def _lines(text: str) -> list[str]:
    return cuttable(text).split("\n") if text else []


class TextPane(ScrollView, can_focus=True):
    """Sections of text, one of which may be the current one."""

    COMPONENT_CLASSES = INKS
    DEFAULT_CSS = INK_CSS.replace("INKED", "TextPane")
    ALLOW_SELECT = False
    BINDINGS = [*bindings("list")]  # noqa: RUF012 - textual reads it so

    def __init__(self, id: str | None = None) -> None:  # noqa: A002 - textual's word
        super().__init__(id=id)
        self.sections: list[Section] = []
        self.current: int | None = None
        self._words: tuple[str, ...] = ()
        self._lines: list[tuple[int, Text]] = []  # each with its section; spans name their ink
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

    def mark(self, words: tuple[str, ...]) -> None:
        """Mark where words stand, as a filter has them; the text stays where it is."""
        if words != self._words:
            self._words = words
            self._fold()

    def on_resize(self) -> None:
        if self._room != self._folded_at:
            self._fold()
            if self.current is not None:
                self._to_current()

    def _to_current(self) -> None:
        """Scroll to the current section, else to the top."""
        start = self._starts[self.current] if self.current is not None and self._starts else 0
        self.scroll_to(y=start, animate=False, force=True)

    @property
    def _room(self) -> int:
        """The width of a line, beside a scrollbar that may come once the lines are counted."""
        width = self.scrollable_content_region.width
        return min(width if self.show_vertical_scrollbar else max(width - 1, 0), _WIDEST)

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        line = y + self.scroll_offset.y
        if line >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        section, folded = self._lines[line]
        text = self._painted(folded)
        if self.current is not None:
            mark = "▌ " if section == self.current else "  "
            text = Text(end="").append(mark, self._style("strong")).append_text(text)
        return strip_of(text, self.app.console, width, self.rich_style)

    def _fold(self) -> None:
        width = self._room
        self._folded_at = width
        self._lines, self._starts = [], []
        if width:
            room = width - (_GUTTER if self.current is not None else 0)
            for number in range(len(self.sections[:_MOST_SECTIONS])):
                self._starts.append(len(self._lines))
                self._lines += self._section_lines(number, room)
            if (more := len(self.sections) - _MOST_SECTIONS) > 0:
                text = f"… {more:,} more parts: press {self._read_key} to read all of them"
                self._lines.append((_MOST_SECTIONS, Text.assemble((text, "quiet"))))
        self.virtual_size = Size(0, len(self._lines))
        self.refresh()

    def _section_lines(self, number: int, width: int) -> Iterator[tuple[int, Text]]:
        """Yield the lines of a section, folded, and an empty one before the next section."""
        section, title = self.sections[number], "current" if number == self.current else "strong"
        title, ink = "warning" if section.warning else title, "quiet" if section.quiet else ""
        lines = [Text.assemble((each, title)) for each in _lines(clean(section.title))]
        body, above = _lines(section.shown_body(self._read_key)), sequences(section.above)
        if section.above:
            lines += [delta_of(each, above) for each in body]
        else:
            lines += [Text.assemble((each, ink)) for each in body]
        for line in lines:
            yield from ((number, each) for each in folded(line, self.app.console, width))
        if number + 1 < len(self.sections):
            yield number, Text()

    def _painted(self, line: Text) -> Text:
        """Return a line with the styles of its inks, and what is sought marked."""
        spans = [Span(start, end, self._style(str(ink))) for start, end, ink in line.spans]
        text = Text(line.plain, end="", spans=spans)
        for begin, end in occurrences(text.plain, self._words) if self._words else ():
            text.stylize(self._style("found"), begin, end)
        return text

    @property
    def _read_key(self) -> str:
        """The key that shows a long text whole; in a dialog there is none."""
        if isinstance(self.screen, ModalScreen):
            return ""
        return browser_of(self).key_of("read_whole")

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"ink--{name}", partial=True)

    # The keys of a list scroll what has no current line.

    def action_move_cursor(self, lines: int) -> None:
        self.scroll_relative(y=lines, animate=False)

    def action_move_page(self, pages: int) -> None:
        self.scroll_relative(y=pages * max(self.size.height - 1, 1), animate=False)

    def action_move_to_end(self, direction: int) -> None:
        self.scroll_to(y=0 if direction < 0 else self.max_scroll_y, animate=False)
