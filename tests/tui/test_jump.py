"""Jump mode: a letter for every place, on every screen."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import Static

from deltamem_tui.tui.screens.base import BankScreen
from deltamem_tui.tui.screens.jump import LETTERS, JumpScreen, jump_targets
from tests.tui.support import Person, browse


def letters(person: Person) -> dict[str, str]:
    """Per letter that is shown, the id of the place it stands for."""
    assert isinstance(person.app.screen, JumpScreen)
    shown = [str(label.render()).strip() for label in person.app.screen.query(Static)]
    targets = jump_targets(person.app.screen_stack[-2])
    assert shown == list(targets)
    return {letter: widget.id or "" for letter, widget in targets.items()}


def test_a_letter_stands_on_every_place_and_takes_one_there(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("o")
        assert letters(person) == {"a": "task", "s": "env", "d": "detail"}
        await person.press("s")
        assert person.app.focused is person.trees.outline("env")
        await person.press("2", "escape", "o")
        places = letters(person)
        assert list(places.values())[:2] == ["task", "scene"]
        assert {"env-tau_base", "env-matches", "context"} < set(places.values())
        assert len(places) == 9 < len(LETTERS)
        await person.press(next(key for key, place in places.items() if place == "env-tau_base"))
        assert person.app.focused is not None
        assert person.app.focused.id == "env-tau_base"

    browse(folder, story, "kitchen")


def test_it_works_from_a_line_one_types_in_and_can_be_left(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("2", "ctrl+o", "escape")
        assert isinstance(person.app.screen, BankScreen)
        await person.press("ctrl+o", "9")
        assert isinstance(person.app.screen, BankScreen)
        assert person.app.focused is not None
        assert person.app.focused.id == "task"

    browse(folder, story, "kitchen")


def test_what_is_not_in_sight_has_no_letter(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("o")
        assert list(letters(person).values()) == ["task", "detail"]

    browse(folder, story, "kitchen", size=(60, 20))
