"""Two banks side by side: what differs, and the merge that takes it over."""

from __future__ import annotations

import shutil
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.editing import edit
from deltamem_tui.tui.screens.banks import BanksScreen
from deltamem_tui.tui.screens.comparison import BankComparison, ComparisonScreen
from tests.tui.support import Person, browse, grow, pane


def two_banks(folder: Path) -> tuple[Bank, Bank]:
    """`kitchen`, and a copy of it that learnt one thing more and says one thing otherwise."""
    other = Bank.open(Path(shutil.copytree(folder / "kitchen", folder / "other")))
    node = next(iter(other.tree("task")))
    procedure = node.payload["execution_procedure"].replace("heat it", "boil it")
    edit(other, "task", node, {**node.payload, "execution_procedure": procedure})
    grow(other, "task", [("boil some water", "use the kettle", None, "success")])
    return Bank.open(folder / "kitchen"), Bank.open(folder / "other")


def test_the_sides_say_what_differs_and_the_rest_quietly(folder: Path) -> None:
    kitchen, other = two_banks(folder)
    there = BankComparison.of(kitchen, other).differences
    back = BankComparison.of(other, kitchen).differences
    assert sorted(each.sign for each in there) == ["+", "~"]
    assert sorted(each.sign for each in back) == ["~", "−"]
    changed = next(each for each in there if each.sign == "~")
    left, right = changed.sides()
    assert ("heat it" in left[0].body, "boil it" in right[0].body) == (True, True)
    assert (left[0].above, right[0].above) == ((right[0].body,), (left[0].body,))
    assert left[1:] == right[1:]
    assert all(each.quiet for each in left[1:])


def test_another_bank_is_compared_and_merged(folder: Path) -> None:
    two_banks(folder)

    async def story(person: Person) -> None:
        await person.press("c", "enter")
        assert isinstance(person.app.screen, ComparisonScreen)
        assert pane(person, "before").startswith("\nnot in this bank")
        assert "boil some water" in pane(person, "after")
        await person.press("m", "y")
        assert len(Bank.open(folder / "kitchen").tree("task")) == 7
        assert "boil some water" not in pane(person, "after")
        await person.press("escape")
        assert isinstance(person.app.screen, BanksScreen)

    browse(folder, story)
