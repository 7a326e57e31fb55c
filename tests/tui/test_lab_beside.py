"""The lab as a workbench: kept questions, the chain of any row, another bank beside this one."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import Input

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.editing import edit
from deltamem_tui.tui.core.kept_questions import KeptQuestions, questions_file
from deltamem_tui.tui.screens.kept_questions import KeptList, KeptQuestionsDialog
from deltamem_tui.tui.screens.recall import RecallScreen
from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.tui.lab import TASK, context, matches
from tests.tui.support import Person, browse, grow, pane, small_bank


def test_a_kept_question_says_what_its_bank_answers_otherwise_by_now(folder: Path) -> None:
    bank = Bank.open(folder / "kitchen")
    kept = KeptQuestions(bank.path)

    async def story(person: Person) -> None:
        await person.press("2", "escape", "K")
        assert person.said == ["nothing is asked that could be kept"]
        await person.press("slash")
        await person.write("sing a song")
        await person.press("enter", "K")
        await person.write("songs")
        await person.press("enter", "slash")
        await person.write(TASK)
        await person.press("enter", "K", "enter")
        assert list(kept.all()) == ["songs", TASK]
        assert kept.all()["songs"].matches["task"] == frozenset()
        new = grow(Bank.open(bank.path), "task", [("sing a song", "la", None, "success")])[0]
        person.app.session.look_for_changes()
        await person.settle()
        await person.press("l")
        listed = person.app.screen.query_one(KeptList)
        assert [each.change for each in listed.answers] == ["+1 match", "same matches"]
        assert new.id[:8] in "".join(listed.answers[0].gained)
        assert "More than when it was kept: 1 match" in person.screen
        await person.press("K")
        assert [each.change for each in listed.answers] == ["same matches", "same matches"]
        assert kept.all()["songs"].matches["task"] == {new.id}
        await person.press("j", "D")
        assert list(kept.all()) == ["songs"]
        await person.press("enter")
        assert isinstance(person.app.screen, RecallScreen)
        assert person.app.screen.query_one("#task", Input).value == "sing a song"
        assert "la" in context(person)

    browse(folder, story, "kitchen", size=(120, 40))
    questions_file(bank.path).write_text('{"songs": 1}')
    assert kept.all() == {}


def test_no_question_is_kept(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("2", "escape", "l", "enter", "K", "D")
        assert isinstance(person.app.screen, KeptQuestionsDialog)
        assert "No question is kept for this bank" in person.screen

    browse(folder, story, "kitchen")


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
