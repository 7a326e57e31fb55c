"""What a filter sought is marked where it stands, and can be gone to."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.tui.support import Person, browse


def marked(person: Person) -> list[str]:
    """What is yellow on the screen, in the terminal's own colours."""
    return [
        segment.text.casefold()
        for strip in person.app.screen._compositor.render_strips()
        for segment in strip
        if segment.style and segment.style.color and segment.style.color.number == 3
    ]


def test_the_words_of_a_filter_are_marked_and_gone_to(folder: Path) -> None:
    async def story(person: Person) -> None:
        person.app.theme = "ansi-dark"
        await person.press("slash")
        await person.write("Microwave label:failure")
        assert marked(person) == ["microwave"]
        await person.press("enter", "g", "ctrl+n")
        assert person.node.label == "failure"  # behind the two that only lead to it
        await person.press("shift+tab", "ctrl+n")
        pane = person.app.focused
        assert isinstance(pane, TextPane)
        assert pane.match is not None
        assert "^n next match" in person.screen
        await person.press("escape")
        assert marked(person) == []
        assert "next match" not in person.screen
        assert not person.said
        await person.press("ctrl+n")
        assert len(person.said) == 1

    browse(folder, story, "kitchen")


def test_the_next_match_of_a_long_text_is_in_sight_and_goes_round(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3", "slash")
        await person.write("closed")
        await person.press("enter")
        pane = person.app.screen.query_one("#steps", TextPane)
        await person.resize((60, 14))
        gone_to = []
        for key in ("ctrl+n", "ctrl+n", "ctrl+p"):
            await person.press(key)
            assert pane.match is not None
            assert 0 <= pane.match - pane.scroll_offset.y < pane.scrollable_content_region.height
            gone_to.append(pane.match)
        assert len({*gone_to}) == 1  # the episode says it once

    browse(folder, story, "kitchen")
