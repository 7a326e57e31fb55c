"""The last line lists what can be done with this bank, here and now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.credit.credit import put_episode
from deltamem_tui.memory.episodes.outcomes import with_verdict
from deltamem_tui.trajectory.model import Outcome
from tests.tui.support import LEARNT, Person, browse, take_in_many


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
    ],
)
def test_what_a_bank_has_nothing_for_is_not_offered_and_elsewhere_it_is(
    folder: Path, screen: str, keys: list[str]
) -> None:
    create_bank(folder / "new", embedder="hashing", domain="alfworld")
    bank = Bank.open(folder / "kitchen")
    take_in_many(bank)
    with bank.writing() as batch:
        put_episode(batch, bank, with_verdict(LEARNT, Outcome(False, None, "judge")))
        batch.log("judge")
    offered: dict[str, str] = {}

    def look(name: str) -> Callable[[Person], Awaitable[None]]:
        async def story(person: Person) -> None:
            await person.press(screen, *["c"] * (screen == "4"))
            offered[name] = last_line(person)

        return story

    for name in ("new", "kitchen"):
        browse(folder, look(name), name, size=(200, 24))
    found = {name: [key for key in keys if key in line] for name, line in offered.items()}
    assert found == {"new": [], "kitchen": keys}


def test_the_lab_offers_to_save_numbers_once_there_are_some(
    folder: Path,
) -> None:
    async def story(person: Person) -> None:
        await person.press("2", "escape")
        keys = ("w save", "c chain")
        assert [key in last_line(person) for key in keys] == [False, False]
        await person.press("slash")
        await person.write("heat some egg")
        await person.press("enter")
        assert [key in last_line(person) for key in keys] == [False, True]
        await person.press("plus")
        assert all(key in last_line(person) for key in keys)

    browse(folder, story, "kitchen", size=(160, 24))
