"""Filters on the trees screen: what they keep, and what they leave as it was."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Origin, born
from deltamem_tui.errors import BankCorruptError
from deltamem_tui.memory.deltamem.definition import Payload
from deltamem_tui.tui.core.attention import NodeTarget
from deltamem_tui.tui.models.arrangement import NodeArrangement, arrange
from deltamem_tui.tui.screens import trees
from tests.tui.support import Person, browse

FILTERS = {
    "FRIDGE": 1,
    "label:failure": 2,
    "kind:residual depth:2": 2,
    "hits:>3": 1,
    "is:never-recalled": 5,
    "recalls:1-5": 1,
    "recalls:1-4": 0,
    "recalls:>=5 hits:4": 1,
    "recalls:0-4": 5,
    "recalls:<1": 5,
    "is:consolidated": 0,
    "kind:root label:success": 2,
    "is:due": 1,
    "depth:>1 depth:<3": 2,
    "depth:<3 depth:>1 is:failure": 0,
    "depth:>1 is:failure": 1,
    '"some object" heat': 3,
    "nothing-like-it": 0,
}


def test_a_filter_keeps_what_it_says(folder: Path) -> None:
    async def story(person: Person) -> None:
        for typed, kept in FILTERS.items():
            await person.press("slash")
            await person.write(typed)
            await person.press("enter")
            family = person.outline.outline.family  # type: ignore[union-attr]
            assert family.kept is not None
            assert int(family.kept.sum()) == kept, typed
            assert f"{kept} fit the filter" in person.screen
            assert (person.outline.node is None) == (kept == 0)
        await person.press("escape")
        assert person.outline.outline.family.kept is None  # type: ignore[union-attr]

    browse(folder, story, "kitchen")


def test_what_was_collapsed_before_a_filter_is_collapsed_after_it(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("minus", "g", "j", "l")
        before = person.rows
        assert len(before) == 4
        await person.press("g", "slash")
        for typed in ("a", "label:failure"):
            await person.write(typed)
        await person.press("enter")
        assert len(person.rows) == 4, "both failures and what is above them"
        assert person.rows != before
        await person.press("G", "slash")
        await person.write("")
        await person.press("enter")
        assert person.rows == before

    browse(folder, story, "kitchen")


def test_a_bank_left_under_a_filter_shows_it_and_has_its_folds_after_it(folder: Path) -> None:
    async def leave(person: Person) -> None:
        await person.press("minus", "slash")
        await person.write("label:failure broken")
        await person.press("enter")
        assert len(person.rows) == 3
        await person.press("q")

    async def come_back(person: Person) -> None:
        assert person.app.screen.query_one("#filter", Input).value == "label:failure broken"
        assert "label:failure broken" in person.screen
        await person.press("g", "escape")
        assert len(person.rows) == 3
        assert [person.node.depth, person.outline.outline.expanded] == [1, set()]  # type: ignore[union-attr]

    browse(folder, leave, "kitchen")
    browse(folder, come_back, "kitchen")


@pytest.mark.parametrize("key", ["enter", "escape"])
def test_leaving_a_filter_that_is_under_way_begins_no_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    real, asked = arrange, []

    def slow(bank: Bank, arrangement: NodeArrangement, *rest: Any) -> Any:
        asked.append(arrangement.text)
        if arrangement.text:
            begun.set()
            assert go_on.wait(20)
        return real(bank, arrangement, *rest)

    monkeypatch.setattr(trees, "arrange", slow)

    async def story(person: Person) -> None:
        await person.press("slash")
        person.app.screen.query_one("#filter", Input).value = "lamp"
        await person.until(begun.is_set)
        await person.pilot.press(key)
        await person.pilot.pause()
        assert person.app.focused is person.outline
        assert len(person.rows) == 3, "what was there before"
        go_on.set()
        await person.settle()
        assert len(person.rows) == 1
        assert asked == ["", "lamp"], "at first, and while it was typed"
        await person.press("slash", "enter")
        assert len(asked) == 2

    browse(folder, story, "kitchen")


def test_a_filter_whose_arranging_failed_is_asked_for_again_by_enter(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = True

    def arranged(bank: Bank, arrangement: NodeArrangement, *rest: Any) -> Any:
        if broken and arrangement.text == "lamp":
            raise BankCorruptError("a line is torn", source="kitchen")
        return arrange(bank, arrangement, *rest)

    monkeypatch.setattr(trees, "arrange", arranged)

    async def story(person: Person) -> None:
        nonlocal broken
        await person.press("slash")
        await person.write("lamp")
        assert "a line is torn" in person.said[-1]
        assert len(person.rows) == 3
        before = len(person.said)
        await person.press("enter", "j")
        assert len(person.said) == before + 1, "it is asked for, and told once more"
        assert person.outline.cursor == 1, "the key did not wait for ever"
        broken = False
        await person.press("slash", "enter")
        assert len(person.rows) == 1
        assert "1 fit the filter" in person.screen

    browse(folder, story, "kitchen")


@pytest.mark.parametrize("away", ["tab", "click"])
@pytest.mark.parametrize("before", ["", "lamp"])
def test_escape_leaves_a_filter_that_is_none_before_anything_else(
    folder: Path, away: str, before: str
) -> None:
    async def story(person: Person) -> None:
        await person.press("slash")
        await person.write(before)
        await person.press("enter", "slash")
        await person.write("depth:x")
        if away == "tab":
            await person.press("tab")
        else:
            await person.pilot.click("#task", offset=(8, 1))
            await person.settle()
        assert "✗ depth: 'x'" in words(person)
        await person.press("escape")
        assert isinstance(person.app.screen, trees.TreesScreen)
        assert "✗ depth" not in words(person)
        assert person.trees.list_filter.arrangement.text == before
        assert person.outline.has_focus
        if before:
            await person.press("escape")
            assert person.trees.list_filter.arrangement.text == ""
        await person.press("b")
        assert not isinstance(person.app.screen, trees.TreesScreen)

    browse(folder, story, "kitchen")


@pytest.mark.parametrize("before", ["", "lamp"])
def test_escape_from_a_filter_that_is_none_brings_back_what_was_in_force(
    folder: Path, before: str
) -> None:
    """What can be read of it, as it is typed, is a filter that nobody meant."""

    async def story(person: Person) -> None:
        await person.press("slash")
        await person.write(before)
        await person.press("enter", "slash", "end")
        await person.press("backspace", "backspace", "backspace", "backspace")
        await person.press(*"heat", "space", *"depth:x")
        assert person.trees.list_filter.arrangement.text == "heat depth"
        await person.press("enter", "escape")
        assert person.trees.list_filter.arrangement.text == before
        await person.press("slash")
        await person.write("heat")
        await person.press("escape")  # one that can be read stays
        assert person.trees.list_filter.arrangement.text == "heat"

    browse(folder, story, "kitchen")


def test_a_filter_that_finds_nothing_is_named_under_one_that_is_none(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("slash")
        await person.write("depth")
        assert "No node of the task tree fits the filter." in words(person)
        await person.press("enter", "slash")
        await person.write("depth:x")
        assert "No node of the task tree fits the filter depth" in words(person)
        await person.press("escape")
        assert "No node of the task tree fits the filter." in words(person)

    browse(folder, story, "kitchen")


def test_a_node_that_is_sought_waits_for_the_last_reading(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is shown first is out of date already: the node is looked for in what comes next."""
    go_on = threading.Event()

    def slow(bank: Bank, arrangement: NodeArrangement, *rest: Any) -> Any:
        assert bank.commit.event == "grow" or go_on.wait(20)
        return arrange(bank, arrangement, *rest)

    async def story(person: Person) -> None:
        app, outline = person.app, person.outline
        monkeypatch.setattr(trees, "arrange", slow)
        bank = Bank.open(folder / "kitchen")
        new = None
        for text in ("boil some object", "fry some object"):
            new = born("task", None, "success", Payload(text, "do it"), Origin())
            vector = bank.tree("task").snapshot.vectors[0]
            with bank.writing() as batch:
                batch.add_node("task", new, vector)
                batch.log("write")
            app.session.look_for_changes()
            await person.until(
                lambda: app.session.bank.commit == Bank.open(folder / "kitchen").commit
            )
        assert new is not None
        person.trees.go_to(NodeTarget("task", new.id, app.attention.position()))
        go_on.set()
        await person.settle()
        assert outline.node_id == new.id

    browse(folder, story, "kitchen")


