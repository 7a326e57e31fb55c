"""Clicks beside the lines of a list: the titles above them are no lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.memory.banks import create_bank
from deltamem_tui.tui.widgets.line_list import LineList
from tests.tui.support import Person, browse

LISTS = [("1", "#task"), ("1", "#env"), ("3", "EpisodeList")]


async def click(person: Person, selector: str, line: int) -> LineList:
    """Click on a line of what a list's widget shows; the first one is its title."""
    await person.pilot.click(selector, offset=(8, line))
    await person.settle()
    return person.app.screen.query_one(selector, LineList)


@pytest.mark.parametrize(("screen", "selector"), LISTS)
def test_a_click_on_a_title_leaves_the_cursor_where_it_is(
    folder: Path, screen: str, selector: str
) -> None:
    async def story(person: Person) -> None:
        await person.press(screen)
        lines = await click(person, selector, 2)
        assert lines.cursor == 1, "a click on a line is one"
        count = lines.line_count()
        for _ in range(2):
            await click(person, selector, 0)
            assert (lines.cursor, lines.line_count()) == (1, count)
        await click(person, selector, 1)
        assert lines.cursor == 0

    browse(folder, story, "kitchen")


@pytest.mark.parametrize("line", [0, 1, 3])
@pytest.mark.parametrize(("screen", "selector"), LISTS)
def test_a_click_on_an_empty_list_does_nothing(
    tmp_path: Path, screen: str, selector: str, line: int
) -> None:
    create_bank(tmp_path / "empty", embedder="hashing")

    async def story(person: Person) -> None:
        await person.press(screen)
        lines = await click(person, selector, line)
        assert (lines.cursor, lines.line_count()) == (0, 0)

    browse(tmp_path, story, "empty")
