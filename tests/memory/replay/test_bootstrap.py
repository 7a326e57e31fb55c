"""Intervals: by the same draws as a slow bootstrap, and paired where two are compared."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.memory.replay.bootstrap import SAMPLES, Estimate, Ratio, difference, interval
from tests.effort import examples

pair = st.tuples(st.floats(0, 5), st.sampled_from([0.0, 1.0, 3.0]))


@st.composite
def ratios(draw: st.DrawFn, episodes: int) -> Ratio:
    pairs = st.lists(pair, min_size=episodes, max_size=episodes)
    parts, wholes = np.array(draw(pairs)).T
    return Ratio(parts, wholes)


def drawn_slowly(*compared: Ratio) -> list[float]:
    """The measure of each sample, or the difference of two, an episode at a time."""
    generator = np.random.default_rng(7)
    episodes = len(compared[0].parts)
    found = []
    for drawn in generator.integers(0, episodes, (SAMPLES, episodes)).tolist():
        sums = [
            (sum(each.parts[at] for at in drawn), sum(each.wholes[at] for at in drawn))
            for each in compared
        ]
        if all(whole for _, whole in sums):
            values = [part / whole for part, whole in sums]
            found.append(values[0] - (values[1] if len(values) > 1 else 0.0))
    return found


@examples(5)
@given(st.data())
def test_an_interval_is_that_of_a_slow_bootstrap(data: st.DataObject) -> None:
    episodes = data.draw(st.integers(1, 6))
    one, other = data.draw(ratios(episodes)), data.draw(ratios(episodes))
    for found, slow in (
        (interval(one), drawn_slowly(one)),
        (difference(one, other), drawn_slowly(one, other)),
    ):
        if found.value is None:
            assert found == Estimate()
        else:
            assert [found.low, found.high] == pytest.approx([*np.percentile(slow, [2.5, 97.5])])


def test_a_mean_has_the_interval_that_other_draws_find() -> None:
    scores = [0.0] * 20 + [1.0] * 40
    drawing = random.Random(1)
    means = sorted(sum(drawing.choices(scores, k=60)) / 60 for _ in range(4000))
    found = interval(Ratio.mean(scores))
    assert (found.low, found.high) == pytest.approx((means[100], means[3900]), abs=0.02)


def test_a_pair_that_never_differs_differs_by_nothing() -> None:
    ratio = Ratio.mean([1, 0, 1, 1])
    low, high = interval(ratio).low, interval(ratio).high
    assert low is not None
    assert high is not None
    assert low < 0.75 < high
    assert difference(ratio, ratio) == Estimate(0.0, 0.0, 0.0)


def test_a_measure_so_far_begins_with_the_first_episode_that_counts() -> None:
    so_far = Ratio(np.array([0.0, 1.0, 0.0]), np.array([0.0, 1.0, 1.0])).so_far()
    assert np.isnan(so_far[0])
    assert so_far[1:].tolist() == [1.0, 0.5]
