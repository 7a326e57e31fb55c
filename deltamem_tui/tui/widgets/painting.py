"""From text to what a terminal draws: the one way that outside text takes to the screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from deltamem_tui.text import clean, one_line
from deltamem_tui.tui.models.repeats import Piece
from deltamem_tui.tui.models.titles import Title
from deltamem_tui.tui.models.words import cuttable

LINE_CHARACTERS = 400
"""No terminal is wider than this many characters of a line that is cut anyway."""


def line_of(*parts: tuple[str, Style | None]) -> Text:
    """One line of text from outside, in styled parts."""
    text = Text(no_wrap=True, overflow="ellipsis", end="")
    for part, style in parts:
        text.append(part if part.isspace() else _flat(part), style)
    return text


def told_apart(title: Title, style: Style | None, quiet: Style) -> Text:
    """A title: what its neighbours say as well is quiet."""
    usual = style or Style.null()
    return line_of(*((each.text, usual + quiet if each.repeats else style) for each in title))


def _flat(part: str) -> str:
    """The part without control characters and line breaks, its outer spaces kept."""
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
    """A line as a strip of exactly `width` cells on `style`."""
    strip = Strip(text.render(console, end="")).apply_style(console.get_style(text.style))
    return strip.adjust_cell_length(width).apply_style(style)


def wrapped(text: str, console: Console, width: int) -> Iterator[str]:
    """The lines of a text, folded at `width` cells.

    Most lines of most texts fit. They are given as they are: to ask the terminal library to
    fold them would take twenty times as long.
    """
    for line in cuttable(text).split("\n"):
        if "\t" not in line and cell_len(line) <= width:
            yield line
        else:
            folded = Text(line).wrap(console, max(width, 1), overflow="fold", tab_size=4)
            yield from (each.plain for each in folded)


def wrapped_pieces(
    pieces: Sequence[Piece], console: Console, width: int
) -> Iterator[tuple[Piece, ...]]:
    """A line in pieces, folded at `width` cells."""
    pieces = [replace(piece, text=cuttable(piece.text)) for piece in pieces]
    text = "".join(piece.text for piece in pieces)
    if "\t" not in text and cell_len(text) <= width:
        yield tuple(pieces)
        return
    line = Text()
    for piece in pieces:
        line.append(piece.text, Style(dim=piece.repeats, reverse=piece.found))
    for folded in line.wrap(console, max(width, 1), overflow="fold", tab_size=4):
        styled = ((each.text, each.style or Style.null()) for each in folded.render(console))
        yield tuple(Piece(text, bool(style.dim), bool(style.reverse)) for text, style in styled)
