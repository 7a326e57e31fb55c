"""A quick run misses neither end, and in the long run nothing; a thorough one misses nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tests import effort
from tests.places import ROOT

_RED = """
from hypothesis import given, settings, strategies
from tests.effort import draw

@settings(database=None)
@given(strategies.integers())
def test_red(number):
    if number > 99:
        print("drawn", number)
        raise AssertionError(print("drawn", draw().random()))
"""


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


def test_a_red_run_says_how_it_is_drawn_again_without_shrinking(tmp_path: Path) -> None:
    red = tmp_path / "test_red.py"
    red.write_text(_RED)
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "--noconftest", str(red)]
    runs = [
        subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, effort.VARIABLE: seed},
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        for seed in ("7", "7", "8")
    ]
    assert "TESTS_DRAWN=7; set it to draw the same ones again" in runs[0]
    drawn = [[line for line in run.splitlines() if line.startswith("drawn")] for run in runs]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len({line for line in drawn[0] if "." not in line}) == 1
