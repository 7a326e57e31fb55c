"""Means and intervals over games."""

from __future__ import annotations

import random

import numpy as np
import pytest

from benchmarks.yardstick.summary import Result, interval, summary


@pytest.mark.parametrize(
    "scores", [[0.0] * 20 + [1.0] * 40, [0.1, 0.4, 0.9, 1.0, 0.2] * 10], ids=["won", "shares"]
)
def test_the_interval_is_that_of_samples_drawn_one_by_one(scores: list[float]) -> None:
    drawing = random.Random(1)
    means = sorted(sum(drawing.choices(scores, k=len(scores))) / len(scores) for _ in range(4000))
    slow = (means[100], means[3900])
    assert interval(np.array(scores)) == pytest.approx(slow, abs=0.02)
    assert interval(np.array(scores)) == interval(np.array(scores))


def test_equal_scores_have_no_spread() -> None:
    assert interval(np.ones(9)) == (1.0, 1.0)


def test_a_summary_is_the_mean_of_each() -> None:
    assert summary([Result(1.0, 10, 100), Result(0.0, 30, 50)]) == {
        "games": 2,
        "score": 0.5,
        "interval": [0.0, 1.0],
        "steps": 20.0,
        "tokens": 75,
    }
