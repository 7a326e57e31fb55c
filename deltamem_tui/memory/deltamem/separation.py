"""Which threshold separates what is alike from what is not, by the scores that questions got."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST_KINDRED = 0.5  # the share of questions that must have one of their kind


@dataclass(frozen=True, slots=True)
class QuestionScores:
    """What one question scored, without what was learnt from the same text.

    Attributes:
        best: Its best score; None if there was nothing else to compare it with.
        jump: Where its scores fall most; None if they do not fall, or the best says nothing.
        pair: Its best score among its kind and its best among the others; None without either.
    """

    best: float | None = None
    jump: float | None = None
    pair: tuple[float, float] | None = None


def separating_line(scored: Sequence[QuestionScores]) -> float | None:
    """Return the line between the kinds; the median of the jumps where too few questions have a
    kind.

    Returns:
        None if no line separates anything.
    """
    pairs = [each.pair for each in scored if each.pair is not None]
    told_apart = len(pairs) >= _LEAST_KINDRED * len(scored)
    line = dividing_line(pairs) if told_apart else None
    jumps = [each.jump for each in scored if each.jump is not None]
    return float(np.median(jumps)) if line is None and jumps else line


def dividing_line(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return the threshold that most questions reach with their own kind and fewest with another.

    Args:
        pairs: Per question, its best score among its kind and its best among the others.

    Returns:
        The middle of the best stretch between two scores, the lowest such stretch; None if
        no threshold is better than one that lets everything pass.
    """
    if not pairs:
        return None
    own, other = (np.sort(np.array(scores)) for scores in zip(*pairs, strict=True))
    scores = np.unique(np.concatenate((own, other)))
    middles = (scores[:-1] + scores[1:]) / 2
    if not len(middles):
        return None
    # Both have as many scores, so the counts that lie below compare like the shares above.
    gain = np.searchsorted(other, middles) - np.searchsorted(own, middles)
    best = int(np.argmax(gain))
    return float(middles[best]) if gain[best] > 0 else None


def widest_jump(scores: NDArray[np.float32]) -> float | None:
    """Return the middle of the widest jump among the better half of scores that fall.

    Args:
        scores: float32 [scores], best first.

    Returns:
        None if there are too few scores, or all are the same.
    """
    upper = scores[: max(len(scores) // 2, 2)]
    if len(upper) < 2:
        return None
    jumps = upper[:-1] - upper[1:]
    widest = int(np.argmax(jumps))
    return float(upper[widest] + upper[widest + 1]) / 2 if jumps[widest] > 0 else None
