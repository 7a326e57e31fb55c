"""The page of an evaluation, and the page of all results."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from deltamem_tui.lab.contestants.entrant import Entrant, entrants
from deltamem_tui.lab.runs.report import difference_of, interval_of, markdown_page, warnings
from deltamem_tui.memory.replay.bootstrap import Estimate
from tests.bank.quick_disk import no_waiting_for_the_disk
from tests.lab.arcade import LOG, plan, run
from tests.places import DOCS

__all__ = ["no_waiting_for_the_disk"]


def test_a_page_has_every_contestant_in_each_table(tmp_path: Path) -> None:
    who = (*entrants(["nothing"]), Entrant("raw | <b>", "raw"))
    found = run(tmp_path / "run", plan("unfrozen", who, log=LOG, tries=2), log=LOG)
    page = markdown_page(found)
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| raw")]
    assert [row[0] for row in rows] == ["| raw \\| &lt;b>"] * 3
    assert rows[0][1] == "1.00 (1.00 1.00)"
    assert rows[2][1:] == ["1", "1 |"]
    assert "| red | 4 | 1 | 1 |" in page
    assert warnings(found) == []


def test_shares_are_written_without_their_nought() -> None:
    assert interval_of(Estimate(0.5, 0.25, 1.0)) == ".50 (.25 1.00)"
    assert interval_of(Estimate()) == ""


def test_differences_of_ten_steps_and_more_keep_their_noughts() -> None:
    assert difference_of(Estimate(-10.35, -20.0, 0.5)) == "-10.35 (-20.00 +.50)"


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
