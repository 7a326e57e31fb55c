"""The one place that decides whether vectors may be used: shape, finiteness, unit length.

Every embedder's output passes through `unit_rows`, so recall can take a dot product
for a cosine without looking again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deltamem_tui.errors import VectorError

if TYPE_CHECKING:
    from numpy.typing import NDArray

LENGTH_TOLERANCE = 1e-3
"""How far from 1 a length may be and still count as float error; half precision stays within."""

_DAMAGED = "the model or its weights are damaged: install it again or use another embedder"
_WORDLESS = "write it in other words, or use another embedder"


def unit_rows(
    vectors: NDArray[Any], *, rows: int, dimensions: int, source: str
) -> NDArray[np.float32]:
    """Check what a model returned for `rows` texts and give it back as exact unit rows.

    Returns:
        float32 [rows, dimensions], C-contiguous; each row's length is 1 within float32's
        precision. The small deviations that float error leaves are divided out.

    Raises:
        VectorError: The shape is another one, or a row is not finite, has no length or
            another one than 1. The error names the embedder, `source`.
    """
    if vectors.shape != (rows, dimensions):
        expected, found = _shape((rows, dimensions)), _shape(vectors.shape)
        raise VectorError(f"expected vectors of shape {expected}, got {found}", source=source)
    exact = vectors.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", exact, exact))
    _refuse(~np.isfinite(lengths), "the vector is not finite", source, _DAMAGED)
    _refuse(lengths == 0.0, "the text has no word that the model knows", source, _WORDLESS)
    strays = np.abs(lengths - 1.0) > LENGTH_TOLERANCE
    _refuse(strays, "the vector is not of unit length", source, _DAMAGED)
    return np.ascontiguousarray(exact / lengths[:, None], dtype=np.float32)


def no_rows(dimensions: int) -> NDArray[np.float32]:
    """What the embedding of no text is: float32 [0, dimensions]."""
    return np.empty((0, dimensions), dtype=np.float32)


def _refuse(broken: NDArray[np.bool_], message: str, source: str, hint: str) -> None:
    """Raise for the first broken row, counted from 1 as a person would."""
    if broken.any():
        raise VectorError(
            message,
            source=source,
            position=f"text {int(broken.argmax()) + 1} of {broken.size}",
            hint=hint,
        )


def _shape(shape: tuple[int, ...]) -> str:
    return " × ".join(str(side) for side in shape)
