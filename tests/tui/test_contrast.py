"""What is drawn can be read in every theme."""

from __future__ import annotations

from pathlib import Path

from rich.color import ColorType
from textual.theme import BUILTIN_THEMES

from deltamem_tui.tui.contrast import contrast, needed
from tests.tui.support import Person, browse


def test_the_colours_of_every_theme_can_be_read(folder: Path) -> None:
    faint: set[tuple[str, str, float]] = set()

    def look(person: Person) -> None:
        for strip in person.app.screen._compositor.render_strips():
            for text, style, _ in strip:
                if style is None or style.color is None or style.bgcolor is None:
                    continue
                colours = style.color, style.bgcolor
                if {each.type for each in colours} == {ColorType.TRUECOLOR}:
                    found = contrast(*(each.get_truecolor() for each in colours))
                    if found < needed(text):
                        faint.add((person.app.theme, text, found))

    async def story(person: Person) -> None:
        themes = list(BUILTIN_THEMES)  # all of them once: each has all styles worked out anew
        for keys in (
            ("c", "slash", *"heat"),
            ("escape", "3"),
            ("4",),
            ("7", "left"),
            ("question_mark",),
        ):
            await person.press(*keys)
            looked, themes = themes, themes[1:2]
            for theme in looked:
                person.app.theme = theme
                await person.settle()
                look(person)

    browse(folder, story, "kitchen")
    assert not faint
