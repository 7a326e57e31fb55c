"""Every screen as it stands at 80×24 and 120×40, and in what colours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.color import ColorType
from rich.style import Style
from syrupy.assertion import SnapshotAssertion
from textual.app import App

from deltamem_tui.config import Configuration
from tests.tui.support import Person, browse, screen_text

THEMES = ("textual-dark", "textual-light", "ansi-dark")
SIZES = ((80, 24), (120, 40))
NARROW = (60, 20)


@dataclass(frozen=True)
class View:
    """A screen: the keys to it from the one before, a text to type, and the keys back."""

    keys: tuple[str, ...]
    typed: str = ""
    back: tuple[str, ...] = ()


VIEWS = {
    "trees": View(("f",)),
    "chain": View(("c", "left_square_bracket"), back=("c",)),
    "jump": View(("o",), back=("escape",)),
    "help": View(("question_mark",), back=("escape",)),
    "delete": View(("D",), back=("escape",)),
    "recall": View(("2",), "heat some object and put it in a place", ("escape",)),
    "episodes": View(("3",)),
    "import": View(("i",), back=("escape",)),
    "statistics": View(("4",)),
    "banks": View(("escape",)),
    "new-bank": View(("n",), back=("escape",)),
}


def fixed(text: str) -> str:
    """The screen without what the clock says."""
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "2026-01-01 00:00", text)


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The banks folder under a name that is the same everywhere."""
    monkeypatch.chdir(folder.parent)
    return Path(folder.name)


@pytest.mark.parametrize("theme", THEMES)
def test_the_screens_are_as_they_were(here: Path, theme: str, snapshot: SnapshotAssertion) -> None:
    """Words and colours at two sizes, and the words at a narrow one."""

    async def story(person: Person) -> None:
        for name, view in VIEWS.items():
            await person.press(*view.keys)
            if view.typed:
                await person.write(view.typed)
            for size in SIZES:
                await person.resize(size)
                place = f"{name} {size[0]}x{size[1]}"
                assert colours(person.app) == snapshot(name=f"{place} colours")
                if theme == THEMES[0]:
                    assert fixed(person.screen) == snapshot(name=place)
                if theme.startswith("ansi"):
                    assert colour_types(person.app) <= {ColorType.DEFAULT, ColorType.STANDARD}
            if theme == THEMES[0]:
                await person.resize(NARROW)
                assert fixed(person.screen) == snapshot(name=f"{name} 60x20")
                await person.resize(SIZES[0])
            await person.press(*view.back)

    browse(here, story, "kitchen", size=SIZES[0], configuration=Configuration(theme=theme))


def colours(app: App[None]) -> str:
    """How each line is coloured: the styles by letter, then how many cells have which."""
    letters: dict[str, str] = {}
    lines = []
    for strip in app.screen._compositor.render_strips():
        runs: list[tuple[str, int]] = []
        for segment in strip:
            letter = letters.setdefault(str(segment.style), chr(ord("a") + len(letters)))
            before = runs.pop()[1] if runs and runs[-1][0] == letter else 0
            runs.append((letter, before + segment.cell_length))
        lines.append(" ".join(f"{letter}{cells}" for letter, cells in runs))
    legend = [f"{letter}: {style}" for style, letter in letters.items()]
    return "\n".join([*legend, *lines])


def colour_types(app: App[None]) -> set[ColorType]:
    types = set()
    for strip in app.screen._compositor.render_strips():
        for segment in strip:
            for colour in (segment.style.color, segment.style.bgcolor) if segment.style else ():
                if colour is not None:
                    types.add(colour.type)
    return types


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
