"""Putting right on the trees screen: editing, relabelling, moving, deleting, undoing."""

from __future__ import annotations

import threading
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory import editing
from deltamem_tui.tui.core.work import Info, Progress
from deltamem_tui.tui.screens.memory import MemoryScreen
from deltamem_tui.tui.widgets.dialogs import ConfirmDialog
from tests.tui.support import Person, browse, grow


def edited(changes: dict[str, str]) -> object:
    def edit(text: str) -> str:
        for before, after in changes.items():
            assert before in text
            text = text.replace(before, after)
        return text

    return edit


def test_an_edit_is_embedded_journalled_and_undone(folder: Path) -> None:
    async def story(person: Person) -> None:
        before = person.node
        tree = person.app.session.bank.tree("task")
        vector = tree.embeddings[tree.row(before.id)].copy()
        person.app.texts.editor = edited({"heat some object and": "warm every object and"})  # type: ignore[assignment]
        await person.press("ctrl+e")
        assert person.node.payload["activation_condition"].startswith("warm every object")
        assert person.node.revision == 1
        tree = person.app.session.bank.tree("task")
        assert (tree.embeddings[tree.row(before.id)] != vector).any()
        assert person.app.session.bank.commit.event == "edit"
        await person.press("u")
        assert person.node.payload == before.payload
        tree = person.app.session.bank.tree("task")
        assert (tree.embeddings[tree.row(before.id)] == vector).all()
        assert person.app.session.bank.commit.event == "undo"
        await person.press("u")
        assert "no change by hand is left" in person.said[-1]

    browse(folder, story, "kitchen")


def test_an_edit_of_what_another_changed_meanwhile_is_refused(folder: Path) -> None:
    async def story(person: Person) -> None:
        def edit(text: str) -> str:
            from deltamem_tui.memory import editing

            bank = Bank.open(folder / "kitchen")
            editing.relabel(bank, "task", bank.tree("task").node(person.node.id), "failure")
            return text.replace("heat", "warm")

        person.app.texts.editor = edit
        await person.press("ctrl+e")
        assert "was changed since you read it" in person.said[-1]
        assert "warm" not in Bank.open(folder / "kitchen").tree("task").node(person.node.id).text

    browse(folder, story, "kitchen")


def test_an_edit_while_work_goes_on_is_refused_before_anything_is_typed(folder: Path) -> None:
    go_on, opened = threading.Event(), threading.Event()

    def learn(_: Progress) -> Info:
        assert go_on.wait(20)
        return Info("learnt")

    def edit(text: str) -> str:
        opened.set()
        return text

    async def story(person: Person) -> None:
        person.app.texts.editor = edit
        person.app.work.start("learning", learn, can_stop=True)
        for number, key in enumerate(
            ("ctrl+e", "D"), start=1
        ):  # what either asks for could not be written
            await person.pilot.press(key)
            await person.until(lambda: len(person.said) == number)  # noqa: B023 - called here
            assert person.said[-1] == "still learning; x cancels it"
        assert isinstance(person.app.screen, MemoryScreen)
        go_on.set()
        await person.settle()
        assert not opened.is_set()
        await person.press("ctrl+e")
        assert opened.is_set()

    browse(folder, story, "kitchen")


def test_relabel(folder: Path) -> None:
    async def story(person: Person) -> None:
        labels = []
        for key in ("F", "S", "u", "u"):
            await person.press(key)
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
        child = next(person.app.session.bank.tree("task").children(moved))
        assert child.depth == 3
        await person.press("u")
        node = person.app.session.bank.tree("task").node(moved)
        assert (node.depth, node.kind, node.parent) == (1, "root", None)
        assert next(person.app.session.bank.tree("task").children(moved)).depth == 2

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
        assert isinstance(person.app.screen, ConfirmDialog)
        assert "Delete 3 nodes of the task tree?" in person.screen
        assert f"root {deleted.id}" in person.screen
        failure = next(
            each for each in person.app.session.bank.tree("task") if each.label == "failure"
        )
        assert f"{failure.id} ✗ heat some object with a broken stove" in person.screen
        await person.press("escape")
        assert len(person.app.session.bank.tree("task")) == 6
        await person.press("delete", "y")
        assert len(person.app.session.bank.tree("task")) == 3
        assert person.node != deleted
        await person.press("u")
        assert len(person.app.session.bank.tree("task")) == 6
        assert person.node.id == deleted.id, "one looks at what came back"
        assert max(node.depth for node in person.app.session.bank.tree("task")) == 3

    browse(folder, story, "kitchen")


def test_nothing_is_changed_in_a_frozen_bank(folder: Path) -> None:
    Bank.open(folder / "kitchen").freeze()

    async def story(person: Person) -> None:
        person.app.texts.editor = lambda text: text + "more"
        for number, key in enumerate(("e", "F", "m", "o", "D", "u"), start=1):
            await person.press(key)
            assert len(person.said) == number
            assert "the bank is frozen" in person.said[-1]
            assert isinstance(person.app.screen, MemoryScreen)
        assert "FROZEN" in person.screen

    browse(folder, story, "kitchen")
    from deltamem_tui.bank.upkeep.verify import verify

    assert verify(Bank.open(folder / "kitchen")) == []


def test_what_was_not_changed_here_is_asked_about_before_it_is_undone(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("F")
        bank = Bank.open(folder / "kitchen")
        *_, theirs = bank.tree("task").roots()
        editing.relabel(bank, "task", theirs, "success")
        await person.settle()
        await person.press("u")
        assert f"Undo the relabel of {theirs.id}, which was not made here?" in person.screen
        assert "1 node of the task tree" in person.screen
        assert theirs.payload["activation_condition"] in person.screen
        await person.press("escape")
        assert Bank.open(folder / "kitchen").commit.event == "relabel"
        await person.press("u", "y")
        assert person.said[-1].startswith(f"undone: relabel of {theirs.id}, not made here; 1 node")
        assert person.node.id == theirs.id
        await person.press("u")
        assert person.said[-1].startswith("undone: relabel of "), "one's own is undone unasked"
        assert Bank.open(folder / "kitchen").tree("task").node(theirs.id).label == "failure"

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
        assert person.said[-1] == f"{praised.id} is a failure now; u undoes it"
        await person.press("S")
        assert "still says [FAILED]" in person.said[-1]
        person.trees.outline("env").focus()
        await person.press("G")
        assert person.node.id == known.id
        await person.press("S")
        assert person.said[-1] == f"{known.id} is a success now; u undoes it"

    browse(folder, story, "kitchen")
