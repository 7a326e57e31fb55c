"""Every screen as it stands at 80×24 and 120×40, and in what colours."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from rich.color import ColorType
from syrupy.assertion import SnapshotAssertion

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.transfer import pack
from deltamem_tui.config import Configuration
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.tui.core import notes
from deltamem_tui.tui.core.work import Info, Progress, WorkPlan
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.screens import bank_actions, banks, report
from tests.tui.pictures import colour_types, colours, fixed
from tests.tui.support import (
    Person,
    browse,
    many_nodes,
    small_bank,
)

THEMES = ("textual-dark", "textual-light", "ansi-dark")
SIZES = ((80, 24), (120, 40))


@pytest.fixture(autouse=True)
def two_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures do not change whenever there is another method."""
    known = {
        "deltamem": "residual experience in two trees",
        "flat": "a list of what worked\ngood when little changes",
    }
    monkeypatch.setattr(bank_actions, "choices", lambda: known)


async def learning(person: Person) -> None:
    """Work that is seven tenths done, and waits to be cancelled."""

    def work(progress: Progress) -> Callable[[], None]:
        progress.advance(7, 10, "$0.0042")
        while not progress.stopped:
            threading.Event().wait(0.001)
        return lambda: None

    person.app.work.start("learning", work, can_stop=True)
    await person.until(lambda: "7 of 10" in person.screen)


async def palette_filled(person: Person) -> None:
    await person.until(lambda: "Filter the nodes" in person.screen)


async def estimated(person: Person) -> None:
    """What comes before a model is paid."""
    sections = [
        Section("2 episodes, 6 questions", "12,345 tokens there, 1,234 back\n$0.0123 at most"),
        Section("Nothing is known of the price", "of some/model", warning=True),
    ]
    question = "Learn from 2 episodes by some/model?"
    person.app.work.start(
        "rehearsing", lambda _: WorkPlan("learning", question, sections, lambda _: Info("learnt"))
    )
    await person.settle()


async def themes_listed(person: Person) -> None:
    await person.until(lambda: "catppuccin-latte" in person.screen)


async def draft_kept(person: Person) -> None:
    """A text that could not be saved, which the next edit offers."""
    place = person.trees.shown.tree_name, person.node.id
    person.trees.home.drafts[place] = {"activation_condition": "heat MY OBJECT"}
    await person.press("e")


async def refused(person: Person) -> None:
    """A form that came to nothing, and is there again with the reason."""
    await person.write("no/such/runs.jsonl")
    await person.press("enter")


async def export_asked(person: Person) -> None:
    await person.write("/tmp/here.deltamem")  # not written
    await person.press("enter")


async def install_asked(person: Person) -> None:
    archive = person.app.folder.parent / "kitchen.deltamem"
    pack(Bank.open(person.app.folder / "kitchen"), with_episodes=True).write(archive)
    await person.write(str(archive))
    await person.press("tab")
    await person.write("again")
    await person.press("enter")


@dataclass(frozen=True)
class View:
    """A screen: the keys to it from the one before, a text to type, and the keys back."""

    keys: tuple[str, ...] = ()
    typed: str = ""
    ready: Callable[[Person], Awaitable[None]] | None = None
    back: tuple[str, ...] = ()


_BACK = ("escape",)
VIEWS = {
    "memory": View(("asterisk", "j", "j")),
    "chain": View(("c",), back=("c",)),
    "help": View(("question_mark",), back=_BACK),
    "palette": View(("colon",), ready=palette_filled, back=_BACK),
    "delete": View(("D",), back=_BACK),
    "edit": View(("e",), back=_BACK),
    "recall": View(("2",), "heat some object and put it in a place", back=_BACK),
    "episodes": View(("3",)),
    "import": View(("i",), back=_BACK),
    "learn": View(("L",), back=_BACK),
    "at-work": View(ready=learning, back=("x",)),
    "report": View(("4",)),
    "banks": View(("b",)),
    "new-bank": View(("n",), back=_BACK),
    "export": View(("X",), back=_BACK),
    "install": View(("i",), back=_BACK),
    "merge": View(("M",), back=_BACK),
}
"""What is looked at in every theme, from the bank `kitchen` on."""
WIDE = ("memory", "recall", "episodes", "report", "banks")
"""What a wide terminal lays out in another way."""

