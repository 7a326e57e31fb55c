"""What is counted of sparse rows goes on from what was counted, whatever grew or died since."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.embedding.scan import SparseRows, cells_of

DIMENSIONS = 6


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 5), min_size=1, max_size=6))
def test_the_frequency_is_that_of_the_living_rows(seed: int, grown: list[int]) -> None:
    random = np.random.default_rng(seed)
    counted: dict[str, Any] = {}
    vectors = np.zeros((0, DIMENSIONS), dtype=np.float32)
    for more in grown:
        new = random.random((more, DIMENSIONS)) * (random.random((more, DIMENSIONS)) < 0.4)
        vectors = np.concatenate([vectors, new.astype(np.float32)])
        dead = random.random(len(vectors)) < 0.3  # some that were dead may live: other rows
        parts = [cells_of(vectors[: len(vectors) // 2]), cells_of(vectors[len(vectors) // 2 :])]
        found = SparseRows(parts, DIMENSIONS, counted).frequency(dead)
        assert found.tolist() == np.count_nonzero(vectors[~dead], axis=0).tolist()
