"""A bank of a method that the package does not know is browsed like any other."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.embedding.load import load
from deltamem_tui.memory import method as methods
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.tui.screens.recall import MatchList, RecallScreen
from tests.memory import flat_method
from tests.memory.flat_method import NOTES
from tests.tui.support import Person, browse, pane, trajectory


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods, "PLACES", {**methods.PLACES})
    flat_method.register()


@pytest.fixture
def notes(folder: Path) -> Path:
    """The folder of banks, with a bank `notes` of the flat method beside `kitchen`."""
    bank = create_bank(folder / "notes", embedder="hashing", method="flat")
    for task in ("heat some egg", "cool some lettuce", "look at some bowl"):
        learn(bank, trajectory(task, success=True), embedder=load("hashing"))
    return folder


def matches(person: Person) -> MatchList:
    return person.app.screen.query_one(f"#{NOTES}-matches", MatchList)


def test_its_notes_are_listed_filtered_and_shown(notes: Path) -> None:
    async def story(person: Person) -> None:
        assert f"{NOTES} · 3 nodes" in person.screen
        assert person.node.payload["task"] == "heat some egg"
        assert "For\nheat some egg\nDo\nopen fridge 1" in pane(person, "detail")
        await person.press("slash")
        await person.write("lettuce")
        await person.press("enter", "c")
        assert "For: cool some lettuce" in pane(person, "detail")

    browse(notes, story, "notes")


def test_it_is_listed_beside_banks_of_other_methods(notes: Path) -> None:
    async def story(person: Person) -> None:
        lines = [line.split() for line in person.screen.splitlines()]
        rows = {line[0]: line for line in lines if line[2:3] == ["nodes"]}
        assert rows["notes"][1:5] == ["3", "nodes", "generic", "flat"]
        assert rows["kitchen"][1:5] == ["9", "nodes", "alfworld", "deltamem"]
        assert "method deltamem" in pane(person, "bank")
        await person.press("j")
        assert f"{NOTES} 3 nodes" in pane(person, "bank")
        assert "method flat" in pane(person, "bank")

    browse(notes, story)


def test_it_is_asked_in_the_recall_lab(notes: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("2")
        assert isinstance(person.app.screen, RecallScreen)
        await person.write("heat an egg")
        kinds = [line.kind for line in matches(person).lines]
        assert kinds == ["match", "match", "runner-up"]
        assert "For: heat some egg" in pane(person, "context")
        await person.press("escape", "p")
        await person.write("1.5")
        await person.press("enter")
        assert "a whole number from 1 to 100" in person.screen
        await person.write("1")
        await person.press("enter")
        assert [line.kind for line in matches(person).lines].count("match") == 1
        await person.press("f2")
        assert person.bank.manifest.settings == {"k": 1}

    browse(notes, story, "notes", size=(120, 40))


def test_its_numbers_are_shown(notes: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("4")
        assert "notes\n3 nodes: 3 roots" in pane(person, "report")

    browse(notes, story, "notes", size=(120, 60))


def test_a_bank_whose_method_is_not_here_can_still_be_looked_at(notes: Path) -> None:
    methods.PLACES.pop("flat")

    async def story(person: Person) -> None:
        assert f"{NOTES} · 3 nodes" in person.screen
        assert "Task\nheat some egg" in pane(person, "detail")
        await person.press("2")
        await person.write("heat an egg")
        assert "there is no method 'flat'" in pane(person, "context")
        await person.press("escape", "4")
        assert "3 nodes: 3 roots" in pane(person, "report")

    browse(notes, story, "notes", size=(120, 40))
