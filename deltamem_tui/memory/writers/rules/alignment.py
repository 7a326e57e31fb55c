"""How far two sequences of actions agree, whatever was said about them."""

from __future__ import annotations

from collections.abc import Sequence


def alignment(first: Sequence[str], second: Sequence[str]) -> float:
    """The length of the longest common subsequence, as a share of the longer sequence.

    Returns:
        From 0, nothing in common, to 1, equal. Two empty sequences are equal.
    """
    longer = max(len(first), len(second))
    return _common(first, second) / longer if longer else 1.0


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence, by rows of its table."""
    row = [0] * (len(second) + 1)
    for item in first:
        diagonal = 0
        for at, other in enumerate(second, 1):
            above = row[at]
            row[at] = diagonal + 1 if item == other else max(above, row[at - 1])
            diagonal = above
    return row[-1]
