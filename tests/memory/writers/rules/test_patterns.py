"""Closed frequent patterns, against every run of every sequence looked at one by one."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.memory.awm.write import (
    Pattern,
    chosen,
    closed_patterns,
    completed,
    occurs,
)

SEQUENCES = st.lists(st.lists(st.sampled_from("abc"), max_size=8), max_size=5)


def runs(sequence: list[str] | tuple[str, ...]) -> set[tuple[str, ...]]:
    ends = combinations(range(len(sequence) + 1), 2)
    return {tuple(sequence[start:end]) for start, end in ends}


@given(SEQUENCES, st.integers(1, 3))
def test_the_patterns_are_those_that_are_frequent_and_closed(
    sequences: list[list[str]], least: int
) -> None:
    support = {
        run: sum(run in runs(one) for one in sequences) for s in sequences for run in runs(s)
    }
    frequent = {run: count for run, count in support.items() if count >= least}
    expected = {
        Pattern(run, count)
        for run, count in frequent.items()
        if len(run) > 1
        and not any(
            longer != run and run in runs(longer) and frequent[longer] == count
            for longer in frequent
        )
    }
    found = closed_patterns(sequences, least)
    assert set(found) == expected
    assert len(found) == len(expected)
    weights = [pattern.support * (len(pattern.actions) - 1) for pattern in found]
    assert weights == sorted(weights, reverse=True)


@given(SEQUENCES)
def test_what_is_completed_occurs_where_its_pattern_does(sequences: list[list[str]]) -> None:
    for pattern in closed_patterns(sequences):
        whole = completed(pattern, sequences)
        having = [one for one in sequences if pattern.actions in runs(one)]
        assert all(occurs(whole.actions, one) for one in having)
        assert whole.support == sum(occurs(whole.actions, one) for one in sequences)
        assert pattern.actions in runs(whole.actions)


def test_a_last_step_stays_though_something_lies_before_it() -> None:
    sequences = ["abcz", "abcxz", "yabcz"]
    patterns = [completed(each, sequences) for each in closed_patterns(sequences)]
    assert patterns[0] == Pattern(tuple("abcz"), 3)


@given(SEQUENCES)
def test_what_is_chosen_overlaps_at_most_by_half(sequences: list[list[str]]) -> None:
    patterns = closed_patterns(sequences)
    kept = chosen(patterns, 3)
    assert len(kept) <= 3
    assert kept[:1] == patterns[:1]
    for one, other in combinations(kept, 2):
        shared = runs(one.actions) & runs(other.actions)
        longest = max(map(len, shared), default=0)
        assert 2 * longest <= min(len(one.actions), len(other.actions))


def test_a_pattern_occurs_in_its_order_with_anything_between() -> None:
    assert occurs("ac", "abc")
    assert not occurs("ca", "abc")
    assert not occurs("aa", "abc")
