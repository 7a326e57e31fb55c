"""The nearest of many vectors to each of many others, compared in blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.embedding.scan import DECIMALS

_ROWS = 512
_COLUMNS = 4096
_ROUNDING = 1e-4  # more than float32 loses in a sum of a thousand products

Matrix = NDArray[np.float32]


def nearest(
    vectors: Matrix, others: Matrix, limit: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the nearest of `others` to each of `vectors`, if near enough; of equals the first.

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
        for side in range(0, len(others), _COLUMNS):
            products = vectors[top : top + _ROWS] @ others[side : side + _COLUMNS].T
            near = products >= limit - _ROUNDING
            if not near.any():
                continue
            rows = top + np.flatnonzero(near.any(axis=1))
            columns = side + np.flatnonzero(near.any(axis=0))
            # Exactly, so that the same banks have the same pairs on every machine.
            exact = vectors[rows].astype(np.float64) @ others[columns].astype(np.float64).T
            exact = np.round(exact, DECIMALS)
            which = exact.argmax(axis=1)
            found = exact[np.arange(len(rows)), which]
            better = (found >= limit) & (found > similarity[rows])
            best[rows[better]], similarity[rows[better]] = columns[which[better]], found[better]
    return best, similarity
