"""How much a run of the tests tries: a sample that is drawn anew each time, or all there is.

`--hypothesis-profile=thorough` (`make thorough`) tries ten times as many examples, and every
point at which a process can be killed. What a quick run leaves out differs from run to run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from random import Random, SystemRandom
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings

T = TypeVar("T")
SEED = os.environ.setdefault("TESTS_DRAWN", str(SystemRandom().randrange(10**9)))
"""What cases are drawn with: the same ones by all workers of a run, which inherit it."""
QUICK, THOROUGH = "quick", "thorough"
EXAMPLES = 50
TIMES_MORE = 10


def register() -> None:
    """Make both known to hypothesis, and the quick one the one that holds."""
    for name, examples in ((QUICK, EXAMPLES), (THOROUGH, EXAMPLES * TIMES_MORE)):
        # No test asserts how long anything takes: on a busy machine an example may take its time.
        settings.register_profile(
            name,
            deadline=None,
            max_examples=examples,
            suppress_health_check=[HealthCheck.too_slow],
        )
    settings.load_profile(QUICK)


def thorough() -> bool:
    """Whether this run tries all there is."""
    return settings.get_current_profile_name() == THOROUGH


def examples(count: int, *, one_folder: bool = False) -> settings:
    """So many examples on a quick run, for a test whose examples cost more or less than usual.

    Args:
        count: How many.
        one_folder: All examples of the test write to the same `tmp_path`, and do not mind.
    """
    tried = count * TIMES_MORE if thorough() else count
    if one_folder:
        shared = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
        return settings(max_examples=tried, suppress_health_check=shared)
    return settings(max_examples=tried)


def in_turn(last: int, *, apart: int = 3) -> Sequence[int]:
    """Where a process is killed: at each of its effects, or at a sample that misses neither end.

    Args:
        last: How many effects there are.
        apart: Of how many neighbours a quick run takes one.

    Returns:
        Numbers of effects, ascending, from 1: all of them on a thorough run.
    """
    if thorough():
        return range(1, last + 1)
    begin = SystemRandom().randint(1, apart)
    return sorted({1, *range(begin, last + 1, apart), last})


def one_of(ways: Sequence[T]) -> Sequence[T]:
    """One way of all in which a thing is done, drawn anew; all of them on a thorough run."""
    return ways if thorough() else [SystemRandom().choice(ways)]


def left_out(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The cases that a quick run leaves out: all but one in n of a test marked `one_in(n)`.

    Each case starts programs, servers or the browser, and they are much alike. Each test keeps one.
    """
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("one_in"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    out: list[pytest.Item] = []
    for name, alike in cases.items():
        (n,) = {mark.args[0] for item in alike for mark in item.iter_markers("one_in")}
        Random(f"{SEED} {name}").shuffle(alike)
        out += alike[max(1, len(alike) // n) :]
    return out
