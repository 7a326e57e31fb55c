"""The last line lists what can be done with this bank, here and now."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.banks import create_bank
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


@pytest.mark.parametrize(
    ("screen", "keys"),
    [
        ("1", ["E episode", "/ filter", "s sort", "c chain", "e edit"]),
        ("3", ["/ filter", "E learn", "⏎ node"]),
        ("4", ["w save"]),
        ("5", ["+ success", "- failure", "c cannot tell"]),
        ("6", ["⏎ node"]),
        ("7", ["h earlier", "l later", "space play"]),
    ],
)
def test_nothing_is_offered_that_an_empty_bank_has_nothing_for(
    tmp_path: Path, screen: str, keys: list[str]
) -> None:
    create_bank(tmp_path / "new", embedder="hashing", domain="alfworld")

    async def story(person: Person) -> None:
        await person.press(screen)
        assert [key for key in keys if key in last_line(person)] == []

    browse(tmp_path, story, "new", size=(160, 24))


def test_the_lab_offers_to_keep_a_question_and_to_save_numbers_once_there_are_some(
    folder: Path,
) -> None:
    async def story(person: Person) -> None:
        await person.press("2", "escape")
        keys = ("w save", "K keep", "c chain")
        assert [key in last_line(person) for key in keys] == [False, False, False]
        await person.press("slash")
        await person.write("heat some egg")
        await person.press("enter")
        assert [key in last_line(person) for key in keys] == [False, True, True]
        await person.press("plus")
        assert all(key in last_line(person) for key in keys)

    browse(folder, story, "kitchen", size=(160, 24))
