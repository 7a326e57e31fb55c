"""The nearest of many vectors, against comparing all with all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from deltamem_tui.memory.transfer import merging
from deltamem_tui.memory.transfer.merging import nearest


def unit(rows: int, width: int, seed: int, spread: float = 1.0) -> NDArray[np.float32]:
    """Unit rows around one direction, as those of language models are."""
    random = np.random.default_rng(seed)
    vectors = random.normal(size=width) + spread * random.normal(size=(rows, width))
    unit: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit.astype(np.float32)


@given(
    rows=st.integers(0, 40),
    others=st.integers(0, 40),
    seed=st.integers(0, 99),
    limit=st.floats(-1, 1),
)
@settings(deadline=None)
def test_nothing_near_is_missed(rows: int, others: int, seed: int, limit: float) -> None:
    left, right = unit(rows, 200, seed), unit(others, 200, seed + 1)
    shared = min(rows, others) // 2
    left[:shared] = right[:shared]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "_ROWS", 7)
        best, similarity = nearest(left, right, limit)
    every = left.astype(np.float64) @ right.astype(np.float64).T
    for row in range(rows):
        most = every[row].max(initial=-2)
        if most >= limit:
            assert similarity[row] == pytest.approx(most, abs=1e-6)
            assert every[row, best[row]] == pytest.approx(most, abs=1e-6)
        elif most < limit - 1e-5:
            assert best[row] == -1
