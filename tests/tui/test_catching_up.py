"""While a bank is written: what one looks at stays, and what is begun is brought to its end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory import editing
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.tui.models.arrangement import arrange
from deltamem_tui.tui.models.episodes import EpisodeBook
from deltamem_tui.tui.models.statistics import overview
from deltamem_tui.tui.screens import statistics, trees
from deltamem_tui.tui.screens.banks import BanksScreen
from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.tui.support import LEARNT, Person, browse, trajectory


def write(bank: Path) -> None:
    """Another process writes something that changes no node."""
    with Bank.open(bank).writing() as batch:
        batch.log("learn")


async def written(person: Person, bank: Path) -> None:
    write(bank)
    person.app.session.look_for_changes()
    await person.settle()


def title(person: Person, pane: str) -> str:
    return str(person.app.screen.query_one(pane, TextPane).border_title)


class InTurn:
    """Lets calls through one by one, and counts how many were begun."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.begun = 0
        self.turns = threading.Semaphore(0)
        self._call = call

    def __call__(self, *values: Any) -> Any:
        self.begun += 1
        assert self.turns.acquire(timeout=20)
        return self._call(*values)


async def seen(person: Person) -> None:
    """The program has read the bank again after it was written."""
    before = person.app.session.bank
    person.app.session.look_for_changes()
    await person.until(lambda: person.app.session.bank is not before)
    await person.pilot.pause()


# What goes on comes to its end


def test_counting_ends_and_is_shown_while_the_bank_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = InTurn(overview)
    monkeypatch.setattr(statistics, "overview", counts)

    async def story(person: Person) -> None:
        await person.pilot.press("4")
        await person.until(lambda: counts.begun == 1)
        for number in range(3):
            take_in(
                Bank.open(folder / "kitchen"), [trajectory(f"wash {number}", "here", success=True)]
            )
            await seen(person)
        assert counts.begun == 1, "one at a time"
        counts.turns.release()
        await person.until(lambda: "counting …" not in person.screen)
        await person.until(lambda: counts.begun == 2)
        counts.turns.release()
        await person.settle()
        assert counts.begun == 2, "once more for all that was written meanwhile"

    browse(folder, story, "kitchen", size=(140, 60))


async def open_filter(person: Person) -> Input:
    """The filter's line, with no wait for what is arranged."""
    await person.pilot.press("slash")
    await person.pilot.pause()
    line = person.app.focused
    assert isinstance(line, Input)
    return line


def test_a_filter_is_shown_while_the_bank_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(person: Person) -> None:
        arranged = InTurn(arrange)
        monkeypatch.setattr(trees, "arrange", arranged)
        line = await open_filter(person)
        line.value = "lamp"
        await person.until(lambda: arranged.begun == 1)
        write(folder / "kitchen")
        await seen(person)
        assert arranged.begun == 1
        arranged.turns.release()
        await person.until(lambda: len(person.rows) == 1)
        await person.until(lambda: arranged.begun == 2)
        arranged.turns.release()
        await person.settle()
        assert arranged.begun == 2
        assert len(person.rows) == 1

    browse(folder, story, "kitchen")


