"""The statistics screen: plots with the same numbers as text."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.deltamem import calibrate as calibration
from deltamem_tui.memory.threshold_proposal import Proposal
from deltamem_tui.tui.models.statistics import Overview, overview, overview_sections
from deltamem_tui.tui.screens import statistics
from deltamem_tui.tui.screens.statistics import StatisticsScreen
from deltamem_tui.tui.widgets.plots import Plot, ticks
from tests.tui.support import READY, Person, browse, many_nodes, small_bank, take_in_many


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
        person.app.session.look_for_changes()
        await person.settle()
        assert "nodes over episodes" in person.screen
        colours = {
            segment.style.color
            for strip in person.app.screen._compositor.render_strips()
            for segment in strip
            if segment.style and any("⠀" < each <= "⣿" for each in segment.text)
        }
        assert len(colours) == 2, "one line at the top, one at the bottom"
        assert not person.app.screen.query_one("#scores", Plot).display

    browse(folder, story, "kitchen", size=(120, 60))


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 60)])
def test_each_tree_has_its_bars_and_each_bar_its_number(
    folder: Path, size: tuple[int, int]
) -> None:
    many_nodes(folder / "many")

    async def story(person: Person) -> None:
        await person.press("4")
        lines = person.screen.splitlines()
        start = next(at for at, line in enumerate(lines) if "nodes by hits" in line)
        width = size[0] if size[0] < 70 else size[0] // 2
        rows = [line[:width].split() for line in lines[start + 2 : start + 9]]
        assert [row[0] for row in rows] == ["0", "1", "2", "3–5", "6–10", "11–20", "21–50"]
        _, task, task_number, env, env_number = rows[0]
        assert (task_number, env_number) == ("149", "36")
        assert len(task) > 2 * len(env) > 0
        assert rows[3] == ["3–5", "▎", "1", "0"] or rows[3] == ["3–5", "▏", "1", "0"]
        assert rows[4] == ["6–10", "0", "▎", "1"] or rows[4] == ["6–10", "0", "▏", "1"]

    browse(folder, story, "many", size=size)


def test_on_a_narrow_screen_one_tree_stands_below_the_other(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("4")
        lines = [line.split() for line in person.screen.splitlines()]
        assert ["■", "task"] in lines
        assert ["■", "env"] in lines

    browse(folder, story, "kitchen", size=(34, 60))


def test_the_keys_of_a_list_scroll_the_plots(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("4")
        lines = person.screen.splitlines()
        assert lines[2] == " nodes by depth"
        assert not any("tokens on average" in line for line in lines)
        await person.press("shift+tab", "G")
        assert " tokens on average" in person.screen.splitlines()
        await person.press("g", "j")
        assert person.screen.splitlines()[3].startswith(lines[4])

    browse(folder, story, "kitchen", size=(60, 20))


def test_while_a_bank_is_counted_the_screen_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, go_on = overview, threading.Event()

    def slow(bank: Bank) -> Overview:
        assert go_on.wait(20)
        return real(bank)

    monkeypatch.setattr(statistics, "overview", slow)

    async def story(person: Person) -> None:
        await person.pilot.press("4")
        await person.until(lambda: person.screen.count("counting …") == 4)
        go_on.set()
        await person.settle()
        assert "counting" not in person.screen

    browse(folder, story, "kitchen", size=(120, 40))


def test_a_bank_without_nodes_has_nothing_to_count(folder: Path) -> None:
    create_bank(folder / "bare", embedder="hashing")

    async def story(person: Person) -> None:
        await person.press("4")
        assert person.screen.count("nothing to count") == 3

    browse(folder, story, "bare", size=(120, 40))


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0, 1, [0, 1]),
        (0, 4, [0, 1, 2, 3, 4]),
        (0, 7, [0, 2, 4, 6]),
        (1, 143, [50, 100]),
        (0, 100_000, [0, 50_000, 100_000]),
        (-3.5, 10.2, [0, 5, 10]),
        (5, 5, [5]),
    ],
)
def test_ticks_are_few_whole_numbers(low: float, high: float, said: list[float]) -> None:
    assert ticks(low, high) == said


def test_scores_are_asked_for_and_the_proposal_saved(folder: Path) -> None:
    take_in_many(Bank.open(folder / "kitchen"))

    async def story(person: Person) -> None:
        await person.press("4", "w")
        assert "no thresholds were proposed yet: c proposes" in person.said[-1]
        await person.press("c")
        assert "w saves them" in person.said[-1]
        assert person.app.screen.query_one("#scores", Plot).display
        shown = person.app.screen.readable()  # type: ignore[attr-defined]
        scores = next(each for each in shown if each.title == "Best scores, task tree")
        assert "17 questions, compared with nodes" in scores.body
        proposed = next(line for line in scores.body.splitlines() if "proposed" in line)
        await person.press("w")
        stored = person.app.session.bank.manifest.settings["task"]["tau_base"]
        assert proposed.startswith(f"threshold {stored:g} proposed")

    browse(folder, story, "kitchen", size=(120, 60))


def test_the_scores_of_one_bank_are_never_shown_in_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_in_many(Bank.open(folder / "kitchen"))
    small_bank(folder / "other")
    real, go_on = calibration.calibrate, threading.Event()

    def slow(bank: Bank, **rest: Any) -> list[Proposal]:
        assert go_on.wait(20)
        return real(bank, **rest)

    monkeypatch.setattr(calibration, "calibrate", slow)

    async def story(person: Person) -> None:
        await person.press("4")
        await person.pilot.press("c", "b")
        await person.settle(work=False)
        person.app.session.open(folder / "other")
        await person.settle(work=False)
        await person.pilot.press("4")
        await person.settle(work=False)
        go_on.set()
        await person.settle()
        assert person.app.session.bank.path == folder / "other"
        assert person.said[-1] == "kitchen was closed before its episodes were scored"
        assert not person.app.screen.query_one("#scores", Plot).display
        await person.press("w")
        assert "no thresholds were proposed yet" in person.said[-1]
        assert person.app.session.bank.manifest.settings["task"]["tau_base"] == 0.6

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
