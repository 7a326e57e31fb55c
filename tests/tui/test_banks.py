"""The banks screen: what there is, opening, creating, freezing, verifying."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.transfer import pack
from deltamem_tui.tui.screens.banks import BankList, BanksScreen
from deltamem_tui.tui.screens.memory import MemoryScreen
from tests.tui.support import Person, browse


def test_every_bank_is_listed_the_broken_one_too(folder: Path) -> None:
    (folder / "broken").mkdir()
    (folder / "broken" / "bank.json").write_text("[/x] {")

    async def story(person: Person) -> None:
        lines = person.screen.splitlines()
        assert any("broken" in line and "not JSON" in line for line in lines)
        kitchen = next(line for line in lines if line.startswith(" kitchen"))
        for words in ("alfworld", "hashing", "9 nodes"):
            assert words in kitchen
        await person.press("enter")
        assert "not JSON" in person.said[-1]
        assert isinstance(person.app.screen, BanksScreen)

    browse(folder, story, size=(240, 40))  # the message begins with the whole path


def test_enter_opens_and_escape_leaves(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press(*["j"] * names(person).index("kitchen"), "enter")
        assert isinstance(person.app.screen, MemoryScreen)
        assert person.bank.name == "kitchen"
        await person.press("escape", "j", "escape")
        assert isinstance(person.app.screen, MemoryScreen), "one escape too many leaves nothing"
        assert person.said[-1] == "escape again goes back to the banks, b at once"
        await person.press("escape")
        assert isinstance(person.app.screen, BanksScreen)
        await person.press("enter", "b")
        assert isinstance(person.app.screen, BanksScreen)
        await person.press("enter")
        assert isinstance(person.app.screen, MemoryScreen)

    browse(folder, story)


def names(person: Person) -> list[str]:
    return [bank.place.name for bank in person.app.screen.query_one(BankList).lines]


def under_cursor(person: Person) -> str:
    bank = person.app.screen.query_one(BankList).bank
    assert bank is not None
    return bank.place.name


def test_the_cursor_is_on_a_bank_that_was_just_made(folder: Path) -> None:
    async def story(person: Person) -> None:
        for name in ("aaa", "zzz"):
            await person.press("n")
            await person.write(name)
            await person.press("tab", "tab", "end", "enter")
            assert person.said[-1] == f"created {name}"
            assert "Import episodes" in person.screen, "a new bank opens on its import"
            await person.press("escape", "b")
            assert under_cursor(person) == name
        await person.press("i")
        archive = folder.parent / "kitchen.deltamem"
        pack(Bank.open(folder / "kitchen"), with_episodes=True).write(archive)
        await person.write(str(archive))
        await person.press("tab")
        await person.write("copy")
        await person.press("enter", "y")
        assert person.said[-1].startswith("installed copy")
        assert under_cursor(person) == "copy"
        await person.press("j", "R")
        assert under_cursor(person) == "kitchen", "from then on it stays where it is put"

    browse(folder, story)


def test_freeze_verify_and_unfreeze(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press(*["j"] * names(person).index("kitchen"))
        await person.press("Z")
        assert person.said[-1] == "froze kitchen; Z unfreezes it"
        assert Bank.open(folder / "kitchen").frozen
        assert "frozen" in person.screen
        await person.press("V")
        assert person.said[-1] == "kitchen: all files are intact"
        await person.press("Z")
        assert "Unfreeze kitchen?" in person.screen
        await person.press("escape")
        assert Bank.open(folder / "kitchen").frozen
        await person.press("Z", "y")
        assert person.said[-1] == "unfroze kitchen"
        assert not Bank.open(folder / "kitchen").frozen
        with (folder / "kitchen" / "env.nodes.jsonl").open("r+b") as lines:
            lines.write(b"[")
        await person.press("V")
        assert "env.nodes.jsonl" in person.said[-1]

    browse(folder, story)


def test_a_click_moves_and_a_second_one_opens(folder: Path) -> None:
    async def story(person: Person) -> None:
        line = names(person).index("kitchen")
        if line:
            await person.pilot.click(BankList, offset=(5, line + 1))
            await person.settle()
            assert isinstance(person.app.screen, BanksScreen)
        await person.pilot.click(BankList, offset=(5, line + 1))
        await person.settle()
        assert isinstance(person.app.screen, MemoryScreen)

    browse(folder, story)


@pytest.mark.parametrize("named", [False, True])
def test_who_leaves_a_bank_finds_the_cursor_on_it(folder: Path, named: bool) -> None:
    """Also who came in by another path than the list has, and saw no list before."""
    for name in ("aaa", "zzz"):
        shutil.copytree(folder / "kitchen", folder / name)

    async def story(person: Person) -> None:
        if not named:
            await person.press(*["j"] * names(person).index("kitchen"), "enter")
        await person.press("b")
        assert under_cursor(person) == "kitchen"
        await person.press("k", "R")
        assert under_cursor(person) == "aaa", "from then on it stays where it is put"

    path = str(Path("..") / folder.name / "kitchen") if named else None
    browse(folder, story, path)


def test_a_bank_is_renamed_and_deleted_once_its_name_was_typed(folder: Path) -> None:
    Bank.open(folder / "kitchen").freeze()

    async def story(person: Person) -> None:
        await person.press("e")
        await person.write("galley")
        await person.press("enter")
        assert person.said[-1].startswith("renamed kitchen to galley")
        await person.press("D")
        assert "9 nodes and 3 episodes are deleted" in person.screen
        assert "it is frozen" in person.screen
        await person.write("kitchen")
        await person.press("enter")
        assert (folder / "galley").is_dir()
        await person.write("galley")
        await person.press("enter")
        assert person.said[-1].startswith("deleted galley: 9 nodes and 3 episodes")
        assert not list(folder.iterdir())
        assert "No banks yet" in person.screen

    browse(folder, story)
