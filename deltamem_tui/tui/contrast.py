"""Colours that can be read: 4.5:1 for text and 3:1 for marks on their background, in any theme.

Themes give colours, and some of them are faint where they meet: a quiet text on the line under the
cursor, a key in the footer. What is drawn is put right as the last step, so no theme and no
widget needs colours of its own for it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from rich.color import Color as RichColor
from rich.color import ColorType
from rich.color_triplet import ColorTriplet
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

TEXT = 4.5
MARK = 3.0
"""The least contrast of text, and of signs without a letter or digit (WCAG 2.2, 1.4.3, 1.4.11)."""

_STEPS = 20
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_HALF_CELLS = frozenset("▁▂▃▄▅▆▇▔ ")
"""Edges of scrollbars and frames: both colours are surfaces."""


def needed(text: str) -> float:
    """Returns the least contrast that a piece of a line needs; 1 if it is none of either."""
    if _LETTER_OR_DIGIT.search(text):
        return TEXT
    return 1.0 if _HALF_CELLS.issuperset(text) else MARK


def contrast(ink: ColorTriplet, paper: ColorTriplet) -> float:
    """Returns the contrast of two colours, from 1 to 21 (WCAG 2.2)."""
    lighter, darker = sorted((_luminance(ink), _luminance(paper)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: ColorTriplet) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in colour.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


class ReadableColours(LineFilter):
    """Moves an ink that is too faint towards black or white until it is not.

    The terminal's own colours are left alone: what they look like is not known here.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """Returns the pieces of a line with inks that can be read."""
        return [
            Segment(text, readable(style, needed(text)), control) if style else segment
            for segment in segments
            for text, style, control in [segment]
        ]


@lru_cache(4096)
def readable(style: Style, least: float) -> Style:
    """Returns the style with an ink of at least this contrast."""
    ink, paper = style.color, style.bgcolor
    if ink is None or paper is None or {ink.type, paper.type} != {ColorType.TRUECOLOR}:
        return style
    before, on = ink.get_truecolor(), paper.get_truecolor()
    if contrast(before, on) >= least:
        return style
    white, black = ColorTriplet(255, 255, 255), ColorTriplet(0, 0, 0)
    end = max(white, black, key=lambda each: contrast(each, on))
    steps = (_between(before, end, step / _STEPS) for step in range(1, _STEPS + 1))
    found = next((each for each in steps if contrast(each, on) >= least), end)
    return style + Style.from_color(RichColor.from_triplet(found))


def _between(one: ColorTriplet, other: ColorTriplet, share: float) -> ColorTriplet:
    return ColorTriplet(*(round(a + (b - a) * share) for a, b in zip(one, other, strict=True)))
