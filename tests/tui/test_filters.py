"""Filters on the trees screen: what they keep, and what they leave as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.tui.screens import memory
from tests.tui.support import Person, browse

FILTERS = {
    "FRIDGE": 1,
    "label:failure": 2,
    "kind:residual label:failure": 1,
    "is:never-recalled": 5,
    "kind:root label:success": 2,
    "-kind:root label:failure": 1,
    "kind:root -label:success object": 1,
    "object heat": 3,
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
        await person.press("g", "j", "l")
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


@pytest.mark.parametrize("away", ["tab", "click"])
@pytest.mark.parametrize("before", ["", "lamp"])
def test_escape_leaves_a_filter_that_is_none_before_anything_else(
    folder: Path, away: str, before: str
) -> None:
    async def story(person: Person) -> None:
        await person.press("slash")
        await person.write(before)
        await person.press("enter", "slash")
        await person.write("kind:x")
        if away == "tab":
            await person.press("tab")
        else:
            await person.pilot.click("#task", offset=(8, 1))
            await person.settle()
        assert "✗ kind: 'x'" in words(person)
        await person.press("escape")
        assert isinstance(person.app.screen, memory.MemoryScreen)
        assert "✗ kind" not in words(person)
        assert person.trees.list_filter.arrangement.text == before
        assert person.outline.has_focus
        if before:
            await person.press("escape")
            assert person.trees.list_filter.arrangement.text == ""
        await person.press("b")
        assert not isinstance(person.app.screen, memory.MemoryScreen)

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
            ("label:foo", "✗ label: 'foo' is not one of its values (failure or success)"),
            ("kind:abc", "✗ kind: 'abc' is not one of its values (root or residual)"),
        ):
            await person.write(typed)
            assert said in words(person)
            assert "fit the filter" not in person.screen
            assert person.said == [], "the line itself says it"
        await person.write("kind:residual label:failure")
        assert "✗ kind" not in person.screen
        assert "1 fit the filter" in person.screen
        await person.press("enter", "slash")
        await person.write("kind:")
        await person.press("escape")
        assert "✗ kind" not in person.screen
        assert "1 fit the filter" in person.screen, "what it is filtered by counts again"

    browse(folder, story, "kitchen", size=size)
