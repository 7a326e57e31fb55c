"""Panes: the third column of a wide terminal, and those that grow by keys and by mouse."""

from __future__ import annotations

from pathlib import Path

from textual.events import MouseDown, MouseMove, MouseUp

from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.tui.support import Person, browse, pane


def test_a_wide_terminal_shows_chain_and_episode_beside_the_node(folder: Path) -> None:
    async def story(person: Person) -> None:
        beside = person.app.screen.query_one("#beside", TextPane)
        await person.press("right", "j")
        assert beside.region.x > person.app.screen.query_one("#detail").region.x
        said = pane(person, "beside")
        assert "heat some object" in said
        assert "heat some egg" in said
        await person.resize((120, 40))
        assert not beside.display

    browse(folder, story, "kitchen", size=(180, 40))


def test_a_pane_gets_the_screen_or_a_larger_share_of_it(folder: Path) -> None:
    async def story(person: Person) -> None:
        outline, node = person.outline, person.app.screen.query_one("#detail")
        height, width = outline.size.height, outline.size.width
        await person.press("z")
        assert outline.size.height > 2 * height
        await person.press("z", "ctrl+down", "ctrl+left")
        assert (outline.size.height > height, outline.size.width < width) == (True, True)
        top = node.region.y
        for row in (top + 4, *range(top, top - 8, -1)):
            held = node.region.y
            for kind, at in ((MouseDown, held), (MouseMove, row), (MouseUp, row)):
                # As from a terminal, which does not name a widget; the pilot does.
                person.app.post_message(kind(None, 5, at, 0, 0, 1, False, False, False))
                await person.settle()
            assert node.region.y == row
        await person.pilot.click(node, offset=(5, 0), times=2)
        await person.settle()
        assert person.app.screen.maximized is node

    browse(folder, story, "kitchen")
