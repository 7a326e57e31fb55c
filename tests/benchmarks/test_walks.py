"""A recall, a learn, an import and an evaluation stay short walks through the house."""

from __future__ import annotations

from pathlib import Path

from benchmarks.walks import LIMITS, walks


def test_no_walk_enters_more_modules_than_it_may(tmp_path: Path) -> None:
    found = walks(tmp_path)
    assert found.keys() == LIMITS.keys()
    assert {name: each for name, each in found.items() if len(each) > LIMITS[name]} == {}
    assert all("deltamem_tui.bank.bank" in each for each in found.values())  # else nothing was seen