MORE_VIEWS = {
    "open-filter": View(("1", "slash"), "object label:failure", back=("escape", "escape")),
    "move": View(("g", "j", "m", "k"), back=_BACK),
    "estimate": View(("3",), ready=estimated, back=_BACK),
    "export-question": View(("1", "b", "g", "j", "j", "X"), ready=export_asked, back=_BACK),
    "install-question": View(("i",), ready=install_asked, back=_BACK),
    "merge-question": View(("M", "end", "enter"), back=_BACK),
    "empty-episodes": View(("g", "enter")),
    "empty-bank": View(("1",)),
    "empty-report": View(("4",), back=("b",)),
    "frozen-bank": View(("j", "enter")),
    "error-note": View(("e",)),
    "notes": View(("N",), back=_BACK),
    "unfreeze": View(("b", "Z"), back=_BACK),
    "many-nodes": View(("G", "enter")),
    "many-nodes-counted": View(("4",), back=("b",)),
    "draft": View(("g", "j", "j", "enter"), ready=draft_kept, back=("escape", "escape")),
    "themes": View(("T",), ready=themes_listed, back=_BACK),
    "asked-again": View(("3", "i"), ready=refused, back=_BACK),
}
"""What is seen now and then: questions, errors, banks of other kinds."""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual's own patience: a scrollbar that comes one look later must be on the picture."""
    monkeypatch.setattr(notes, "_UNSEEN_SECONDS", 0)  # each key takes the note before it away


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock by which banks changed one day."""
    monkeypatch.setattr(banks, "local_time", lambda _: "2026-07-14 10:22")
    monkeypatch.setattr(report, "local_time", lambda _: "2026-07-14 10:22")


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The banks folder under a name that is the same everywhere, with banks of all kinds."""
    create_bank(folder / "bare", embedder="hashing")
    many_nodes(folder / "many")
    small_bank(folder / "ice").freeze()
    monkeypatch.chdir(folder.parent)
    return Path(folder.name)


@pytest.mark.parametrize("size", SIZES)
def test_the_screens_are_as_they_were(
    here: Path, size: tuple[int, int], snapshot: SnapshotAssertion
) -> None:
    """Words and colours; questions, empty and frozen banks, errors and plots at one size."""

    async def story(views: Mapping[str, View], person: Person) -> None:
        for name, view in views.items():
            await go_to(person, view)
            await still(person)
            for line in person.app.screen.query("Input, TextArea"):
                assert not line.cursor_blink, name  # type: ignore[attr-defined]
            assert fixed(person.screen) == snapshot(name=name)
            assert colours(person.app) == snapshot(name=f"{name} colours")
            await person.press(*view.back)

    views = VIEWS if size == SIZES[0] else {name: VIEWS[name] for name in WIDE}
    browse(here, partial(story, views), "kitchen", size=size)
    if size == SIZES[0]:
        browse(here, partial(story, MORE_VIEWS), "kitchen", size=size)


def test_a_theme_of_the_terminal_asks_for_its_own_colours_alone(here: Path) -> None:
    async def story(person: Person) -> None:
        for view in VIEWS.values():
            await go_to(person, view)
            assert colour_types(person.app) <= {ColorType.DEFAULT, ColorType.STANDARD}
            await person.press(*view.back)

    configuration = Configuration(theme=THEMES[2])
    browse(here, story, "kitchen", size=SIZES[0], configuration=configuration)


async def still(person: Person) -> None:
    """Wait until the screen changes no more: a bar beside many lines grows a look later."""
    before = ""
    while before != person.screen:
        before = person.screen
        await person.settle(work=False)


async def go_to(person: Person, view: View) -> None:
    await person.press(*view.keys)
    if view.typed:
        await person.write(view.typed)
    if view.ready:
        await view.ready(person)


@pytest.mark.parametrize("theme", THEMES)
def test_no_color_shows_none_and_the_cursor_all_the_same(
    here: Path, monkeypatch: pytest.MonkeyPatch, theme: str
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def story(person: Person) -> None:
        for keys in (("asterisk", "j", "j"), ("question_mark",), ("escape", "2"), ("escape", "4")):
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
