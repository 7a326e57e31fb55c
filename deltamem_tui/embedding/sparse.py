"""Rows that are mostly zeros, kept as what they hold.

Hashed goals of two simulators fill 11 and 52 of 2048 dimensions on average, their scenes 85 and
91.

The products are those of the dense rows but for float64's last bits. Cells are read piece by
piece, and pieces of a mapped file are given back, so that the rows never lie in memory at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.embedding.pieces import pieces_of, release

Parts = Mapping[str, NDArray[Any]]

_WIDEST = 2**16  # a dimension's number has 16 bits
_SHARE = 8  # where more than one of eight numbers is not zero, little is saved
_SAMPLE = 256


def is_sparse(vectors: NDArray[np.float32]) -> bool:
    """Whether rows, float32 [rows, dimensions], are mostly zeros, as far as a sample shows."""
    sample = vectors[:: len(vectors) // _SAMPLE + 1]
    return vectors.shape[1] <= _WIDEST and int(np.count_nonzero(sample)) * _SHARE <= sample.size


def cells_of(vectors: NDArray[np.float32]) -> Parts:
    """What rows hold: `columns` uint16 and `values` float32 [cells], `lengths` uint32 [rows]."""
    rows, columns = np.nonzero(vectors)
    return {
        "columns": columns.astype(np.uint16),
        "values": vectors[rows, columns],
        "lengths": np.bincount(rows, minlength=len(vectors)).astype(np.uint32),
    }


class SparseRows:
    """Sparse rows, in one or more parts that `cells_of` made."""

    def __init__(self, parts: Sequence[Parts], dimensions: int) -> None:
        self._parts = parts
        self._dimensions = dimensions
        self._rows = sum(len(part["lengths"]) for part in parts)

    def products(self, question: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
        """Each row's product with a question, of float [dimensions]: float32 [rows]."""
        return self._sums(question.astype(np.float64), 1)

    def squares(self, weight: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
        """Each row's sum of squares under a weight of float [dimensions]: float32 [rows]."""
        return self._sums(weight.astype(np.float64), 2)

    def frequency(self, dead: NDArray[np.bool_]) -> NDArray[np.float64]:
        """How many rows that are not dead hold each dimension: float64 [dimensions]."""
        counts = np.zeros(self._dimensions, dtype=np.int64)
        for rows, columns, _, lengths in self._pieces():
            counts += np.bincount(columns, minlength=self._dimensions)
            gone = columns[_cells_at(np.flatnonzero(dead[rows]), lengths)]
            counts -= np.bincount(gone, minlength=self._dimensions)
        return counts.astype(np.float64)

    def _sums(self, weight: NDArray[np.float64], power: int) -> NDArray[np.float32]:
        sums = np.zeros(self._rows, dtype=np.float32)
        with np.errstate(invalid="ignore", over="ignore"):  # `Scan.best` reports broken rows
            for rows, columns, values, lengths in self._pieces():
                products = weight[columns]
                for _ in range(power):
                    products *= values
                full = lengths > 0
                starts = (np.cumsum(lengths) - lengths)[full]
                if len(starts):
                    sums[rows][full] = np.add.reduceat(products, starts)
        return sums

    def _pieces(self) -> Iterator[tuple[slice, NDArray[Any], NDArray[Any], NDArray[np.int64]]]:
        """Pieces of rows: which, and their columns, values and lengths."""
        first = 0
        for part in self._parts:
            cell = 0
            for piece in pieces_of(len(part["lengths"])):
                lengths = part["lengths"][piece].astype(np.int64)
                cells = slice(cell, cell + int(lengths.sum()))
                rows = slice(first + piece.start, first + piece.start + len(lengths))
                yield rows, part["columns"][cells], part["values"][cells], lengths
                cell = cells.stop
                release(part["columns"])
                release(part["values"])
            first += len(part["lengths"])


def _cells_at(rows: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of the cells of some rows, of rows of these lengths."""
    sizes = lengths[rows]
    starts = (np.cumsum(lengths) - lengths)[rows]
    cells: NDArray[np.int64] = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
    return cells + np.arange(len(cells))
