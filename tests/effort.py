"""The effort of a test run: a sample drawn anew each time, or everything.

`--hypothesis-profile=thorough` (`make thorough`) tries ten times as many examples, every point at
which a process can be killed, and the tests marked `thorough`. A quick run draws from the rest by
one number, which a red run prints: `TESTS_DRAWN=NUMBER make test` draws the same again.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from random import Random, SystemRandom
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings

T = TypeVar("T")
VARIABLE = "TESTS_DRAWN"
SEED = os.environ.setdefault(VARIABLE, str(SystemRandom().randrange(10**9)))
"""The seed of every draw; the workers of a run inherit it."""
QUICK, THOROUGH = "quick", "thorough"
EXAMPLES = 50
TIMES_MORE = 10


def register() -> None:
    """Register both profiles with hypothesis, and load the quick one."""
    phases = [phase for phase in Phase if phase not in (Phase.shrink, Phase.explain)]
    for name, examples, tried in (
        (QUICK, EXAMPLES, phases),  # to shrink a failure can take minutes
        (THOROUGH, EXAMPLES * TIMES_MORE, list(Phase)),
    ):
        # No test asserts how long anything takes: on a busy machine an example may take its time.
        settings.register_profile(
            name,
            deadline=None,
            max_examples=examples,
            phases=tried,
            print_blob=True,
            suppress_health_check=[HealthCheck.too_slow],
        )
    settings.load_profile(QUICK)


def thorough() -> bool:
    """Return whether this run tries everything."""
    return settings.get_current_profile_name() == THOROUGH


def how_to_draw_again() -> str:
    """Return the line that a red run ends with."""
    return f"cases were drawn by {VARIABLE}={SEED}; set it to draw the same ones again"


def examples(count: int, *, one_folder: bool = False) -> settings:
    """Return settings for a test whose examples cost more or less than usual.

    Args:
        count: How many examples a quick run tries.
        one_folder: All examples of the test write to the same `tmp_path`, and do not mind.
    """
    tried = count * TIMES_MORE if thorough() else count
    if one_folder:
        shared = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
        return settings(max_examples=tried, suppress_health_check=shared)
    return settings(max_examples=tried)


def draw() -> Random:
    """Return the random numbers of the running test, which only the seed decides."""
    return _numbers(os.environ.get("PYTEST_CURRENT_TEST", ""))


@cache
def _numbers(test: str) -> Random:
    return Random(f"{SEED} {test}")


def in_turn(last: int, *, apart: int = 3) -> Sequence[int]:
    """Draw the effects at which a process is killed; both ends are among them.

    Args:
        last: How many effects there are.
        apart: Of how many neighbours a quick run takes one.

    Returns:
        Numbers of effects, ascending, from 1: all of them on a thorough run.
    """
    if thorough():
        return range(1, last + 1)
    begin = draw().randint(1, apart)
    return sorted({1, *range(begin, last + 1, apart), last})


def one_of(ways: Sequence[T]) -> Sequence[T]:
    """Draw one way of all in which a thing is done; all of them on a thorough run."""
    return ways if thorough() else [draw().choice(ways)]


def left_out(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """List the cases that a quick run leaves out.

    They are the tests marked `thorough`, and all but one in n cases of a test marked `one_in(n)`:
    each starts programs, servers or the browser, and they are much alike. Each test keeps one.
    """
    out = [item for item in items if item.get_closest_marker(THOROUGH)]
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("one_in"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for name, alike in cases.items():
        (n,) = {mark.args[0] for item in alike for mark in item.iter_markers("one_in")}
        Random(f"{SEED} {name}").shuffle(alike)
        out += alike[max(1, len(alike) // n) :]
    return out
