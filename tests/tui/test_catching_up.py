"""While a bank is written: what one looks at stays, and what is begun is brought to its end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.tui.models.outline import arrange
from deltamem_tui.tui.screens import memory
from deltamem_tui.tui.screens.report import BankReport
from tests.tui.support import Person, browse, trajectory


def write(bank: Path) -> None:
    """Another process writes something that changes no node."""
    with Bank.open(bank).writing() as batch:
        batch.log("learn")


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
    counts = InTurn(BankReport.of)
    monkeypatch.setattr(BankReport, "of", counts)

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
        monkeypatch.setattr(memory, "arrange", arranged)
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


# What one looks at stays


# The filter's line


def test_a_bank_that_is_gone_is_told_as_that_whatever_is_asked_of_it(folder: Path) -> None:
    """Not with the paths of files that nobody asked about, nor the advice to make a new one."""
    gone = f"{folder / 'kitchen'}: the bank is gone from this place (b goes back to the banks)"

    async def story(person: Person) -> None:
        (folder / "kitchen").rename(folder.parent / "elsewhere")
        person.app.session.look_for_changes()
        await person.settle()
        assert person.said[-1] == gone
        for keys in (("3",), ("F",), ("V",), ("u",)):
            await person.press("1", *keys)
            assert person.said[-1] == gone, keys
        await person.press("b")
        assert "No banks" in person.screen

    browse(folder, story, "kitchen")
