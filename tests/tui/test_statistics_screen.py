"""The statistics screen: plots with the same numbers as text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.bank import Bank
from deltamem_tui.tui.models.statistics import grouped, overview, overview_sections
from deltamem_tui.tui.screens.statistics import StatisticsScreen
from deltamem_tui.tui.widgets.plots import Plot, ticks
from tests.tui.support import READY, Person, browse, take_in_many


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


@given(st.dictionaries(st.integers(0, 10**6), st.integers(1, 1000), min_size=1, max_size=30))
def test_every_node_is_in_one_group(counts: dict[int, int]) -> None:
    rows = grouped(counts)
    assert sum(count for _, count in rows) == sum(counts.values())
    assert len({name for name, _ in rows}) == len(rows) <= 22


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
        assert "17 questions" in scores.body
        proposed = next(line for line in scores.body.splitlines() if "proposed" in line)
        await person.press("w")
        stored = person.app.session.bank.manifest.settings["task"]["tau_base"]
        assert proposed.startswith(f"threshold {stored:g} proposed")

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
