"""The lab as a workbench: the chain of any row, another bank beside this one."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui.memory.editing import edit
from deltamem_tui.tui.screens.recall import RecallScreen
from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.tui.lab import context, matches
from tests.tui.support import Person, browse, pane, small_bank


def test_the_chain_of_any_row_is_shown_beside_the_context(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("2")
        await person.write("heat some object with a broken microwave")
        await person.press("enter", "c")
        beside = person.app.screen.query_one("#beside", TextPane)
        for _ in range(2):
            node = matches(person).node
            assert node is not None
            chain = person.app.session.bank.tree("task").chain(node.id)
            assert len(beside.sections) == len(chain)
            assert node.id in str(beside.border_title)
            await person.press("j")
        await person.press("escape")
        assert not beside.display
        assert isinstance(person.app.screen, RecallScreen)

    browse(folder, story, "kitchen", size=(120, 40))


def test_another_bank_is_asked_the_same(folder: Path) -> None:
    other = small_bank(folder / "other")
    node = next(iter(other.tree("task")))
    edit(other, "task", node, {**node.payload, "execution_procedure": "as the other bank says"})

    async def story(person: Person) -> None:
        await person.press("2")
        await person.write("heat some object and put it in a place")
        await person.press("enter", "O", "enter")
        assert "other · " in str(person.app.screen.query_one("#beside").border_title)
        assert "as the other bank says" in pane(person, "beside")
        assert "as the other bank says" not in context(person)
        await person.press("slash")
        await person.write("sing")
        assert "Nothing is recalled" in pane(person, "beside")
        await person.press("escape", "O")
        assert not person.app.screen.query_one("#beside").display

    browse(folder, story, "kitchen", size=(120, 40))
