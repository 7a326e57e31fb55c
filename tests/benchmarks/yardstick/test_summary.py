"""Means over games, with the interval of the score."""

from __future__ import annotations

from benchmarks.yardstick.summary import Result, summary


def test_a_summary_is_the_mean_of_each() -> None:
    assert summary([Result(1.0, 10, 100), Result(0.0, 30, 50)]) == {
        "games": 2,
        "score": 0.5,
        "interval": [0.0, 1.0],
        "steps": 20.0,
        "tokens": 75,
    }
