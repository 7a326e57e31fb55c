"""The simulators where they are installed; one line where something is missing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.yardstick import worlds
from benchmarks.yardstick.worlds import alfworld_games, scienceworld_games
from deltamem_tui.errors import UsageError
from tests.places import ROOT


def test_a_missing_simulator_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(worlds, "find_spec", lambda _: None)
    worlds.simulator.cache_clear()
    with pytest.raises(UsageError, match=r"scienceworld .*deltamem-tui\[yardstick\]"):
        scienceworld_games("dev")
    with pytest.raises(UsageError, match="alfworld and textworld"):
        alfworld_games(tmp_path / "games.tar.xz", tmp_path, "dev")


def test_a_missing_java_and_missing_games_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(worlds, "find_spec", lambda _: object())
    monkeypatch.setattr(shutil, "which", lambda _: None)
    worlds.simulator.cache_clear()
    with pytest.raises(UsageError, match="Java"):
        scienceworld_games("dev")
    with pytest.raises(UsageError, match="--games"):
        alfworld_games(tmp_path / "games.tar.xz", tmp_path, "dev")


def test_the_command_line_refuses_in_one_line_without_a_traceback(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.yardstick", "scienceworld", "nothing"]
    done = subprocess.run(
        [*command, "--episodes", str(tmp_path / "none.jsonl")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("yardstick: ")


@pytest.mark.skipif(
    find_spec("scienceworld") is None or shutil.which("java") is None,
    reason="ScienceWorld is not installed",
)
def test_a_variation_begins_anew_each_time() -> None:
    worlds.simulator.cache_clear()
    game = next(scienceworld_games("dev"))
    first = game.start()
    game.step("look around")
    assert game.start() == first
    assert game.step("no such command").score == 0
