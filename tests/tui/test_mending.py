"""Putting right on the trees screen: editing, relabelling, moving, deleting, undoing."""

from __future__ import annotations

import threading
from pathlib import Path

from textual.widgets import TextArea

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory import editing
from deltamem_tui.tui.core.work import Info, Progress
from deltamem_tui.tui.screens.memory import MemoryScreen
from deltamem_tui.tui.widgets.dialogs import EditFieldsDialog, ReadingDialog
from tests.tui.support import Person, browse, grow


async def edit(person: Person, text: str) -> None:
    """Write another text into the first field of the node."""
    await person.press("e")
    person.app.screen.query(TextArea).first().text = text
    await person.press("f2")


def test_an_edit_is_embedded_journalled_and_undone(folder: Path) -> None:
    async def story(person: Person) -> None:
        before = person.node
        tree = person.bank.tree("task")
        vector = tree.embeddings[tree.row(before.id)].copy()
        await edit(person, "warm every object and put it in a place")
        assert person.node.payload["activation_condition"].startswith("warm every object")
        assert person.node.revision == 1
        tree = person.bank.tree("task")
        assert (tree.embeddings[tree.row(before.id)] != vector).any()
        assert person.bank.commit.event == "edit"
        await person.press("u")
        assert "Undo this edit in kitchen?" in person.screen
        assert "text restored: heat some object" in person.screen
        await person.press("y")
        assert person.node.payload == before.payload
        tree = person.bank.tree("task")
        assert (tree.embeddings[tree.row(before.id)] == vector).all()
        assert person.bank.commit.event == "undo"
        await person.press("u")
        assert "no change by hand is left" in person.said[-1]

    browse(folder, story, "kitchen")


def test_an_edit_while_work_goes_on_is_refused_before_anything_is_typed(folder: Path) -> None:
    go_on = threading.Event()

    def learn(_: Progress) -> Info:
        assert go_on.wait(20)
        return Info("learnt")

    async def story(person: Person) -> None:
        person.app.work.start("learning", learn, can_stop=True)
        for number, key in enumerate(
            ("e", "D"), start=1
        ):  # what either asks for could not be written
            await person.pilot.press(key)
            await person.until(lambda: len(person.said) == number)  # noqa: B023 - called here
            assert person.said[-1] == "still learning: x cancels"
        assert isinstance(person.app.screen, MemoryScreen)
        go_on.set()
        await person.settle()
        await person.press("e")
        assert isinstance(person.app.screen, EditFieldsDialog)

    browse(folder, story, "kitchen")


def test_relabel(folder: Path) -> None:
    async def story(person: Person) -> None:
        labels = []
        for keys in (("F",), ("S",), ("u", "y"), ("u", "y")):
            await person.press(*keys)
            labels.append(person.node.label)
        assert labels == ["failure", "success", "failure", "success"]
        assert person.node.revision == 4

    browse(folder, story, "kitchen")


def test_move_and_undo(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("j", "m")
        assert "go to its new parent and press m" in person.said[-1]
        moved = person.node.id
        await person.press("k", "m")
        assert person.node.id == moved
        assert (person.node.depth, person.node.kind) == (2, "residual")
        child = next(person.bank.tree("task").children(moved))
        assert child.depth == 3
        await person.press("u", "y")
        node = person.bank.tree("task").node(moved)
        assert (node.depth, node.kind, node.parent) == (1, "root", None)
        assert next(person.bank.tree("task").children(moved)).depth == 2

    browse(folder, story, "kitchen")


def test_a_move_that_cannot_be_is_refused(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("m", "l", "j", "m")
        assert "cannot hang below itself" in person.said[-1]
        await person.press("g", "m", "escape")
        assert person.said[-1] == "not moved"
        assert isinstance(person.app.screen, MemoryScreen)

    browse(folder, story, "kitchen")


def test_delete_shows_what_goes_and_can_be_undone(folder: Path) -> None:
    async def story(person: Person) -> None:
        deleted = person.node
        await person.press("D")
        assert isinstance(person.app.screen, ReadingDialog)
        assert "Delete 3 nodes of the task tree of kitchen?" in person.screen
        assert f"root {deleted.id}" in person.screen
        failure = next(each for each in person.bank.tree("task") if each.label == "failure")
        assert f"{failure.id} ✗ … stove" in person.screen
        await person.press("escape")
        assert len(person.bank.tree("task")) == 6
        await person.press("delete", "y")
        assert len(person.bank.tree("task")) == 3
        assert person.node != deleted
        await person.press("u", "y")
        assert len(person.bank.tree("task")) == 6
        assert person.node.id == deleted.id, "one looks at what came back"
        assert max(node.depth for node in person.bank.tree("task")) == 3

    browse(folder, story, "kitchen")


def test_nothing_is_changed_in_a_frozen_bank(folder: Path) -> None:
    Bank.open(folder / "kitchen").freeze()

    async def story(person: Person) -> None:
        for number, key in enumerate(("e", "F", "m", "o", "D", "u"), start=1):
            await person.press(key)
            assert len(person.said) == number
            assert "the bank is frozen" in person.said[-1]
            assert isinstance(person.app.screen, MemoryScreen)
        assert "FROZEN" in person.screen

    browse(folder, story, "kitchen")
    from deltamem_tui.bank.verify import verify

    assert verify(Bank.open(folder / "kitchen")) == []


def test_an_undo_says_what_it_undoes_and_a_redo_what_it_redoes(folder: Path) -> None:
    *_, node = Bank.open(folder / "kitchen").tree("task").roots()

    async def story(person: Person) -> None:
        await person.press("G", "S", "u")
        assert "relabel of 1 node of the task tree" in person.screen
        assert "is a failure again: look at some object under the lamp" in person.screen
        await person.press("escape")
        assert Bank.open(folder / "kitchen").commit.event == "relabel"
        await person.press("u", "y")
        assert person.said[-1] == "undone: relabel of 1 node"
        assert person.node.label == "failure"
        await person.press("U", "y")
        assert person.said[-1] == "redone: relabel of 1 node"
        assert Bank.open(folder / "kitchen").tree("task").node(node.id).label == "success"

    browse(folder, story, "kitchen")


def test_what_was_changed_while_the_question_stood_is_not_undone(folder: Path) -> None:
    bank = Bank.open(folder / "kitchen")
    first, other, *_ = bank.tree("task").roots()
    editing.relabel(bank, "task", first, "failure")

    async def story(person: Person) -> None:
        await person.press("u")
        editing.relabel(bank, "task", other, "failure")
        await person.press("y")
        assert "another change was made, undone or redone" in person.said[-1]
        assert Bank.open(folder / "kitchen").tree("task").node(first.id).label == "failure"

    browse(folder, story, "kitchen")


def test_that_a_text_still_warns_is_said_of_skills_that_become_a_success_alone(
    folder: Path,
) -> None:
    """Knowledge says what is so, and of a failure such marks are true."""
    bank = Bank.open(folder / "kitchen")
    (known,) = grow(bank, "env", [("some place", "1. [FAILED] look", None, "failure")])
    (praised,) = grow(bank, "task", [("some task", "1. [FAILED] look", None, "success")])

    async def story(person: Person) -> None:
        await person.press("G")
        assert person.node.id == praised.id
        await person.press("F")
        assert person.said[-1] == "“some task” is a failure now; u undoes it"
        await person.press("S")
        assert "still says [FAILED]" in person.said[-1]
        person.trees.outline("env").focus()
        await person.press("G")
        assert person.node.id == known.id
        await person.press("S")
        assert person.said[-1] == "“some place” is a success now; u undoes it"

    browse(folder, story, "kitchen")
