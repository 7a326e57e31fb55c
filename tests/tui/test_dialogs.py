"""Dialogs by mouse: every key of the last line can be clicked."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.tui.messages import Planned, Told
from deltamem_tui.tui.screens.banks import BankList, BanksScreen
from deltamem_tui.tui.widgets.dialogs import AskDialog, ConfirmDialog
from deltamem_tui.tui.widgets.key_line import KeyLine
from tests.tui.support import Person, browse


async def click(person: Person, words: str) -> None:
    """Click on words of the dialog's last lines."""
    region = person.app.screen.query_one(KeyLine).region
    lines = person.screen.splitlines()
    for y in range(region.y, region.bottom):
        if (x := lines[y].find(words)) >= 0:
            await person.pilot.click(offset=(x + 1, y))
            await person.settle()
            return
    raise AssertionError(f"no {words!r} in\n{person.screen}")


@pytest.mark.parametrize("size", [(60, 20), (120, 40)])
def test_a_question_is_answered_by_mouse(folder: Path, size: tuple[int, int]) -> None:
    plan = Planned("asking", "Shall it be?", [], lambda _: Told("done"))

    async def story(person: Person) -> None:
        person.app.work("planning", lambda _: plan)
        await person.settle()
        await click(person, "escape leaves it")
        assert not isinstance(person.app.screen, ConfirmDialog)
        assert not person.said
        person.app.work("planning", lambda _: plan)
        await person.settle()
        await click(person, "y does it")
        assert person.said == ["done"]

    browse(folder, story, size=size)


@pytest.mark.parametrize("size", [(60, 20), (120, 40)])
def test_lines_are_filled_in_and_gone_on_with_by_mouse(folder: Path, size: tuple[int, int]) -> None:
    async def story(person: Person) -> None:
        await person.press("n")
        assert isinstance(person.app.screen, AskDialog)
        await click(person, "escape leaves it")
        assert isinstance(person.app.screen, BanksScreen)
        await person.press("n")
        await person.write("new")
        await click(person, "tab changes the line")
        assert person.app.focused is not None
        assert person.app.focused.id == "domain"
        await person.press("tab")
        await person.write("hashing")
        await click(person, "enter goes on")
        assert person.said == ["created new"]
        assert len(person.app.screen.query_one(BankList).banks) == 2

    browse(folder, story, size=size)


def test_no_key_is_cut_in_two_where_there_is_little_room(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("e")
        lines = person.screen.splitlines()
        for words in ("enter goes on", "tab changes the line", "space ticks", "escape leaves it"):
            assert any(words in line for line in lines), words

    browse(folder, story, size=(46, 24))
