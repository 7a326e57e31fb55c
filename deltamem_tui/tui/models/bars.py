"""Counts as rows of bars: few values one by one, many in groups whose names say their bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

MOST_SINGLE = 12
"""So many values or fewer stand one by one."""

_EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True, slots=True)
class BarRow:
    """What stands on one row: a bar a tree.

    Attributes:
        name: What is counted, such as `3–5`.
        values: Per tree, how much; None where there is nothing to say.
    """

    name: str
    values: Mapping[str, float | None]


def grouped(counts: Mapping[str, Mapping[int, int]]) -> list[BarRow]:
    """Rows from the least to the greatest value that any tree has, none of them left out.

    Args:
        counts: Per tree, how many nodes have which value; values are not negative.
    """
    values = {value for each in counts.values() for value, count in each.items() if count}
    if not values:
        return []
    low, high = min(values), max(values)
    groups = _singles(low, high) if high - low < MOST_SINGLE else _bounds(low, high)
    return [
        BarRow(
            f"{first:,}" if first == last else f"{first:,}–{last:,}",
            {name: _between(each, first, last) for name, each in counts.items()},
        )
        for first, last in groups
    ]


def _singles(low: int, high: int) -> Iterator[tuple[int, int]]:
    return ((value, value) for value in range(low, high + 1))


def _bounds(low: int, high: int) -> Iterator[tuple[int, int]]:
    """0, 1, 2, 3 to 5, 6 to 10, 11 to 20, 21 to 50 and so on: those that hold a value."""
    ends = [-1, 0, 1, 2, 5]
    while ends[-1] < high:
        ends += [ends[-1] * 2, ends[-1] * 4, ends[-1] * 10]
    return ((before + 1, end) for before, end in pairwise(ends) if end >= low and before < high)


def _between(counts: Mapping[int, int], first: int, last: int) -> int:
    return sum(count for value, count in counts.items() if first <= value <= last)


def bar(value: float, most: float, width: int) -> str:
    """A bar of eighths of a cell; what is more than nothing can be seen.

    Args:
        value: How much.
        most: What fills the whole width.
        width: In cells.
    """
    eighths = ceil(value / most * width * 8) if most > 0 else 0
    whole, part = divmod(min(eighths, width * 8), 8)
    return "█" * whole + (_EIGHTHS[part] if part else "")
