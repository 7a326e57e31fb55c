"""The last line lists what can be done with this bank."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui.bank.bank import Bank
from tests.tui.support import Person, browse


def test_no_key_that_writes_is_offered_for_a_frozen_bank(folder: Path) -> None:
    seen: list[str] = []

    async def story(person: Person) -> None:
        seen.append(person.screen.splitlines()[-1])

    browse(folder, story, "kitchen")
    Bank.open(folder / "kitchen").freeze()
    browse(folder, story, "kitchen")
    assert ["e edit" in line for line in seen] == [True, False]
    assert all("c chain" in line for line in seen)
