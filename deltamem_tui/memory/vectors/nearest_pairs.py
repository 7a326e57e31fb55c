"""The nearest of many vectors to each of many others, compared in blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.embedding.scan import DECIMALS

_ROWS = 512
_COLUMNS = 4096
_ROUNDING = 1e-4  # more than float32 loses in a sum of a thousand products
_PART = 64
_SAMPLE = 4096
_FEW_PAIRS = 4_000_000  # below, shortening the vectors takes longer than it saves

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
    left, right = _shortened(vectors, others)
    for top in range(0, len(left), _ROWS):
        for side in range(0, len(right), _COLUMNS):
            bounds = left[top : top + _ROWS] @ right[side : side + _COLUMNS].T
            if bounds.max() < limit - _ROUNDING:
                continue
            near = bounds >= limit - _ROUNDING
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


def _shortened(vectors: Matrix, others: Matrix) -> tuple[Matrix, Matrix]:
    """Short rows whose products are never less than those of the vectors, by Cauchy and Schwarz:
    each vector's part along the directions that hold most of their length, and the length of the
    rest.
    """
    if len(vectors) * len(others) < _FEW_PAIRS or vectors.shape[1] <= 2 * _PART:
        return vectors, others
    sample = np.concatenate([each[:: len(each) // _SAMPLE + 1] for each in (vectors, others)])
    axes = np.linalg.eigh(sample.T @ sample)[1][:, -_PART:]
    parts = [each @ axes for each in (vectors, others)]
    one, two = map(_with_rest, (vectors, others), parts)
    return one, two


def _with_rest(vectors: Matrix, parts: Matrix) -> Matrix:
    rests = np.einsum("ij,ij->i", vectors, vectors) - np.einsum("ij,ij->i", parts, parts)
    # What float32 may have lost of a rest must not make the bound too small.
    return np.column_stack([parts, np.sqrt(np.maximum(rests, 0) + np.float32(1e-6))])