def test_a_filter_that_is_none_is_told(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("slash")
        await person.write("depth:deep")
        await person.press("enter")
        assert "not a condition on a number" in person.said[-1]
        assert person.outline.line_count() == 3

    browse(folder, story, "kitchen")


def words(person: Person) -> str:
    """What the screen says, however it is folded."""
    return " ".join(person.screen.split())


@pytest.mark.parametrize("size", [(60, 20), (80, 24)])
def test_a_filter_that_cannot_be_read_says_so_while_it_is_typed_and_counts_nothing(
    folder: Path, size: tuple[int, int]
) -> None:
    async def story(person: Person) -> None:
        await person.press("slash")
        await person.write("label:failure")
        assert "2 fit the filter" in person.screen
        for typed, said in (
            ("label:foo", "✗ label: there is no 'foo' (failure or success)"),
            ("depth:abc", "✗ depth: 'abc' is not a condition on a number (3, >2, <=5 or 1-4)"),
        ):
            await person.write(typed)
            assert said in words(person)
            assert "fit the filter" not in person.screen
            assert person.said == [], "the line itself says it"
        await person.write("depth:3")
        assert "✗ depth" not in person.screen
        assert "1 fit the filter" in person.screen
        await person.press("enter", "slash")
        await person.write("depth:")
        await person.press("escape")
        assert "✗ depth" not in person.screen
        assert "1 fit the filter" in person.screen, "what it is filtered by counts again"

    browse(folder, story, "kitchen", size=size)


def test_what_is_still_being_sought_counts_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, real = threading.Event(), arrange

    def slow(bank: Bank, arrangement: NodeArrangement, *rest: Any) -> Any:
        assert not arrangement.text.startswith("lamp") or go_on.wait(20)
        return real(bank, arrangement, *rest)

    monkeypatch.setattr(trees, "arrange", slow)

    async def story(person: Person) -> None:
        await person.press("slash")
        await person.write("label:failure")
        assert "2 fit the filter" in person.screen
        person.app.screen.query_one("#filter", Input).value = "lamp"
        await person.until(lambda: "fit the filter" not in person.screen)
        go_on.set()
        await person.settle()
        assert "1 fit the filter" in person.screen

    browse(folder, story, "kitchen")


def test_a_misspelt_condition_is_told_with_the_one_that_is_near(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("slash")
        await person.write("depht:3")
        said = "! depht:3 is taken as words; did you mean depth:3?"
        assert said in words(person)
        assert "0 fit the filter" in person.screen
        await person.press("enter")
        assert said in words(person), "for as long as it filters"
        await person.press("escape")
        assert said not in words(person)

    browse(folder, story, "kitchen", size=(60, 20))


def test_the_empty_line_says_what_a_filter_can_be(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("slash")
        for named in ("the beginning of a node's id", "label:failure", "is:due", "id:29"):
            assert named in words(person)
        await person.write("lamp")
        assert "is:due" not in person.screen
        await person.write("")
        assert "is:due" in person.screen
        await person.press("escape")
        assert "is:due" not in person.screen

    browse(folder, story, "kitchen", size=(60, 20))


@pytest.mark.parametrize("form", ["id:{}", "{}"])
def test_a_node_is_found_by_its_id(folder: Path, form: str) -> None:
    wanted = list(Bank.open(folder / "kitchen").tree("task"))[2]

    async def story(person: Person) -> None:
        await person.press("slash")
        await person.write(form.format(wanted.id[:8]))
        await person.press("enter", "G")
        assert person.node.id == wanted.id
        assert "1 fit the filter" in person.screen

    browse(folder, story, "kitchen")
