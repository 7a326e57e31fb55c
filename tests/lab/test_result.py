"""Results: by the same draws as a slow bootstrap, and paired where two are compared."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.lab.plan import TrialResult
from deltamem_tui.lab.result import SAMPLES, Estimate, interval, measured, signed
from tests.effort import examples
from tests.places import DOCS

VALUES = st.lists(st.sampled_from([None, 0.0, 0.5, 1.0]), min_size=1, max_size=6)


def trials(values: list[float | None]) -> list[TrialResult]:
    return [
        TrialResult(f"g{at}", "", {} if each is None else {"score": each})
        for at, each in enumerate(values)
    ]


def drawn_slowly(*compared: list[float | None]) -> list[float]:
    """The mean of each sample, or the difference of two, a game at a time."""
    generator, games, found = np.random.default_rng(7), len(compared[0]), []
    for picks in generator.integers(0, games, (SAMPLES, games)).tolist():
        known = [[v for at in picks if (v := each[at]) is not None] for each in compared]
        if all(known):
            means = [sum(each) / len(each) for each in known]
            found.append(means[0] - (means[1] if len(means) > 1 else 0.0))
    return found


@examples(5)
@given(VALUES, st.data())
def test_intervals_are_those_of_a_slow_bootstrap(
    one: list[float | None], data: st.DataObject
) -> None:
    other = data.draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=len(one), max_size=len(one)))
    found = measured(trials(one), trials(list(other))).get("score")
    if found is None:
        assert set(one) == {None}
        return
    for estimate, slow in (
        (found.estimate, drawn_slowly(one)),
        (found.difference, drawn_slowly(one, list(other))),
    ):
        assert [estimate.low, estimate.high] == pytest.approx([*np.percentile(slow, [2.5, 97.5])])


def test_a_pair_that_never_differs_differs_by_nothing() -> None:
    some = trials([1, 0, 1, 1])
    found = measured(some, some)["score"]
    assert found.estimate.low is not None
    assert found.estimate.low < 0.75
    assert found.difference == Estimate(0.0, 0.0, 0.0)


def test_shares_and_differences_are_written_without_their_nought() -> None:
    assert interval(Estimate(0.5, 0.25, 1.0)) == ".50 (.25 1.00)"
    assert interval(Estimate()) == ""
    assert signed(Estimate(-10.35, -20.0, 0.5)) == "-10.35 (-20.00 +.50)"


def test_the_page_of_results_has_a_place_for_its_tables() -> None:
    spec = importlib.util.spec_from_file_location("build_results", DOCS / "build_results.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["build_results"] = module
    spec.loader.exec_module(module)
    page = (DOCS / "results.md").read_text("utf-8")
    once = module.with_tables(page, "new")
    assert module.with_tables(once, "new") == once
    before, _, after = once.partition("\nnew\n")
    assert page.startswith(before)
    assert page.endswith(after)
    assert len(after) > 1000
