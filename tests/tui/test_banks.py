"""The banks screen: what there is, opening, creating, freezing, verifying."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import OptionList

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory import editing
from deltamem_tui.tui.core.job import BankChange
from deltamem_tui.tui.jobs import banks
from deltamem_tui.tui.screens.banks import BankList, BanksScreen
from deltamem_tui.tui.screens.trees import TreesScreen
from tests.tui.support import Person, browse


def test_every_bank_is_listed_the_broken_one_too(folder: Path) -> None:
    (folder / "broken").mkdir()
    (folder / "broken" / "bank.json").write_text("[/x] {")

    async def story(person: Person) -> None:
        lines = person.screen.splitlines()
        assert any("broken" in line and "not JSON" in line for line in lines)
        kitchen = next(line for line in lines if line.startswith(" kitchen"))
        for words in ("alfworld", "hashing", " 6 ", " 3 "):
            assert words in kitchen
        await person.press("enter")
        assert "not JSON" in person.said[-1]
        assert isinstance(person.app.screen, BanksScreen)

    browse(folder, story, size=(240, 40))  # the message begins with the whole path


def test_what_leaves_at_the_second_time_does_so_from_the_palette_too(folder: Path) -> None:
    async def by_palette(person: Person, typed: str, first: str) -> None:
        await person.press("colon")
        await person.write(typed)
        found = person.app.screen.query_one("CommandList", OptionList)
        await person.until(
            lambda: bool(found.option_count) and first in str(found.get_option_at_index(0).prompt)
        )
        await person.press("down", "enter")

    async def story(person: Person) -> None:
        back = ("go back a step", "Go back a step; twice for the list of banks")
        await by_palette(person, *back)
        assert isinstance(person.app.screen, TreesScreen)
        await by_palette(person, "copy", "Copy")
        await by_palette(person, *back)
        assert isinstance(person.app.screen, TreesScreen), "something else was done in between"
        await by_palette(person, *back)
        assert isinstance(person.app.screen, BanksScreen)

    browse(folder, story, "kitchen")


def test_what_is_looked_at_in_between_is_no_second_time(folder: Path) -> None:
    async def story(person: Person) -> None:
        for opens in ("question_mark", "colon", "N", "2"):
            await person.press("escape", opens, "escape", *("1" if opens == "2" else ""), "escape")
            assert isinstance(person.app.screen, TreesScreen), opens
            await person.press("j")
        await person.press("escape", "escape")
        assert isinstance(person.app.screen, BanksScreen)

    browse(folder, story, "kitchen")


def test_enter_opens_and_escape_leaves(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press(*["j"] * names(person).index("kitchen"), "enter")
        assert isinstance(person.app.screen, TreesScreen)
        assert person.app.session.bank.name == "kitchen"
        await person.press("escape", "j", "escape")
        assert isinstance(person.app.screen, TreesScreen), "one escape too many leaves nothing"
        assert person.said[-1] == "escape again goes back to the banks, b at once"
        await person.press("escape")
        assert isinstance(person.app.screen, BanksScreen)
        await person.press("enter", "b")
        assert isinstance(person.app.screen, BanksScreen)
        await person.press("enter")
        assert isinstance(person.app.screen, TreesScreen)

    browse(folder, story)


def names(person: Person) -> list[str]:
    return [bank.place.name for bank in person.app.screen.query_one(BankList).banks]


def test_an_empty_folder_says_what_to_do(tmp_path: Path) -> None:
    async def story(person: Person) -> None:
        assert names(person) == []
        assert "n creates one" in " ".join(person.screen.split())

    browse(tmp_path / "none", story)


def test_a_new_bank(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("n")
        await person.write("lab")
        await person.press("tab")
        await person.write("scienceworld")
        await person.press("tab")
        await person.write("hashing")
        await person.press("enter")
        assert person.said[-1] == "created lab"
        assert "lab" in names(person)

    browse(folder, story)
    bank = Bank.open(folder / "lab")
    assert bank.manifest.domain == "scienceworld"
    assert bank.manifest.embedder["model"] == "hashing"


def under_cursor(person: Person) -> str:
    bank = person.app.screen.query_one(BankList).bank
    assert bank is not None
    return bank.place.name


def test_the_cursor_is_on_a_bank_that_was_just_made(folder: Path) -> None:
    async def story(person: Person) -> None:
        for name in ("aaa", "zzz"):
            await person.press("n")
            for answer in (name, "generic", "hashing"):
                await person.write(answer)
                await person.press("tab")
            await person.press("enter")
            assert person.said[-1] == f"created {name}"
            assert under_cursor(person) == name
        await person.press("i")
        await person.write(str(folder / "kitchen"))
        await person.press("tab")
        await person.write("copy")
        await person.press("enter", "y")
        assert person.said[-1].startswith("installed copy")
        assert under_cursor(person) == "copy"
        await person.press("j", "R")
        assert under_cursor(person) == "kitchen", "from then on it stays where it is put"

    browse(folder, story)


def test_who_went_on_while_a_bank_was_made_keeps_the_cursor(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, create = threading.Event(), banks.create

    def late(path: Path, **rest: Any) -> BankChange:
        assert go_on.wait(20)
        return create(path, **rest)

    monkeypatch.setattr(banks, "create", late)

    async def story(person: Person) -> None:
        await person.press("n")
        for answer in ("zzz", "generic", "hashing"):
            await person.write(answer)
            await person.press("tab")
        await person.pilot.press("enter", "k")
        go_on.set()
        await person.settle()
        assert person.said[-1] == "created zzz"
        assert under_cursor(person) == "kitchen"

    browse(folder, story)


@pytest.mark.parametrize(
    ("typed", "kept"), [("ALFWORLD", "alfworld"), ("", "generic"), ("my-town", "my-town")]
)
def test_a_new_bank_has_the_domain_that_init_gives_it(folder: Path, typed: str, kept: str) -> None:
    async def story(person: Person) -> None:
        await person.press("n")
        await person.write("other")
        await person.press("tab")
        await person.write(typed)
        await person.press("tab")
        await person.write("hashing")
        await person.press("enter")
        if kept == "my-town":
            assert not (folder / "other").exists(), "a domain of one's own is asked about"
            await person.press("y")

    browse(folder, story)
    assert Bank.open(folder / "other").manifest.domain == kept


def test_a_domain_that_is_misspelt_is_refused_as_init_refuses_it(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("n")
        await person.write("other")
        await person.press("tab")
        await person.write("alfwrld")
        await person.press("tab")
        await person.write("hashing")
        await person.press("enter")
        assert "there is no domain 'alfwrld'" in person.said[-1]
        assert "did you mean alfworld?" in person.said[-1]

    browse(folder, story)
    assert not (folder / "other").exists()


def test_a_new_bank_that_cannot_be(folder: Path) -> None:
    async def story(person: Person) -> None:
        for name in ("../elsewhere/[x]", "below/lab", str(folder / "lab")):
            await person.press("n")
            await person.write(name)
            await person.press("enter")
            assert "cannot be the name of a bank" in person.said[-1]
        await person.press("n")
        await person.write("other")
        await person.press("tab", "tab")
        await person.write("no/such/model")
        await person.press("enter")
        assert "minilm" in person.said[-1]
        await person.press("n", "escape")
        assert isinstance(person.app.screen, BanksScreen)

    browse(folder, story)
    assert not (folder / "other").exists()


def test_a_bank_that_another_process_unfroze_is_not_asked_about(folder: Path) -> None:
    Bank.open(folder / "kitchen").freeze()

    async def story(person: Person) -> None:
        Bank.open(folder / "kitchen").unfreeze()
        commit = Bank.open(folder / "kitchen").commit
        await person.press("Z")
        assert isinstance(person.app.screen, BanksScreen)
        assert person.said[-1] == "kitchen is not frozen; nothing was done"
        assert Bank.open(folder / "kitchen").commit == commit
        await person.press("Z")
        assert person.said[-1].startswith("froze kitchen"), "the list knows it by now"

    browse(folder, story)


def test_what_was_unfrozen_while_it_was_asked_stays_as_it_is(folder: Path) -> None:
    Bank.open(folder / "kitchen").freeze()

    async def story(person: Person) -> None:
        await person.press("Z")
        assert "Frozen: " in person.screen
        Bank.open(folder / "kitchen").unfreeze()
        await person.press("y")
        assert person.said[-1] == "kitchen is not frozen; nothing was done"

    browse(folder, story)


def test_what_was_frozen_anew_since_it_was_asked_stays_frozen(folder: Path) -> None:
    Bank.open(folder / "kitchen").freeze()

    async def story(person: Person) -> None:
        await person.press("Z")
        bank = Bank.open(folder / "kitchen")
        bank.unfreeze()
        editing.relabel(bank, "task", next(bank.tree("task").roots()), "failure")
        bank.freeze()
        await person.press("y")
        assert "kitchen: what is frozen there is another state" in person.said[-1]
        assert Bank.open(folder / "kitchen").frozen
        await person.press("Z", "y")
        assert person.said[-1] == "unfroze kitchen"

    browse(folder, story)


@pytest.mark.parametrize("journal", [True, False])
def test_the_question_before_unfreezing_counts_the_files_that_are_proven(
    folder: Path, journal: bool
) -> None:
    if not journal:
        (folder / "kitchen" / "journal.jsonl").unlink()
    bank = Bank.open(folder / "kitchen")
    bank.freeze()
    files = len(bank.manifest.digests)
    assert ("journal.jsonl" in bank.manifest.digests) is journal

    async def story(person: Person) -> None:
        await person.press("Z")
        assert f"the digests of {files} files" in person.screen

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


def test_a_bank_that_is_new_is_found_by_looking_again(folder: Path) -> None:
    import shutil

    async def story(person: Person) -> None:
        shutil.copytree(folder / "kitchen", folder / "copy")
        await person.press("R")
        assert "copy" in names(person)

    browse(folder, story)


def test_a_click_moves_and_a_second_one_opens(folder: Path) -> None:
    async def story(person: Person) -> None:
        line = names(person).index("kitchen")
        if line:
            await person.pilot.click(BankList, offset=(5, line))
            await person.settle()
            assert isinstance(person.app.screen, BanksScreen)
        await person.pilot.click(BankList, offset=(5, line))
        await person.settle()
        assert isinstance(person.app.screen, TreesScreen)

    browse(folder, story)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_columns_stand_below_their_headings(folder: Path, width: int) -> None:
    long = f"a-bank-with-a-name-that-is-{'very-' * 6}long"
    shutil.copytree(folder / "kitchen", folder / long)

    async def story(person: Person) -> None:
        lines = person.screen.splitlines()
        heading, kitchen, other = lines[2], lines[4], lines[3]
        assert kitchen.startswith(" kitchen ")
        assert other.startswith(" a-bank-with-a")
        assert "… " in other
        for name, number in (("task", "6"), ("env", "3")):
            end = heading.index(name) + len(name)
            assert kitchen[:end].endswith(f" {number}")
            assert other[:end].endswith(f" {number}")
        change = heading.index("changed" if width == 60 else "last change")
        assert kitchen[change:].startswith("20")
        if width >= 80:
            assert kitchen[heading.index("domain") :].startswith("alfworld ")

    browse(folder, story, size=(width, 24))


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


def test_a_folder_that_is_not_there_is_named_until_it_is(tmp_path: Path) -> None:
    async def story(person: Person) -> None:
        assert "n makes the folder, which is not there yet: " in person.screen
        assert "tpyo" in person.screen
        await person.press("n")
        for answer in ("lab", "generic", "hashing"):
            await person.write(answer)
            await person.press("tab")
        await person.press("enter")
        assert person.said[-1] == "created lab"
        assert "not there yet" not in person.screen

    browse(tmp_path / "tpyo", story, size=(200, 40))


def test_a_folder_that_nobody_may_write_is_not_said_to_be_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, _: path != folder / "kitchen")

    async def story(person: Person) -> None:
        assert "read only: you may not write to its folder" in person.screen

    browse(folder, story)


def test_nothing_is_said_of_a_bank_that_could_not_be_made(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    async def story(person: Person) -> None:
        await person.press("n")
        for answer in ("foo", "generic", "hashing"):
            await person.write(answer)
            await person.press("tab")
        with monkeypatch.context() as patch:
            patch.setattr(Path, "mkdir", refuse)
            await person.press("enter")
        assert (
            "permission denied (check the permissions of the folder; nothing was made)"
            in (person.said[-1])
        )

    browse(folder, story)


def test_a_bank_that_is_gone_from_the_list_is_no_advice_to_make_one(folder: Path) -> None:
    async def story(person: Person) -> None:
        (folder / "kitchen").rename(folder.parent / "elsewhere")
        await person.press("enter")
        assert "no bank here (R on the list of banks reloads it)" in person.said[-1]

    browse(folder, story)


def test_a_bank_is_renamed_and_deleted_once_its_name_was_typed(folder: Path) -> None:
    Bank.open(folder / "kitchen").freeze()

    async def story(person: Person) -> None:
        await person.press("f2")
        await person.write("galley")
        await person.press("enter")
        assert person.said[-1].startswith("kitchen is galley now")
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
