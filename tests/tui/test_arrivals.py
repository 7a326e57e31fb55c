"""What comes up in front by itself: only for who waits for it, and only what it was asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.method import RulesExtractor
from deltamem_tui.memory.runs import questions
from deltamem_tui.tui.core import bank_session
from deltamem_tui.tui.core.bank_session import read_bank
from deltamem_tui.tui.jobs import episodes
from deltamem_tui.tui.screens.memory import MemoryScreen
from deltamem_tui.tui.widgets.forms import AskDialog
from tests.tui.support import Person, browse, small_bank, trajectory


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A banks folder with two small banks, `aaa` and `bbb`."""
    for name in ("aaa", "bbb"):
        small_bank(tmp_path / "two" / name)
    return tmp_path / "two"


class Gate:
    """Lets a call through once it is opened."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.opened = threading.Event()
        self._call = call

    def __call__(self, *values: Any, **named: Any) -> Any:
        found = self._call(*values, **named)
        assert self.opened.wait(20)
        return found


def labels(bank: Path) -> list[str]:
    return [node.label for node in Bank.open(bank).tree("task")]


# A bank


def test_a_bank_that_opens_late_does_not_come_up_over_a_dialog(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(read_bank)
    monkeypatch.setattr(bank_session, "read_bank", gate)

    async def story(person: Person) -> None:
        await person.pilot.press("enter")
        await person.pilot.press("n", "m", "y")
        await person.pilot.pause()
        assert isinstance(person.app.screen, AskDialog)
        gate.opened.set()
        await person.settle()
        await person.press("F", "Z")
        assert isinstance(person.app.screen, AskDialog)
        assert person.said[-1] == "kitchen has been read; enter opens it"
        await person.press("escape", "enter")
        assert isinstance(person.app.screen, MemoryScreen)

    before = labels(folder / "kitchen")
    browse(folder, story)
    assert labels(folder / "kitchen") == before
    assert not Bank.open(folder / "kitchen").frozen


# Deleting


# A node


# Plans


def test_an_estimate_names_its_bank_and_what_came_since_is_not_paid_for(
    two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(episodes, "_extractor", lambda *_, **__: RulesExtractor())
    monkeypatch.setattr(questions, "estimate_learning", lambda *_, **__: Usage())
    choice = episodes.ModelChoice("gpt-x")

    async def story(person: Person) -> None:
        person.app.work.start(
            "rehearsing",
            lambda progress: episodes.plan_by_model(two / "aaa", choice, progress),
        )
        await person.press("j")
        more = [trajectory(f"heat thing {each}", "a kitchen", success=True) for each in range(7)]
        take_in(Bank.open(two / "aaa"), more)
        await person.press("b", "j", "enter", "P")
        assert "Ask gpt-x about 1 episode of aaa?" in person.screen
        await person.press("y")
        assert person.said[-1].startswith("learnt 1 episode by rules")
        assert Bank.open(two / "aaa").episodes.learnt() == 2

    browse(two, story, "aaa")
