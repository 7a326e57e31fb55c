"""Rows as 8-bit numbers: a quarter of the bytes to read, and a bound on what they miss.

A row x is kept as x̂ = scale · code, a question q likewise. By Cauchy and Schwarz

    |x·q − x̂·q̂| ≤ ‖x − x̂‖·‖q‖ + ‖x̂‖·‖q − q̂‖,

so whoever scores again all rows that come that close to the best misses none. The products
are those of `numkong`, as numpy has no fast ones of small integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.embedding.pieces import each_piece, pieces_of

Parts = Mapping[str, NDArray[Any]]

_MOST = 127
_ROUNDING = 1e-6  # what float32 may take off a bound of at most 1, and lose of a product


def can_multiply() -> bool:
    """Whether the library that multiplies 8-bit rows is installed."""
    return find_spec("numkong") is not None


def codes_of(vectors: NDArray[np.float32]) -> Parts:
    """Rows as 8-bit numbers, with what is needed to bound their products.

    Returns:
        `codes` int8 [rows, dimensions]; `scales` float32 [rows, 1]; and `bounds` float32
        [rows, 2], ‖x − x̂‖ and ‖x̂‖ or more, infinite for a row that is not finite.
    """
    exact = vectors.astype(np.float64)
    sound = np.isfinite(exact).all(axis=1)
    exact[~sound] = 0
    scales = (np.abs(exact).max(axis=1, keepdims=True) / _MOST).astype(np.float32)
    scales[scales == 0] = 1
    codes = np.clip(np.rint(exact / scales), -_MOST, _MOST).astype(np.int8)
    near = codes * scales.astype(np.float64)
    bounds = np.stack([np.linalg.norm(exact - near, axis=1), np.linalg.norm(near, axis=1)], axis=1)
    bounds[~sound] = np.inf
    return {"codes": codes, "scales": scales, "bounds": (bounds + _ROUNDING).astype(np.float32)}


class CodedRows:
    """8-bit rows, in one or more parts that `codes_of` made."""

    def __init__(self, parts: Sequence[Parts]) -> None:
        self._parts = [{name: np.asarray(array) for name, array in part.items()} for part in parts]
        bounds = [part["bounds"].max(axis=0) for part in self._parts if len(part["bounds"])]
        most = np.max(bounds, axis=0) if bounds else np.zeros(2)
        self._off, self._length = float(most[0]), float(most[1])

    def products(self, question: NDArray[np.float32]) -> tuple[NDArray[np.float32], float]:
        """Each row's product with a question, and the most that one of them is off.

        `question` is float32 [dimensions] and finite; the products are float32 [rows].
        """
        import numkong

        asked = codes_of(question[None, :])
        code, scale = asked["codes"], float(asked["scales"][0, 0])
        products = []
        for part in self._parts:
            found = np.empty(len(part["codes"]), dtype=np.float32)

            def multiply(
                piece: slice, part: Parts = part, found: NDArray[np.float32] = found
            ) -> None:
                sums = np.asarray(numkong.cdist(part["codes"][piece], code, "dot"))[:, 0]
                found[piece] = sums * part["scales"][piece, 0] * scale

            each_piece(multiply, pieces_of(len(found)))
            products.append(found)
        length = float(np.linalg.norm(question.astype(np.float64)))
        error = self._off * length + self._length * float(asked["bounds"][0, 0])
        return np.concatenate(products), error + _ROUNDING * (1 + length)
