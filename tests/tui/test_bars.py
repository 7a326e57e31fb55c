"""Counts as rows of bars."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.tui.models.statistics import MOST_SINGLE, grouped
from deltamem_tui.tui.widgets.plots import bar

COUNTS = st.dictionaries(st.integers(0, 10**6), st.integers(1, 1000), max_size=30)


def test_groups_go_on_in_ones_twos_and_fives() -> None:
    names = [row.name for row in grouped({"task": {40: 1, 1500: 1}})]
    assert names == ["21–50", "51–100", "101–200", "201–500", "501–1,000", "1,001–2,000"]


@given(COUNTS, COUNTS)
def test_every_node_is_on_one_row(task: dict[int, int], env: dict[int, int]) -> None:
    rows = grouped({"task": task, "env": env})
    assert sum(row.values["task"] or 0 for row in rows) == sum(task.values())
    assert sum(row.values["env"] or 0 for row in rows) == sum(env.values())
    assert len({row.name for row in rows}) == len(rows) <= 22
    if rows and len(rows) > MOST_SINGLE:
        assert "–" in rows[-1].name


@pytest.mark.parametrize(
    ("value", "said"),
    [(0, ""), (1, "▏"), (50, "████"), (56.25, "████▌"), (99.9, "████████"), (100, "████████")],
)
def test_a_bar_is_as_long_as_its_value(value: float, said: str) -> None:
    assert bar(value, 100, 8) == said


VALUES = st.just(0.0) | st.floats(0.01, 1e6)


@given(VALUES, VALUES, st.integers(1, 200))
def test_a_bar_fits_and_something_can_be_seen(value: float, more: float, width: int) -> None:
    drawn = bar(value, value + more, width)
    assert len(drawn) <= width
    assert bool(drawn) == (value > 0)
