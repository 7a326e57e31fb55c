"""A bank that came with the program is looked at like any other, and written by nobody."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from deltamem_tui import paths
from deltamem_tui.bank.bank import Bank
from deltamem_tui.tui.screens.banks import BanksScreen
from deltamem_tui.tui.widgets.bars import KeyBar
from tests.tui.support import Person, browse


@pytest.fixture
def shipped(folder: Path) -> Path:
    """The only bank there is: one that came with the program, not frozen even."""
    place = paths.shipped_folder("memory_banks") / "kitchen"
    shutil.move(folder / "kitchen", place)
    return place


def hidden(person: Person) -> frozenset[str]:
    """The actions that are not offered."""
    return person.app.screen.query_one(KeyBar).hidden


def contents(bank: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(bank.iterdir())}


def test_it_is_neither_frozen_nor_unfrozen_nor_merged_into(folder: Path, shipped: Path) -> None:
    Bank.open(shipped).freeze()
    before = contents(shipped)

    async def story(person: Person) -> None:
        assert "kitchen" in person.screen
        assert {*("freeze_bank", "merge_banks", "delete_bank")} <= hidden(person)
        assert "verify_bank" not in hidden(person)
        for key in ("Z", "M"):
            await person.press(key)
            assert isinstance(person.app.screen, BanksScreen)
            assert "came with the program and is read only" in person.said[-1]
            assert "i on the list of banks makes a copy" in person.said[-1]

    browse(folder, story)
    assert contents(shipped) == before


def test_nothing_in_it_is_changed(folder: Path, shipped: Path) -> None:
    before = contents(shipped)

    async def story(person: Person) -> None:
        await person.press("enter")
        for number, key in enumerate(("e", "F", "m", "o", "D", "u"), start=1):
            await person.press(key)
            assert len(person.said) == number
            assert "came with the program" in person.said[-1]
        await person.press("3")
        for number, key in enumerate(("S", "i", "L"), start=7):
            await person.press(key)
            assert len(person.said) == number
            assert "came with the program" in person.said[-1]

    browse(folder, story)
    assert contents(shipped) == before


def test_a_copy_of_it_can_be_written(folder: Path, shipped: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("i")
        await person.write(str(shipped))
        await person.press("enter")
        assert person.said[-1] == "copied kitchen; it can be written"
        await person.press("enter", "F")
        assert "is a failure now" in person.said[-1]

    browse(folder, story)
