"""Curves on a terminal: dots of braille, axes at the edges, each line's letter where it ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle

Parts = list[tuple[str, str]]
"""A line of a chart: texts, each with its style."""

_COLOURS = ("cyan", "magenta", "yellow", "green", "blue", "red")
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_BRAILLE = 0x2800
_NAMES = 4
"""Cells for the letters of lines that end at the same height."""


def colours(names: Sequence[str]) -> dict[str, str]:
    """The colour of each line."""
    return dict(zip(names, cycle(_COLOURS), strict=False))


def chart(
    title: str,
    places: Sequence[float],
    lines: Mapping[str, Sequence[float | None]],
    *,
    width: int,
    height: int = 8,
    top: float | None = None,
) -> list[Parts]:
    """Draw lines over common places, from zero up.

    Args:
        title: What is drawn.
        places: Where the values stand, in ascending order; at least one.
        lines: The values of each line by its letter; None where it has none yet.
        width: In cells, of the whole chart.
        height: In cells, of the lines alone.
        top: What the upper edge stands for; the greatest value if not given.

    Returns:
        `height` lines and two more, each of `width` cells.
    """
    most = top or max((each for values in lines.values() for each in values if each), default=1.0)
    margin = max(len(_number(most)), 3) + 1
    across = max(width - margin - 1 - _NAMES, 2)
    dots = _dotted(places, lines, most, across, height)
    ends = _ends(lines, most, height)
    colour = colours([*lines])
    drawn: list[Parts] = [[(title[:width].ljust(width), "bold")]]
    for row in range(height):
        label = _number(most) if row == 0 else "0" if row == height - 1 else ""
        parts: Parts = [(f"{label:>{margin - 1}} │", "dim")]
        for column in range(across):
            mask, name = dots.get((row, column), (0, ""))
            parts.append((chr(_BRAILLE + mask) if mask else " ", colour.get(name, "")))
        names = ends.get(row, [])
        if len(names) > _NAMES:
            names = [*names[: _NAMES - 1], "…"]
        parts += [(name, colour.get(name, "")) for name in names]
        drawn.append([*parts, (" " * (_NAMES - len("".join(names))), "")])
    first, last = (f"{places[at]:,.0f}" for at in (0, -1))
    axis = f"{'':{margin}}{first}{last:>{across + 1 - len(first)}}"
    drawn.append([(axis.ljust(width), "dim")])
    return drawn


def _dotted(
    places: Sequence[float],
    lines: Mapping[str, Sequence[float | None]],
    most: float,
    across: int,
    height: int,
) -> dict[tuple[int, int], tuple[int, str]]:
    """Per cell its dots, and the line that drew the last of them."""
    found: dict[tuple[int, int], tuple[int, str]] = {}
    begin, span = places[0], places[-1] - places[0]
    for name, values in lines.items():
        for column in range(2 * across):
            at = begin + span * column / (2 * across - 1)
            value = _between(places, values, at)
            if value is None:
                continue
            row = _row(value, most, 4 * height)
            cell = row // 4, column // 2
            mask = _DOTS[row % 4][column % 2] | found.get(cell, (0, ""))[0]
            found[cell] = mask, name
    return found


def _between(places: Sequence[float], values: Sequence[float | None], at: float) -> float | None:
    """The value of a line at any place between its points."""
    after = next((number for number, place in enumerate(places) if place >= at), len(places) - 1)
    high, low = values[after], values[max(after - 1, 0)]
    if at == places[after]:
        return high
    if high is None or low is None:
        return None
    return low + (high - low) * (at - places[after - 1]) / (places[after] - places[after - 1])


def _ends(
    lines: Mapping[str, Sequence[float | None]], most: float, height: int
) -> dict[int, list[str]]:
    """Per row, the letters of the lines that end there."""
    found: dict[int, list[str]] = {}
    for name, values in lines.items():
        if values and (last := values[-1]) is not None:
            found.setdefault(_row(last, most, height), []).append(name)
    return found


def _row(value: float, most: float, rows: int) -> int:
    share = min(max(value / most, 0.0), 1.0) if most else 0.0
    return round((1 - share) * (rows - 1))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"
