from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from deltamem_tui.embedding.protocol import unit_rows
from deltamem_tui.errors import VectorError


@given(
    arrays.arrays(
        np.float32,
        st.tuples(st.integers(1, 6), st.integers(1, 40)),
        elements=st.floats(-1, 1, width=32),
    ).filter(lambda matrix: bool((np.abs(matrix).max(axis=1) > 1e-3).all())),
    st.floats(0.9995, 1.0005),
)
def test_float_error_is_divided_out(matrix: np.ndarray, slip: float) -> None:
    exact = matrix.astype(np.float64)
    unit = exact / np.linalg.norm(exact, axis=1, keepdims=True)
    rows, dimensions = matrix.shape

    checked = unit_rows(
        (unit * slip).astype(np.float32), rows=rows, dimensions=dimensions, source="test"
    )

    assert checked.dtype == np.float32
    assert checked.flags.c_contiguous
    assert np.abs(np.linalg.norm(checked.astype(np.float64), axis=1) - 1).max() < 1e-6
    assert np.abs(checked - unit).max() < 1e-6


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_refused_with_its_place(value: float) -> None:
    vectors = np.eye(3, dtype=np.float32)
    vectors[1, 2] = value

    with pytest.raises(VectorError, match=r"^model, text 2 of 3: the vector is not finite \(.+\)$"):
        unit_rows(vectors, rows=3, dimensions=3, source="model")


@pytest.mark.parametrize("length", [0.99, 1.01, 1e15])
def test_a_row_of_another_length_is_refused(length: float) -> None:
    vectors = np.eye(2, dtype=np.float32)
    vectors[1] *= length

    with pytest.raises(VectorError, match="text 2 of 2: the vector is not of unit length"):
        unit_rows(vectors, rows=2, dimensions=2, source="model")


def test_a_row_without_length_is_the_texts_doing() -> None:
    vectors = np.eye(2, dtype=np.float32)
    vectors[0] = 0

    with pytest.raises(VectorError, match="text 1 of 2: the text has no word that the model knows"):
        unit_rows(vectors, rows=2, dimensions=2, source="model")
