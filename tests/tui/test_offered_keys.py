"""The last line lists what can be done with this bank, here and now."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui.bank.bank import Bank
from tests.tui.support import Person, browse


def last_line(person: Person) -> str:
    return person.screen.splitlines()[-1]


def test_no_key_that_writes_is_offered_for_a_frozen_bank(folder: Path) -> None:
    seen: list[str] = []

    async def story(person: Person) -> None:
        seen.append(last_line(person))

    browse(folder, story, "kitchen")
    Bank.open(folder / "kitchen").freeze()
    browse(folder, story, "kitchen")
    assert ["e edit" in line for line in seen] == [True, False]
    assert all("c chain" in line for line in seen)


def test_the_lab_offers_to_save_numbers_once_there_are_some(
    folder: Path,
) -> None:
    async def story(person: Person) -> None:
        await person.press("2", "escape")
        keys = ("w write", "c chain")
        assert [key in last_line(person) for key in keys] == [False, False]
        await person.press("slash")
        await person.write("heat some egg")
        await person.press("enter")
        assert [key in last_line(person) for key in keys] == [False, True]
        await person.press("plus")
        assert all(key in last_line(person) for key in keys)

    browse(folder, story, "kitchen", size=(160, 24))
