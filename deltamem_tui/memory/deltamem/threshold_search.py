"""Where scores are divided: the line between like and unlike, and the widest jump."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def dividing_line(pairs: Sequence[tuple[float, float]]) -> float | None:
    """The threshold that most questions reach with their own kind and fewest with another.

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
    """The middle of the widest jump among the better half of scores that fall.

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
