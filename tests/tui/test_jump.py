"""Jump mode: a letter for every place, on every screen."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui.tui.screens.base import BankScreen
from deltamem_tui.tui.screens.jump import LETTERS, JumpScreen, Letter, Place, jump_targets
from tests.tui.support import Person, browse, many_nodes


def places(person: Person) -> dict[str, Place]:
    """Per letter that is shown, the place it stands for."""
    assert isinstance(person.app.screen, JumpScreen)
    shown = [str(label.render()).strip() for label in person.app.screen.query(Letter)]
    targets = jump_targets(person.app.screen_stack[-2])
    assert shown == list(targets)
    return dict(targets)


def letters(person: Person) -> dict[str, str]:
    """Per letter of a pane that is shown, the pane's id."""
    return {
        letter: place.widget.id or ""
        for letter, place in places(person).items()
        if place.row is None
    }


def test_a_letter_stands_on_every_place_and_takes_one_there(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("o")
        assert letters(person) == {"a": "task", "s": "env", "d": "detail"}
        await person.press("s")
        assert person.app.focused is person.trees.outline("env")
        await person.press("2", "escape", "o")
        panes = letters(person)
        assert list(panes.values())[:2] == ["task", "scene"]
        assert {"env-tau_base", "env-matches", "context"} < set(panes.values())
        assert len(panes) == 11 < len(LETTERS)
        await person.press(next(key for key, place in panes.items() if place == "env-tau_base"))
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


def test_a_letter_stands_on_every_line_of_a_list_that_is_in_sight(folder: Path) -> None:
    async def story(person: Person) -> None:
        env = person.trees.outline("env")
        await person.press("o")
        lines = {
            letter: (place.widget.id, place.row)
            for letter, place in places(person).items()
            if place.row is not None
        }
        task, knowledge = [("task", row) for row in range(3)], [("env", row) for row in range(2)]
        assert list(lines.values()) == task + knowledge
        letter = next(letter for letter, line in lines.items() if line == ("env", 1))
        assert f" {letter} " in person.screen.splitlines()[env.content_region.y + 1]
        assert "escape stays here" in person.screen
        await person.press(letter)
        assert person.app.focused is env
        assert person.outline.cursor == 1
        await person.press("o", "a")
        assert person.app.focused is person.trees.outline("task")
        assert person.outline.cursor == 0

    browse(folder, story, "kitchen")


def test_more_places_than_letters_have_two(folder: Path) -> None:
    many_nodes(folder / "many")

    async def story(person: Person) -> None:
        await person.press("G", "o")
        found = places(person)
        assert len(found) > len(LETTERS)
        singles = {each for each in found if len(each) == 1}
        assert singles.isdisjoint(each[0] for each in found if len(each) > 1)
        letter, place = list(found.items())[-1]
        assert len(letter) == 2
        await person.press(letter[0])
        assert isinstance(person.app.screen, JumpScreen)
        shown = [each.label for each in person.app.screen.query(Letter) if each.display]
        assert shown == [each for each in found if each.startswith(letter[0])]
        await person.press(letter[1])
        assert person.app.focused is place.widget
        assert person.outline.tree_name == "env"
        assert person.outline.cursor == place.row
        await person.press("o", letter[0], "9")
        assert isinstance(person.app.screen, BankScreen)
        assert person.outline.cursor == place.row

    browse(folder, story, "many", size=(100, 60))


def test_in_a_list_that_was_scrolled_a_letter_takes_one_to_the_line_it_stands_on(
    folder: Path,
) -> None:
    many_nodes(folder / "many")

    async def story(person: Person) -> None:
        await person.press("G")
        outline = person.trees.outline("task")
        top = outline.scroll_offset.y
        assert top > 0
        for row in (0, 3):
            await person.press("o")
            wanted = Place(outline, row)
            letter = next(each for each, place in places(person).items() if place == wanted)
            assert f" {letter} " in person.screen.splitlines()[outline.content_region.y + row]
            await person.press(*letter)
            assert (outline.scroll_offset.y, outline.cursor) == (top, top + row)

    browse(folder, story, "many")
