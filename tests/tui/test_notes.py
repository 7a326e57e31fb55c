"""What the program says: one note at a time, in a place where it hides nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from deltamem_tui import paths
from deltamem_tui.agents.sessions import SessionFile, StateFolder
from deltamem_tui.errors import UsageError
from deltamem_tui.tui.widgets.bars import KeyBar, NoteBar
from tests.tui.support import Person, browse

LONG = "a long error that says what went wrong, where, and what can be done about it " * 4


@pytest.mark.parametrize("size", [(60, 20), (100, 30)])
def test_a_note_takes_the_place_of_the_keys_and_hides_nothing(
    folder: Path, size: tuple[int, int]
) -> None:
    async def story(person: Person) -> None:
        for words in ("short", LONG):
            person.app.notes.notify(words)
            await person.settle()
            bar = person.app.screen.query_one(NoteBar)
            assert words[:40] in person.screen
            assert not person.app.screen.query_one(KeyBar).display
            assert bar.region.bottom == size[1]
            assert person.trees.query_one("#detail").region.bottom == bar.region.y
        person.app.notes.clear()
        await person.settle()
        assert person.app.screen.query_one(KeyBar).display
        assert "? help" in person.screen.splitlines()[-1]

    browse(folder, story, "kitchen", size=size)


def test_sessions_of_agents_that_wait_are_told_of(folder: Path) -> None:
    StateFolder(paths.state_folder()).enqueue(SessionFile("codex", "s1", "kitchen"))

    async def story(person: Person) -> None:
        assert any("--queued" in said for said in person.said)

    browse(folder, story, "kitchen")


@pytest.mark.parametrize("by", ["key", "click"])
@pytest.mark.parametrize("size", [(60, 24), (120, 40)])
def test_a_note_that_is_too_long_says_where_all_of_it_is(
    folder: Path, size: tuple[int, int], by: str
) -> None:
    words = "no format is called so; there are " + ", ".join(f"format-{n}" for n in range(99))

    async def story(person: Person) -> None:
        person.app.notes.report(UsageError(words, hint="THE END"))
        await person.settle()
        assert "THE END" not in person.screen
        assert person.screen.splitlines()[-1].strip() == "… N shows all of it"
        assert person.app.screen.query_one(NoteBar).size.height == 5
        if by == "key":
            await person.press("N")
        else:
            await person.pilot.click(NoteBar)
            await person.settle()
        await person.press("G")
        assert "THE END" in person.screen
        await person.press("escape")
        assert person.app.screen is person.trees

    browse(folder, story, "kitchen", size=size)


def test_a_bank_that_is_taken_away_or_replaced_ends_nothing(folder: Path) -> None:
    bank, other = folder / "kitchen", folder.parent / "other"
    shutil.copytree(bank, other)

    async def story(person: Person) -> None:
        await person.press("l", "j")
        shutil.rmtree(bank)
        for _ in range(3):
            person.app.session.look_for_changes()
            await person.settle()
        told = [words for words in person.said if "no longer there" in words]
        assert len(told) == 1, "once, not every second"
        await person.press("c", "3", "4", "1", "j", "F")
        shutil.copytree(other, bank)
        person.app.session.look_for_changes()
        await person.press("j", "2")
        await person.write("heat some object")
        assert "▶" in person.screen

    browse(folder, story, "kitchen")
