"""A text that could not be saved is not lost: the next edit offers it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets import TextArea

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import TEXT_LIMIT
from deltamem_tui.memory import editing
from tests.tui.support import Person, browse


def nothing(_: Path) -> None:
    """Leave the bank alone: it is the text that cannot be saved."""


def conflict(path: Path) -> None:
    bank = Bank.open(path)
    editing.relabel(bank, "task", next(bank.tree("task").roots()), "failure")


def freeze(path: Path) -> None:
    Bank.open(path).freeze()


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("spoil", [nothing, conflict, freeze])
def test_a_refused_edit_is_offered_by_the_next(
    folder: Path, spoil: Callable[[Path], None], closed: bool
) -> None:
    path = folder / "kitchen"

    def field(person: Person) -> TextArea:
        return person.app.screen.query(TextArea).first()

    async def story(person: Person) -> None:
        await person.press("e")
        field(person).text = "MY WORDS" + "x" * (TEXT_LIMIT if spoil is nothing else 0)
        spoil(path)
        await person.press("f2")
        assert "your text is kept, e offers it again" in person.said[-1]
        assert "MY WORDS" not in Bank.open(path).tree("task").node(person.node.id).text
        if spoil is freeze:
            Bank.open(path).unfreeze()
        person.app.session.look_for_changes()
        await person.settle()
        if closed:
            await person.press("b", "enter")
        await person.press("e")
        assert field(person).text.startswith("MY WORDS")
        field(person).text = "MY WORDS"
        await person.press("f2")
        assert person.node.payload["activation_condition"] == "MY WORDS"
        assert person.trees.home.drafts == {}, "what is saved is offered no more"

    browse(folder, story, "kitchen")


def test_a_field_is_edited_in_the_editor(folder: Path) -> None:
    async def story(person: Person) -> None:
        person.app.texts.edit = lambda text: text.replace("heat", "warm") + "\n"
        await person.press("e", "ctrl+e", "f2")
        assert person.node.payload["activation_condition"].startswith("warm some object")
        assert person.node.payload["execution_procedure"].startswith("1. find it")

    browse(folder, story, "kitchen")
