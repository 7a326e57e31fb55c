"""Dialogs by mouse: every key of the last line can be clicked."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.node import Origin, born
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.tui.core.work import Info, WorkPlan
from deltamem_tui.tui.screens.banks import BankList, BanksScreen
from deltamem_tui.tui.widgets.dialogs import ReadingDialog
from deltamem_tui.tui.widgets.forms import AskDialog
from tests.tui.support import Person, add_plain, bare_bank, browse


def place_of(person: Person, words: str) -> tuple[int, int]:
    """Where words of the dialog's last lines stand, as column and row."""
    region = person.app.screen.query_one(".-keys").region
    lines = person.screen.splitlines()
    found = ((lines[y].find(words) + 1, y) for y in range(region.y, region.bottom))
    return next((x, y) for x, y in found if x)


async def click(person: Person, words: str) -> None:
    """Click on words of the dialog's last lines."""
    await person.pilot.click(offset=place_of(person, words))
    await person.settle()


@pytest.mark.parametrize("size", [(60, 20), (120, 40)])
def test_a_question_is_answered_by_mouse(folder: Path, size: tuple[int, int]) -> None:
    plan = WorkPlan("asking", "Shall it be?", [], lambda _: Info("done"))

    async def story(person: Person) -> None:
        person.app.work.start("planning", lambda _: plan)
        await person.settle()
        await click(person, "escape cancels")
        assert not isinstance(person.app.screen, ReadingDialog)
        assert not person.said
        person.app.work.start("planning", lambda _: plan)
        await person.settle()
        await click(person, "y confirms")
        assert person.said == ["done"]

    browse(folder, story, size=size)


@pytest.mark.parametrize("size", [(60, 20), (120, 40)])
def test_lines_are_filled_in_and_gone_on_with_by_mouse(folder: Path, size: tuple[int, int]) -> None:
    async def story(person: Person) -> None:
        await person.press("n")
        assert isinstance(person.app.screen, AskDialog)
        await click(person, "escape cancels")
        assert isinstance(person.app.screen, BanksScreen)
        await person.press("n")
        await person.write("new")
        await click(person, "tab moves to the next field")
        assert person.app.focused is not None
        assert person.app.focused.id == "domain"
        await person.press("tab", "end")
        await click(person, "enter submits")
        assert person.said == ["created new"]
        await person.press("escape", "b")
        assert len(person.app.screen.query_one(BankList).lines) == 2

    browse(folder, story, size=size)


@pytest.mark.parametrize("size", [(60, 12), (80, 10), (80, 24)])
def test_what_is_asked_stays_in_sight_over_a_long_list(folder: Path, size: tuple[int, int]) -> None:
    root = born("task", None, "success", Payload("a root", "do it"), Origin())
    below = [
        born("task", root, "success", Payload(f"when it is {each}", "do it"), Origin())
        for each in range(40)
    ]
    add_plain(bare_bank(folder / "long"), "task", [root, *below])

    async def story(person: Person) -> None:
        await person.press("D")
        for key in ("G", "g"):
            assert "Delete 41 nodes of the task tree of long?" in person.screen
            assert "y confirms · escape cancels" in person.screen
            await person.press(key)
        assert f"root {root.id}" in person.screen, "the list is scrolled within its room"

    browse(folder, story, "long", size=size)
