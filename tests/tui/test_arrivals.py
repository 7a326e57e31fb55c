"""What comes up in front by itself: only for who waits for it, and only what it was asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Origin, born
from deltamem_tui.config import Configuration
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory import editing
from deltamem_tui.memory.deltamem.definition import Payload
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.rules_extractor import RulesExtractor
from deltamem_tui.memory.runs import estimate
from deltamem_tui.tui.core import bank_session
from deltamem_tui.tui.core.job import Info, Progress, WorkPlan
from deltamem_tui.tui.core.open_bank import read_bank
from deltamem_tui.tui.jobs import episodes
from deltamem_tui.tui.models.arrangement import arrange
from deltamem_tui.tui.screens import trees as trees_module
from deltamem_tui.tui.screens.banks import BankList, BanksScreen
from deltamem_tui.tui.screens.base import BankScreen
from deltamem_tui.tui.screens.recall import RecallScreen
from deltamem_tui.tui.screens.trees import TreesScreen
from deltamem_tui.tui.widgets.dialogs import ConfirmDialog
from deltamem_tui.tui.widgets.form_dialog import AskDialog
from tests.tui.support import Person, add_plain, browse, small_bank, trajectory


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


def test_of_two_openings_that_cross_only_the_last_one_comes_up(two: Path) -> None:
    async def story(person: Person) -> None:
        app, banks = person.app, person.app.screen
        assert isinstance(banks, BanksScreen)
        before = labels(two / "bbb")
        await person.pilot.press("enter")  # aaa is asked for, and read
        app.call_later(app.session.show_bank, (Bank.open(two / "aaa"), ()))
        banks.query_one(BankList).cursor = 1
        banks.call_later(banks.action_open_bank)
        await person.settle()
        shown = app.screen
        assert isinstance(shown, BankScreen)
        assert app.session.bank.path == shown.home.path == shown.bank.path
        await person.press("L")
        assert (labels(two / "bbb") != before) is (shown.home.path.name == "bbb")

    browse(two, story)


def test_a_bank_nobody_asked_for_does_not_come_up(two: Path) -> None:
    async def story(person: Person) -> None:
        person.app.session.show_bank((Bank.open(two / "aaa"), ()))
        await person.settle()
        assert isinstance(person.app.screen, BanksScreen)
        await person.press("j", "enter")
        assert person.app.session.bank.path == two / "bbb"
        person.app.session.show_bank((Bank.open(two / "aaa"), ()))
        await person.settle()
        assert person.app.session.bank.path == person.trees.bank.path == two / "bbb"

    browse(two, story)


def test_what_is_changed_is_what_the_screen_shows(two: Path) -> None:
    """Whatever else is open by then: a screen writes to the bank it was made for."""

    async def story(person: Person) -> None:
        await person.press("enter")
        shown, before = person.trees, labels(two / "bbb")
        await person.press("b", "j", "enter")
        assert person.app.session.bank.path == two / "bbb"
        shown.change("writing", lambda bank: f"wrote {bank.name}")
        await person.settle()
        assert person.said[-1] == "wrote aaa"
        assert labels(two / "bbb") == before

    browse(two, story)


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
        await person.press("L", "Z")
        assert isinstance(person.app.screen, AskDialog)
        assert person.said[-1] == "kitchen has been read; enter opens it"
        await person.press("escape", "enter")
        assert isinstance(person.app.screen, TreesScreen)

    before = labels(folder / "kitchen")
    browse(folder, story)
    assert labels(folder / "kitchen") == before
    assert not Bank.open(folder / "kitchen").frozen


# Deleting


def test_who_went_on_is_not_asked_whether_to_delete_but_finds_the_question(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(editing.subtree)
    monkeypatch.setattr(editing, "subtree", gate)

    async def story(person: Person) -> None:
        await person.pilot.press("D")
        await person.pilot.press("2")
        await person.until(lambda: isinstance(person.app.screen, RecallScreen))
        gate.opened.set()
        await person.settle()
        await person.press(*"heavy")
        assert isinstance(person.app.screen, RecallScreen)
        assert len(Bank.open(folder / "kitchen").tree("task")) == 6
        assert "the plan is ready; P opens it" in person.said
        await person.press("escape", "P")
        assert "kitchen: Delete 3 nodes of the task tree?" in person.screen
        await person.press("y")
        assert len(Bank.open(folder / "kitchen").tree("task")) == 3

    browse(folder, story, "kitchen")


def test_a_question_that_was_answered_while_another_thing_goes_on_names_its_bank(
    folder: Path,
) -> None:
    go_on = threading.Event()

    def work(_: Progress) -> Info:
        assert go_on.wait(20)
        return Info("learnt")

    async def story(person: Person) -> None:
        await person.press("D")
        assert "Delete 3 nodes of the task tree?" in person.screen
        person.app.work.start("learning", work)
        await person.pilot.press("y")
        await person.until(lambda: person.app.work.plan is not None)
        go_on.set()
        await person.settle()
        await person.press("escape", "P")
        assert "kitchen: Delete 3 nodes of the task tree?" in person.screen

    browse(folder, story, "kitchen")


def test_what_was_not_shown_is_not_deleted(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("D")
        bank = Bank.open(folder / "kitchen")
        root = next(bank.tree("task").roots())
        add_plain(bank, "task", [born("task", root, "success", Payload("new", "new"), Origin())])
        await person.press("y")
        assert root.id in person.said[-1]
        assert len(Bank.open(folder / "kitchen").tree("task")) == 7

    browse(folder, story, "kitchen")


# A node


def test_the_cursor_does_not_leave_who_went_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(arrange)
    gate.opened.set()
    monkeypatch.setattr(trees_module, "arrange", gate)

    async def story(person: Person) -> None:
        hidden = list(Bank.open(folder / "kitchen").tree("task"))[1]
        await person.press("slash")
        await person.write("some object")
        await person.press("enter")
        await person.press("slash")
        await person.write("lamp")
        await person.press("enter")
        gate.opened.clear()
        person.app.session.show_node("task", hidden.id)  # the filter hides it
        await person.until(lambda: person.trees.list_filter.arrangement.text == "")
        await person.pilot.press("t")
        gate.opened.set()
        await person.settle()
        assert person.outline.tree_name == "env"
        assert person.app.focused is person.outline

    browse(folder, story, "kitchen")


def test_a_change_does_not_take_back_who_went_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(editing.relabel)
    monkeypatch.setattr(editing, "relabel", gate)

    async def story(person: Person) -> None:
        for went_on in (False, True):
            gate.opened.clear()
            await person.press("g")
            changed = person.node.id
            await person.pilot.press("L")
            if went_on:
                await person.pilot.press("j")
            gate.opened.set()
            await person.settle()
            assert (person.node.id == changed) is not went_on

    browse(folder, story, "kitchen")


# Plans


def plan(done: list[str], question: str = "Spend money?") -> WorkPlan:
    def then(_: Progress) -> Info:
        done.append(question)
        return Info("spent")

    return WorkPlan("asking", question, [], then, kind="estimate")


def test_work_begun_since_does_not_make_a_plan_of_an_old_key_come_up(folder: Path) -> None:
    done: list[str] = []
    gate = threading.Event()

    def work(_: Progress) -> WorkPlan:
        assert gate.wait(20)
        return plan(done)

    async def story(person: Person) -> None:
        person.app.work.start("rehearsing", work)
        await person.pilot.press("V")
        gate.set()
        await person.settle()
        assert not isinstance(person.app.screen, ConfirmDialog)
        await person.press("y")
        assert done == []
        assert person.app.work.plan is not None

    browse(folder, story, "kitchen")


def test_a_plan_that_takes_the_place_of_another_says_so(folder: Path) -> None:
    done: list[str] = []

    async def story(person: Person) -> None:
        for question in ("First?", "Second?"):
            person.app.work.offer(plan(done, question))
            await person.settle()
        assert person.said[0] == "the estimate is ready; P opens it"
        assert person.said[1] == (
            "the estimate is ready; P opens it in place of the estimate that waited: First?"
        )
        person.app.work.start("planning", lambda _: plan(done, "Third?"))
        await person.settle()
        await person.press("escape")
        assert person.app.work.plan is not None, "a plan that comes up takes no other's place"
        await person.press("P", "y")
        assert done == ["Second?"]

    browse(folder, story, "kitchen")


def test_an_estimate_names_its_bank_and_what_came_since_is_not_paid_for(
    two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(episodes, "_extractor", lambda *_, **__: RulesExtractor())
    monkeypatch.setattr(estimate, "estimate_learning", lambda *_, **__: Usage())
    choice = episodes.ModelChoice("gpt-x")

    async def story(person: Person) -> None:
        person.app.work.start(
            "rehearsing",
            lambda progress: episodes.plan_by_model(two / "aaa", choice, Configuration(), progress),
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


def test_episodes_that_were_learnt_meanwhile_are_not_asked_about_again(folder: Path) -> None:
    told = episodes.extract_by_model(
        folder / "kitchen",
        episodes.ModelChoice("gpt-x"),
        Configuration(),
        Progress("learning"),
        ["not waiting"],
    )
    assert isinstance(told, Info)
    assert told.summary == "these episodes no longer wait; nothing was sent"
