"""A quick run misses neither end, and in the long run nothing; a thorough one misses nothing."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests import effort


@pytest.fixture(params=[effort.QUICK, effort.THOROUGH])
def profile(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name = str(request.param)
    monkeypatch.setattr(effort, "thorough", lambda: name == effort.THOROUGH)
    return name


@pytest.mark.parametrize("last", [1, 2, 3, 10, 101])
def test_no_end_is_missed_and_sooner_or_later_nothing(profile: str, last: int) -> None:
    walks = [effort.in_turn(last) for _ in range(200)]
    for walk in walks:
        assert list(walk) == sorted(set(walk))
        assert (walk[0], walk[-1]) == (1, last)
        assert len(walk) == last or profile == effort.QUICK
        assert len(walk) <= last / 3 + 3 or profile == effort.THOROUGH
    assert {number for walk in walks for number in walk} == set(range(1, last + 1))


def test_a_thorough_run_tries_ten_times_as_many(profile: str) -> None:
    times = 10 if profile == effort.THOROUGH else 1
    assert effort.examples(7).max_examples == 7 * times
    assert settings.get_profile(profile).max_examples == 50 * times
    assert effort.examples(7, one_folder=True).deadline is None
