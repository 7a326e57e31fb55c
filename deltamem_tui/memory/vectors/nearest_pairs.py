"""The nearest of many vectors to each of many others, exactly, without comparing all in full.

Vectors are turned so that their first few dimensions hold most of their length. Of two unit
vectors, the product of these parts and the product of the lengths of the rest add up to a
bound on their similarity (Cauchy and Schwarz). Only pairs whose bound reaches the limit are
compared in full, so nothing is missed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

_BLOCK_ROWS = 512
_BLOCK_COLUMNS = 4096
_PAIRS = 65_536
_FEW_PAIRS = 4_000_000  # below, turning the vectors takes longer than it saves
_PART = 64
_SAMPLE = 4096
_ROUNDING = 1e-4  # more than float32 loses in a sum of a thousand products


def nearest(
    vectors: Matrix, others: Matrix, limit: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The nearest of `others` to each of `vectors`, if it is near enough.

    Args:
        vectors: Unit rows. float32 [rows, dimensions].
        others: Unit rows. float32 [others, dimensions].
        limit: The least similarity that counts, in [-1, 1].

    Returns:
        Which of the others is nearest, or -1, int64 [rows]; and how similar, float64 [rows].
    """
    best = np.full(len(vectors), -1, dtype=np.int64)
    similarity = np.full(len(vectors), -np.inf)
    for rows, columns in _candidates(vectors, others, limit - _ROUNDING):
        exact = np.einsum(
            "ij,ij->i", vectors[rows].astype(np.float64), others[columns].astype(np.float64)
        )
        # The last one written stays: the most similar, and of equals the first.
        order = np.lexsort((-columns, exact))
        better = order[exact[order] > np.maximum(similarity[rows[order]], limit - 1e-6)]
        best[rows[better]], similarity[rows[better]] = columns[better], exact[better]
    return best, similarity


def _candidates(
    vectors: Matrix, others: Matrix, limit: float
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Pairs among which all that reach the limit are, in blocks that stay in the cache."""
    if not len(vectors) or not len(others):
        return
    left, right = vectors, others
    if len(vectors) * len(others) > _FEW_PAIRS and vectors.shape[1] > 2 * _PART:
        left, right = _bounding(vectors, others)
    across = np.ascontiguousarray(right.T)
    for top in range(0, len(left), _BLOCK_ROWS):
        for side in range(0, len(right), _BLOCK_COLUMNS):
            bounds = left[top : top + _BLOCK_ROWS] @ across[:, side : side + _BLOCK_COLUMNS]
            if bounds.max() < limit:
                continue
            rows, columns = np.nonzero(bounds >= limit)
            for first in range(0, len(rows), _PAIRS):
                last = first + _PAIRS
                yield rows[first:last] + top, columns[first:last] + side


def _bounding(vectors: Matrix, others: Matrix) -> tuple[Matrix, Matrix]:
    """Short rows whose products are never less than those of the vectors."""
    sample = np.concatenate([_some(vectors), _some(others)]).astype(np.float64)
    _, axes = np.linalg.eigh(sample.T @ sample)
    leading = np.ascontiguousarray(axes[:, -_PART:].astype(np.float32))
    return _shortened(vectors, leading), _shortened(others, leading)


def _some(vectors: Matrix) -> Matrix:
    return vectors[:: max(1, len(vectors) // _SAMPLE)]


def _shortened(vectors: Matrix, leading: Matrix) -> Matrix:
    part = vectors @ leading
    lengths = np.einsum("ij,ij->i", vectors, vectors) - np.einsum("ij,ij->i", part, part)
    rest = np.sqrt(np.maximum(lengths, 0.0) + 1e-6)
    return np.concatenate([part, rest[:, np.newaxis].astype(np.float32)], axis=1)