def test_another_filter_does_not_wait_for_the_one_before(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(person: Person) -> None:
        arranged = InTurn(arrange)
        monkeypatch.setattr(trees, "arrange", arranged)
        line = await open_filter(person)
        line.value = "lamp"
        await person.until(lambda: arranged.begun == 1)
        line.value = "fridge"
        await person.until(lambda: arranged.begun == 2)
        arranged.turns.release(2)
        await person.settle()
        assert person.rows == [3, 5]

    browse(folder, story, "kitchen")


# What one looks at stays


def test_the_step_along_a_chain_stays(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("asterisk", "j", "j", "c", *["left_square_bracket"] * 2)
        assert title(person, "#detail").endswith("1 of 3")
        await written(person, folder / "kitchen")
        assert title(person, "#detail").endswith("1 of 3")
        await person.press("k")
        assert title(person, "#detail").endswith("2 of 2"), "of another node it is the last"

    browse(folder, story, "kitchen")


def test_what_was_collapsed_under_a_filter_stays_so_and_what_is_new_is_opened(
    folder: Path,
) -> None:
    async def story(person: Person) -> None:
        await person.press("slash")
        await person.write("heat")
        await person.press("enter", "g")
        assert person.rows == [0, 1, 2]
        await person.press("h")
        assert person.rows == [0]
        await written(person, folder / "kitchen")
        assert person.rows == [0]
        await person.press("escape", "slash")
        await person.write("heat")
        await person.press("enter")
        assert person.rows == [0, 1, 2], "another filter begins anew"

    browse(folder, story, "kitchen")


def test_the_node_of_an_episode_stays(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3", "n")
        assert "node 2 of 9" in title(person, "#node")
        await written(person, folder / "kitchen")
        assert "node 2 of 9" in title(person, "#node")
        await person.press("j", "k")
        assert "node 1 of 9" in title(person, "#node"), "of another episode it is the first"

    browse(folder, story, "kitchen")


def test_an_episode_can_be_read_although_its_node_was_deleted_since(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(person: Person) -> None:
        await person.press("3")
        reading = InTurn(EpisodeBook.read)
        monkeypatch.setattr(EpisodeBook, "read", reading)
        bank = Bank.open(folder / "kitchen")
        editing.delete(bank, "task", next(bank.tree("task").roots()))
        await seen(person)
        await person.pilot.press("j", "k")
        await person.pilot.pause()
        steps, node = (
            person.app.screen.query_one(f"#{name}", TextPane) for name in ("steps", "node")
        )
        assert steps.sections[0].title == f"Episode {LEARNT.id}"
        assert "cannot be read" not in node.sections[0].title
        reading.turns.release()
        await person.settle()
        assert "node 1 of 6" in title(person, "#node")

    browse(folder, story, "kitchen", size=(140, 40))


# The filter's line


def test_a_filter_that_is_none_does_not_stand_over_all_nodes(folder: Path) -> None:
    async def story(person: Person) -> None:
        line = person.trees.query_one("#filter", Input)
        await person.press("slash")
        await person.write("depth:x")
        await person.press("enter")
        assert person.app.focused is line, "there it can be mended"
        assert "'x' is not a condition" in person.said[-1]
        await person.press("escape")
        assert (line.value, line.display) == ("", False)
        await person.press("slash")
        await person.write("lamp")
        await person.press("enter", "slash")
        await person.write("lamp depth:x")
        await person.press("escape")
        assert line.value == "lamp"
        assert len(person.rows) == 1
        await person.press("escape")
        assert len(person.rows) == 3
        await person.press("b")
        assert isinstance(person.app.screen, BanksScreen)

    browse(folder, story, "kitchen")


def test_a_bank_that_is_gone_is_told_as_that_whatever_is_asked_of_it(folder: Path) -> None:
    """Not with the paths of files that nobody asked about, nor the advice to make a new one."""
    gone = f"{folder / 'kitchen'}: the bank is gone from this place (b goes back to the banks)"

    async def story(person: Person) -> None:
        (folder / "kitchen").rename(folder.parent / "elsewhere")
        person.app.session.look_for_changes()
        await person.settle()
        assert person.said[-1] == gone
        for keys in (("3",), ("L",), ("V",), ("u",)):
            await person.press("1", *keys)
            assert person.said[-1] == gone, keys
        await person.press("b")
        assert "No banks" in person.screen

    browse(folder, story, "kitchen")


def test_a_bank_that_another_process_froze_names_the_key_that_unfreezes(folder: Path) -> None:
    async def story(person: Person) -> None:
        Bank.open(folder / "kitchen").freeze()
        await person.press("L")
        assert person.said[-1].endswith("the bank is frozen (Z unfreezes it)")
        await person.settle()
        await person.press("L")
        assert person.said[-1].endswith("the bank is frozen (Z unfreezes it)")

    browse(folder, story, "kitchen")
