"""Lift agrees with going through the episodes one by one, and claims nothing of few."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.memory.credit.shares import Difference, Share, difference
from deltamem_tui.memory.lift import EpisodeColumns, by_kind, by_node

EPISODES = st.lists(
    st.tuples(
        st.integers(0, 2), st.sampled_from([-1, 0, 1]), st.sets(st.integers(0, 3)) | st.none()
    ),
    max_size=12,
)
"""Kind, end, and the nodes that it was shown; None if it has no receipt."""


def share(ends: list[int]) -> Share:
    return Share(len(ends), sum(ends))


@given(EPISODES)
def test_columns_agree_with_episodes(given_: list[tuple[int, int, set[int] | None]]) -> None:
    rows = np.array([(k, e, bool(s), s is not None) for k, e, s in given_], dtype=np.int64).reshape(
        -1, 4
    )
    columns = EpisodeColumns(rows[:, 0], rows[:, 1], rows[:, 2] > 0, rows[:, 3] > 0, "abc")
    known = [(k, e, s) for k, e, s in given_ if s is not None and e >= 0]
    kinds = {
        "abc"[kind]: tuple(
            share([e for k, e, s in known if k == kind and bool(s) == side])
            for side in (True, False)
        )
        for kind in {k for k, _, _ in known}
    }
    assert dict(by_kind(columns)) == kinds
    uses = [(node, number) for number, (_, _, s) in enumerate(given_) for node in s or ()]
    pairs = np.array(uses, dtype=np.int64).reshape(-1, 2)
    found = {each.node: each for each in by_node(columns, pairs[:, 0], pairs[:, 1])}
    for node in range(4):
        shown = [(k, e) for k, e, s in known if node in s]
        assert (node in found) == bool(shown)
        if shown:
            means = [share([e for k, e, _ in known if k == kind]).mean or 0 for kind, _ in shown]
            each = found[node]
            assert each.shown == sum(node in (s or ()) for _, _, s in given_)
            assert each.share == share([e for _, e in shown])
            assert each.expected == pytest.approx(sum(means) / len(means))
            low, high = each.share.interval
            assert each.look == (
                "harmful"
                if high < each.expected
                else "helpful"
                if low > each.expected
                else "unclear"
            )


def test_worst_first_and_no_claim_of_three() -> None:
    # Node 0 is shown to ten failures, 1 to ten successes, 2 to three failures, all of one kind.
    ends = [0] * 10 + [1] * 10 + [0] * 3
    nodes = np.array([0] * 10 + [1] * 10 + [2] * 3)
    every = np.ones(23, dtype=np.bool_)
    columns = EpisodeColumns(np.zeros(23, dtype=np.int64), np.array(ends), every, every, ["a"])
    found = by_node(columns, nodes, np.arange(23))
    assert [(each.node, each.look) for each in found] == [
        (0, "harmful"),
        (1, "helpful"),
        (2, "unclear"),
    ]


@given(st.integers(1, 200), st.data())
def test_the_interval_solves_its_equation(judged: int, data: st.DataObject) -> None:
    found = Share(judged, data.draw(st.integers(0, judged)))
    # Wilson: the bounds are where the score test just does not reject, |p̂ − p| = z √(p(1−p)/n).
    for bound in found.interval:
        width = 1.959963984540054 * sqrt(bound * (1 - bound) / judged)
        assert abs((found.mean or 0) - bound) == pytest.approx(width, abs=1e-9)


def test_differences_as_published() -> None:
    # Newcombe 1998, table II: 56/70 against 48/80, method 10.
    found = difference([(Share(70, 56), Share(80, 48))])
    assert found is not None
    assert (round(found.low, 4), round(found.high, 4)) == (0.0524, 0.3339)
    assert difference([(Share(), Share(80, 48))]) is None


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=4))
def test_pooling_one_kind_is_its_difference(sizes: list[tuple[int, int]]) -> None:
    pairs = [(Share(a, a // 2), Share(b, b)) for a, b in sizes]
    whole = [each for each in pairs if difference([each])]
    found = difference(pairs)
    assert (found is None) == (not whole)
    if len(whole) == 1:
        expected = difference([whole[0]])
        assert isinstance(found, Difference)
        assert isinstance(expected, Difference)
        assert (found.value, found.low, found.high) == pytest.approx(
            (expected.value, expected.low, expected.high)
        )
