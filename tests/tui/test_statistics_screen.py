"""The statistics screen: plots with the same numbers as text."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory import calibrate as calibration
from deltamem_tui.tui.models.statistics import overview, overview_sections
from deltamem_tui.tui.screens.statistics import StatisticsScreen
from deltamem_tui.tui.widgets.plot import Plot
from tests.tui.support import READY, Person, browse, small_bank, take_in_many


def test_the_numbers_are_the_banks(folder: Path) -> None:
    text = "\n".join(
        f"{each.title}\n{each.body}"
        for each in overview_sections(overview(Bank.open(folder / "kitchen")))
    )
    for words in (
        "3 · learnt 1 · waiting 2 · without outcome 1",
        "6 nodes: 3 roots, 3 residuals",
        "2 failures, 0 fused",
        "nodes by depth: 1: 3, 2: 2, 3: 1",
        "4 hits; nodes by hits: 0: 5, 4: 1",
    ):
        assert words in text


def test_plots_and_numbers_are_shown(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("4")
        assert isinstance(person.app.screen, StatisticsScreen)
        for words in ("nodes by depth", "nodes by hits", "6 nodes: 3 roots"):
            assert words in person.screen
        assert "█" in person.screen
        assert "nodes over episodes" not in person.screen, "one episode is no line"
        bank = Bank.open(folder / "kitchen")
        with bank.writing() as batch:
            batch.log("learn", {"trajectory": READY.id, "trees": {}})
        person.app.look_for_changes()
        await person.settle()
        assert "nodes over episodes" in person.screen
        assert not person.app.screen.query_one("#scores", Plot).display

    browse(folder, story, "kitchen", size=(120, 60))


def test_scores_are_asked_for_and_the_proposal_saved(folder: Path) -> None:
    take_in_many(Bank.open(folder / "kitchen"))

    async def story(person: Person) -> None:
        await person.press("4", "w")
        assert "no thresholds were proposed yet: c asks" in person.said[-1]
        await person.press("c")
        assert "w saves them" in person.said[-1]
        assert person.app.screen.query_one("#scores", Plot).display
        shown = person.app.screen.readable()  # type: ignore[attr-defined]
        scores = next(each for each in shown if each.title == "Best scores, task tree")
        assert "17 questions, compared with nodes" in scores.body
        proposed = next(line for line in scores.body.splitlines() if "proposed" in line)
        await person.press("w")
        stored = person.app.bank.manifest.parameters["task"]["tau_base"]
        assert proposed.startswith(f"threshold {stored:g} proposed")

    browse(folder, story, "kitchen", size=(120, 60))


def test_the_scores_of_one_bank_are_never_shown_in_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_in_many(Bank.open(folder / "kitchen"))
    small_bank(folder / "other")
    real, go_on = calibration.calibrate, threading.Event()

    def slow(bank: Bank) -> list[calibration.Proposal]:
        assert go_on.wait(20)
        return real(bank)

    monkeypatch.setattr(calibration, "calibrate", slow)

    async def story(person: Person) -> None:
        await person.press("4")
        await person.pilot.press("c", "escape")
        await person.settle(work=False)
        person.app.open_bank(folder / "other")
        await person.settle(work=False)
        await person.pilot.press("4")
        await person.settle(work=False)
        go_on.set()
        await person.settle()
        assert person.app.bank.path == folder / "other"
        assert person.said[-1] == "kitchen was left while it was asked for its scores"
        assert not person.app.screen.query_one("#scores", Plot).display
        await person.press("w")
        assert "no thresholds were proposed yet" in person.said[-1]
        assert person.app.bank.manifest.parameters["task"]["tau_base"] == 0.6

    browse(folder, story, "kitchen", size=(120, 60))


def test_without_enough_scores_it_is_told_why_nothing_is_proposed(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("4", "c")
        shown = person.app.screen.readable()  # type: ignore[attr-defined]
        scores = next(each for each in shown if each.title == "Best scores, task tree")
        assert "nothing proposed: too few episodes" in scores.body
        assert person.app.screen.readable()[0] is scores  # type: ignore[attr-defined]
        await person.press("w")
        assert "no threshold is proposed (task tree: too few episodes" in person.said[-1]

    browse(folder, story, "kitchen", size=(120, 60))


def test_a_frozen_bank_tells_its_scores_and_keeps_its_thresholds(folder: Path) -> None:
    take_in_many(Bank.open(folder / "kitchen"))
    Bank.open(folder / "kitchen").freeze()
    before = {file.name: file.read_bytes() for file in (folder / "kitchen").iterdir()}

    async def story(person: Person) -> None:
        await person.press("4", "c")
        assert person.app.screen.query_one("#scores", Plot).display
        assert not any("frozen" in words for words in person.said)
        await person.press("w")
        assert "the bank is frozen" in person.said[-1]

    browse(folder, story, "kitchen")
    assert {file.name: file.read_bytes() for file in (folder / "kitchen").iterdir()} == before
