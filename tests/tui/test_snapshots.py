"""Every screen as it stands at 80×24 and 120×40, and in what colours."""

from __future__ import annotations

import re
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.color import ColorType
from rich.style import Style
from syrupy.assertion import SnapshotAssertion
from textual import _wait
from textual.app import App

from deltamem_tui.config import Configuration
from deltamem_tui.tui.background import Progress
from deltamem_tui.tui.messages import WorkEnded
from deltamem_tui.tui.widgets import bars
from tests.tui.support import Person, browse, screen_text

THEMES = ("textual-dark", "textual-light", "ansi-dark")
SIZES = ((80, 24), (120, 40))
NARROW = (60, 20)


async def learning(person: Person) -> None:
    """Work that is seven tenths done after seven seconds, and waits to be cancelled."""

    def work(progress: Progress) -> WorkEnded:
        progress.advance(7, 10, "$0.0042")
        while not progress.stopped:
            threading.Event().wait(0.001)
        return WorkEnded("learning")

    person.app.work("learning", work)
    await person.until(lambda: "7 of 10" in person.screen)


async def palette_filled(person: Person) -> None:
    await person.until(lambda: "Step up the chain" in person.screen)


@dataclass(frozen=True)
class View:
    """A screen: the keys to it from the one before, a text to type, and the keys back."""

    keys: tuple[str, ...] = ()
    typed: str = ""
    ready: Callable[[Person], Awaitable[None]] | None = None
    back: tuple[str, ...] = ()


_BACK = ("escape",)
VIEWS = {
    "trees": View(("f",)),
    "chain": View(("c", "left_square_bracket"), back=("c",)),
    "jump": View(("o",), back=_BACK),
    "help": View(("question_mark",), back=_BACK),
    "palette": View(("colon",), ready=palette_filled, back=_BACK),
    "delete": View(("D",), back=_BACK),
    "edit-on-the-page": View(("e",), back=_BACK),
    "recall": View(("2",), "heat some object and put it in a place", back=_BACK),
    "episodes": View(("3",)),
    "import": View(("i",), back=_BACK),
    "extract": View(("E",), back=_BACK),
    "at-work": View(ready=learning, back=("x",)),
    "statistics": View(("4",)),
    "banks": View(_BACK),
    "new-bank": View(("n",), back=_BACK),
    "export": View(("e",), back=_BACK),
    "install": View(("i",), back=_BACK),
    "merge": View(("m",), back=_BACK),
}


def fixed(text: str) -> str:
    """The screen without what the clock says."""
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "2026-01-01 00:00", text)
    return re.sub(r"\d{4}-\d\d-\d\d", "2026-01-01", text)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual's own patience: a scrollbar that comes one look later must be on the picture."""
    monkeypatch.setattr(_wait, "SLEEP_GRANULARITY", 1 / 50)
    monkeypatch.setattr(_wait, "SLEEP_IDLE", 1 / 50 / 20)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock by which work that goes on began seven seconds ago."""
    ticks = chain([0.0], repeat(7.0))
    monkeypatch.setattr(bars, "time", SimpleNamespace(monotonic=lambda: next(ticks)))


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
            if view.ready:
                await view.ready(person)
            for line in person.app.screen.query("Input, TextArea"):
                assert not line.cursor_blink, name  # type: ignore[attr-defined]
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


@pytest.mark.parametrize("theme", THEMES)
def test_no_color_shows_none_and_the_cursor_all_the_same(
    here: Path, monkeypatch: pytest.MonkeyPatch, theme: str
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def story(person: Person) -> None:
        for keys in (("f",), ("question_mark",), ("escape", "2"), ("escape", "4")):
            await person.press(*keys)
            assert colour_types(person.app) <= {ColorType.DEFAULT}
        await person.press("1")
        cursor = [
            segment.text
            for strip in person.app.screen._compositor.render_strips()
            for segment in strip
            if segment.style and segment.style.reverse and "stove" in segment.text
        ]
        assert cursor

    browse(here, story, "kitchen", configuration=Configuration(theme=theme))
