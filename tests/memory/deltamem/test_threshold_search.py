"""Where scores are divided."""

from __future__ import annotations

import numpy as np
import pytest

from deltamem_tui.memory.deltamem.threshold_search import dividing_line, widest_jump


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], None),
        ([0.9], None),
        ([0.9, 0.5], 0.7),
        ([0.9, 0.9], None),
        ([0.9, 0.9, 0.9, 0.1], None),  # the drop lies in the worse half
        ([0.9, 0.4, 0.3, 0.2], 0.65),
        ([0.95, 0.94, 0.93, 0.6, 0.5, 0.1, 0.0, -0.5], 0.765),
        ([0.9, 0.7, 0.5, 0.3, 0.1, 0.0], 0.8),  # equal jumps: the first
    ],
)
def test_the_widest_jump_of_the_better_half(scores: list[float], expected: float | None) -> None:
    found = widest_jump(np.array(scores, dtype=np.float32))
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-6))


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([], None),
        ([(0.9, 0.9)], None),
        ([(0.2, 0.9)], None),  # another kind scores higher: no line is better than none
        ([(0.9, 0.5), (0.8, 0.6)], 0.7),
        ([(0.9, 0.1), (0.8, 0.3), (0.2, 0.4)], 0.6),  # the last question is given up
    ],
)
def test_the_line_that_most_reach_with_their_kind_and_fewest_with_another(
    pairs: list[tuple[float, float]], expected: float | None
) -> None:
    found = dividing_line(pairs)
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-6))
