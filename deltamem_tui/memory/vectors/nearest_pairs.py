"""The nearest of many vectors to each of many others, compared in blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.embedding.scan import DECIMALS

_ROWS = 512
_COLUMNS = 4096
_ROUNDING = 1e-4  # more than float32 loses in a sum of a thousand products


def nearest(
    vectors: NDArray[np.float32], others: NDArray[np.float32], limit: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The nearest of `others` to each of `vectors`, if it is near enough; of equals the first.

    Args:
        vectors: Unit rows. float32 [rows, dimensions].
        others: Unit rows. float32 [others, dimensions].
        limit: The least similarity that counts, in [-1, 1].

    Returns:
        Which of the others is nearest, or -1, int64 [rows]; and how similar, float64 [rows],
        rounded to six decimals.
    """
    best = np.full(len(vectors), -1, dtype=np.int64)
    similarity = np.full(len(vectors), -np.inf)
    for top in range(0, len(vectors), _ROWS):
        left = vectors[top : top + _ROWS]
        for side in range(0, len(others), _COLUMNS):
            right = others[side : side + _COLUMNS]
            if (left @ right.T).max() < limit - _ROUNDING:
                continue
            # Exactly, so that the same banks have the same pairs on every machine.
            exact = np.round(left.astype(np.float64) @ right.astype(np.float64).T, DECIMALS)
            columns = exact.argmax(axis=1)
            found = exact[np.arange(len(left)), columns]
            better = np.flatnonzero((found >= limit) & (found > similarity[top : top + len(left)]))
            best[top + better], similarity[top + better] = side + columns[better], found[better]
    return best, similarity
