"""A finished replay in the browser: what is read, what the table keeps, and the way there."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.errors import UsageError
from deltamem_tui.memory.reports.replay import read_result
from deltamem_tui.tui.models.replay import ReplayTable, contestant_sections, curves
from deltamem_tui.tui.screens.banks import BanksScreen
from deltamem_tui.tui.screens.replay import ReplayScreen
from tests.places import DOCS
from tests.tui.support import Person, browse

SAMPLE = DOCS / "sample" / "replay.json"


def test_the_table_keeps_what_fits_and_the_curves_have_every_contestant() -> None:
    table = ReplayTable.of(read_result(SAMPLE))
    assert [row.name for row in table.rows] == ["synapse", "deltamem", "awm"]
    assert "order" not in table.columns  # there is but one
    for width in (10, 60, 80, 200):
        heading, lines = table.lines(width)
        assert len(heading) <= max(width, 14)
        assert {len(letter + rest) for letter, rest in lines} == {len(heading)}
    assert table.lines(200)[0].split()[-1] == table.columns[-1]
    first, second, _ = table.rows
    assert all([*lines] == ["a", "b", "c"] for lines in curves(table.rows).values())
    measures = contestant_sections(second, first)[1].body
    assert f"{second.result.measures['coverage'].estimate.value:.3f}" in measures


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"replay"', '"recall"'),
        ('"data":', '"date":'),
        ('"nodes":[', '"nodes":[1,'),
        ('"episodes":[', '"episodes":[1e300,'),
    ],
)
def test_another_file_is_refused_in_one_line(tmp_path: Path, old: str, new: str) -> None:
    text = SAMPLE.read_text(encoding="utf-8")
    other = tmp_path / "other.json"
    other.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(UsageError, match="not the result of a replay") as refusal:
        read_result(other)
    assert len(str(refusal.value).splitlines()) == 1


def test_a_replay_is_opened_from_the_banks_and_left(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("r")
        await person.write(str(SAMPLE))
        await person.press("enter")
        assert isinstance(person.app.screen, ReplayScreen)
        await person.press("j")
        assert "deltamem strict none" in person.screen
        await person.resize((60, 16))
        assert "contestant" in person.screen
        await person.press("escape")
        assert isinstance(person.app.screen, BanksScreen)

    browse(folder, story)
