"""Every screen as it stands at 80×24 and 120×40, and in what colours."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.color import ColorType
from rich.style import Style
from syrupy.assertion import SnapshotAssertion
from textual.app import App

from deltamem_tui.config import Configuration
from tests.tui.support import Person, browse, screen_text

SIZES = [(80, 24), (120, 40), (60, 20)]
# The keys to each screen, and those from there back to the trees as they were at first.
STORIES: dict[str, tuple[str, ...]] = {
    "trees": ("f",),
    "chain": ("c", "left_square_bracket"),
    "help": ("question_mark",),
    "delete": ("D",),
    "recall": ("2",),
    "episodes": ("3",),
    "statistics": ("4",),
    "banks": ("escape",),
}
BACK: dict[str, tuple[str, ...]] = {
    "trees": (),
    "chain": ("c",),
    "help": ("escape",),
    "delete": ("escape",),
    "recall": ("escape",),
    "episodes": (),
    "statistics": (),
    "banks": (),
}


def fixed(text: str) -> str:
    """The screen without what the clock says."""
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "2026-01-01 00:00", text)


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The banks folder under a name that is the same everywhere."""
    monkeypatch.chdir(folder.parent)
    return Path(folder.name)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_screens_are_as_they_were(
    here: Path, size: tuple[int, int], snapshot: SnapshotAssertion
) -> None:
    async def story(person: Person) -> None:
        for name, keys in STORIES.items():
            await person.press(*keys)
            if name == "recall":
                await person.write("heat some object and put it in a place")
            assert fixed(person.screen) == snapshot(name=name)
            await person.press(*BACK[name])

    browse(here, story, "kitchen", size=size)


def colour_types(app: App[None]) -> set[ColorType]:
    types = set()
    for strip in app.screen._compositor.render_strips():
        for segment in strip:
            for colour in (segment.style.color, segment.style.bgcolor) if segment.style else ():
                if colour is not None:
                    types.add(colour.type)
    return types


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
def test_terminal_colours_are_the_terminals_own(here: Path, theme: str) -> None:
    async def story(person: Person) -> None:
        for name, keys in STORIES.items():
            await person.press(*keys)
            assert colour_types(person.app) <= {ColorType.DEFAULT, ColorType.STANDARD}
            await person.press(*BACK[name])

    browse(here, story, "kitchen", configuration=Configuration(theme=theme))


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark"])
def test_failures_and_the_cursor_can_be_told(here: Path, theme: str) -> None:
    async def story(person: Person) -> None:
        await person.press("f", "j")
        strips = person.app.screen._compositor.render_strips()
        styles: dict[str, Style] = {}
        for strip in strips:
            for segment in strip:
                for words in ("broken stove", "cool some object and", "broken microwave"):
                    if words in segment.text and segment.style:
                        styles.setdefault(words, segment.style)
        failure, cursor, plain = (
            styles[words] for words in ("broken stove", "cool some object and", "broken microwave")
        )
        assert failure.color != plain.color
        assert cursor != plain
        assert "✗ heat" in screen_text(person.app)

    browse(here, story, "kitchen", size=(140, 40), configuration=Configuration(theme=theme))


def test_no_color_shows_shades_of_grey(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def story(person: Person) -> None:
        for strip in person.app.screen._compositor.render_strips():
            for segment in strip:
                for colour in (segment.style.color, segment.style.bgcolor) if segment.style else ():
                    if colour is not None and colour.triplet is not None:
                        red, green, blue = colour.triplet
                        assert red == green == blue

    browse(here, story, "kitchen")
