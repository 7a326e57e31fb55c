"""The screen as text, and its colours in words that a diff can be read by."""

from __future__ import annotations

import re
from itertools import groupby

from rich.color import Color, ColorType
from rich.segment import Segment
from rich.style import Style
from textual.app import App

_ATTRIBUTES = ("bold", "dim", "italic", "underline", "reverse")
_USUAL = {"foreground", "background", "default"}


def fixed(text: str) -> str:
    """The screen without digests, and the sizes of files that hold the time."""
    text = re.sub(r"(?<=sha256:)[0-9a-f]+|(?<=│ )[0-9a-f]{4}(?= {9})", _hidden, text)
    return re.sub(r"[0-9,]+(?= bytes)", _hidden, text)


def _hidden(found: re.Match[str]) -> str:
    return "#" * len(found[0])


def colours(app: App[None]) -> str:
    """How each line is coloured: how many cells have which style, and how many lines are so.

    A colour is called as the theme calls it, else by what it is: a style that is new or gone
    changes its own lines only.
    """
    names = _names(app)
    lines = []
    for strip in app.screen._compositor.render_strips():
        styled = [(_style(segment, names), segment.cell_length) for segment in strip]
        runs = groupby(styled, key=lambda each: each[0])
        lines.append(" | ".join(f"{sum(cells for _, cells in run)} {name}" for name, run in runs))
    folded = [(line, len(list(same))) for line, same in groupby(lines)]
    return "\n".join(line if count == 1 else f"{line}  x{count}" for line, count in folded)


def colour_types(app: App[None]) -> set[ColorType]:
    """Which kinds of colour the screen asks the terminal for."""
    types = set()
    for strip in app.screen._compositor.render_strips():
        for segment in strip:
            for colour in (segment.style.color, segment.style.bgcolor) if segment.style else ():
                if colour is not None:
                    types.add(colour.type)
    return types


def _names(app: App[None]) -> dict[str, str]:
    """The theme's words for colours, by their digits; the shortest of several."""
    variables = sorted(app.get_css_variables().items(), key=lambda pair: (-len(pair[0]), pair[0]))
    return {value.lower(): name for name, value in variables if value.startswith("#")}


def _style(segment: Segment, names: dict[str, str]) -> str:
    """Attributes, ink and paper; the usual of each goes unsaid, and blanks have no ink."""
    style = segment.style or Style()
    attributes = [name for name in _ATTRIBUTES if getattr(style, name)]
    ink, paper = _colour(style.color, names), _colour(style.bgcolor, names)
    blank = segment.text.isspace() and not attributes
    words = [*attributes, *([ink] if not blank and ink not in _USUAL else [])]
    words += [f"on {paper}"] if paper not in _USUAL else []
    return " ".join(words) or "usual"


def _colour(colour: Color | None, names: dict[str, str]) -> str:
    if colour is None:
        return "default"
    digits = colour.triplet.hex if colour.triplet else colour.name
    return names.get(digits, digits)
