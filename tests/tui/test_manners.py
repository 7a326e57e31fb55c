"""Keys, palette, help, themes, sizes."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import pytest
from textual.binding import Binding
from textual.dom import DOMNode
from textual.events import Key
from textual.widgets import OptionList

from deltamem_tui.config import Configuration
from deltamem_tui.errors import ConfigurationError
from deltamem_tui.tui.app import DeltaMemApp
from deltamem_tui.tui.core.actions import (
    ACTIONS,
    Action,
    Scope,
    checked_keys,
)
from deltamem_tui.tui.core.work import Info, Progress
from deltamem_tui.tui.screens.banks import BanksScreen
from deltamem_tui.tui.screens.base import BankScreen
from deltamem_tui.tui.screens.episodes import EpisodesScreen
from deltamem_tui.tui.screens.help import WORDS
from deltamem_tui.tui.screens.memory import MemoryScreen
from deltamem_tui.tui.screens.recall import RecallScreen
from deltamem_tui.tui.screens.report import ReportScreen
from deltamem_tui.tui.widgets.dialogs import ReadingDialog
from deltamem_tui.tui.widgets.forms import AskDialog
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.outline_view import OutlineView
from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.places import DOCS
from tests.tui.support import Person, browse

_TAKEN = {"ctrl+q", "ctrl+p", "ctrl+s"}


def test_names_are_unique_and_no_action_is_only_on_a_key_that_terminals_take() -> None:
    names = [action.name for action in ACTIONS]
    assert len(set(names)) == len(names)
    for action in ACTIONS:
        assert set(action.keys) - _TAKEN, action.name
        assert action.title[0].isupper()


SCREENS: list[type[Any]] = [
    *(BanksScreen, MemoryScreen, RecallScreen, EpisodesScreen, ReportScreen),
]


def test_a_letter_means_one_thing_wherever_it_means_anything() -> None:
    """Its sentences share a verb."""
    verbs: dict[str, set[str]] = {}
    for action in ACTIONS:
        for key in action.keys:
            if len(key) == 1 and key.isalpha():
                verbs.setdefault(key, set()).add(action.title.split(maxsplit=1)[0])
    assert {key: found for key, found in verbs.items() if len(found) > 1} == {}


def owners(scope: Scope) -> list[type[DOMNode]]:
    """Who can do the actions of a scope."""
    here: dict[Scope, list[type[DOMNode]]] = {
        "app": [DeltaMemApp],
        "tree": [OutlineView],
        "list": [LineList, TextPane],
        "bank": [BankScreen],
    }
    return here.get(scope) or [screen for screen in SCREENS if screen.SCOPES[0] == scope]


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
def test_every_action_has_its_method_and_its_keys_where_its_scope_says(action: Action) -> None:
    for owner in owners(action.scope):
        name = action.method.partition("(")[0]
        on_app = name.startswith("app.")
        assert hasattr(DeltaMemApp if on_app else owner, f"action_{name.removeprefix('app.')}")
        bound = [each for kind in owner.__mro__ for each in kind.__dict__.get("BINDINGS", ())]
        assert action.name in [each.id for each in bound if isinstance(each, Binding)]


def test_help_names_every_key_of_the_screen(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("question_mark")
        assert isinstance(person.app.screen, ReadingDialog)
        assert "Edit the node's texts" in person.screen
        assert "What was learnt, one node a line" in person.screen
        assert "f9" in person.screen
        await person.press("G")
        assert "frozen     protected" in person.screen, "the words come last"
        await person.press("escape")
        assert not isinstance(person.app.screen, ReadingDialog)

    browse(
        folder,
        story,
        "kitchen",
        size=(100, 60),
        configuration=Configuration(keys={"edit": "f9"}),
    )


def test_help_begins_with_what_the_screen_is_for(folder: Path) -> None:
    async def story(person: Person) -> None:
        said = set[str]()
        for keys in ("", "enter", "2 escape", "3", "4"):
            await person.press(*keys.split(), "f1")
            said.add(person.app.screen.query_one(TextPane).sections[0].body)
            await person.press("escape")
        assert "" not in said
        assert len(said) == 5

    browse(folder, story)


def test_every_screen_and_dialog_takes_the_key_of_help(folder: Path) -> None:
    async def story(person: Person) -> None:
        for key in ("", *"1342"):
            if key == "1":
                await person.press("enter")
            await person.press(*key)
            await person.press("f1")
            assert isinstance(person.app.screen, ReadingDialog)
            assert "Keys: " in person.screen
            await person.press("f1")
            assert not isinstance(person.app.screen, ReadingDialog)
        await person.press("escape", "3")  # out of the question
        for key in ("i", "L", "A"):
            await person.press(key)
            dialog = person.app.screen
            await person.press("f1")
            assert person.app.screen is dialog
            assert isinstance(dialog, AskDialog), key
            await person.press("escape")

    browse(folder, story, size=(100, 60))


def test_a_key_for_no_action_names_the_nearest(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="did you mean next_node"):
        DeltaMemApp(folder, None, Configuration(keys={"next_nod": "ctrl+n"}))


def test_a_theme_that_is_none_names_the_nearest(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"there are .*nord"):
        DeltaMemApp(folder, None, Configuration(theme="norrd"))


@pytest.mark.parametrize(
    ("screen", "typed", "first"),
    [
        ("kitchen", "un", "Memory: Undo the last change by hand"),
        ("kitchen", "theme", "Everywhere: Choose a theme"),
        (None, "fre", "Banks: Freeze or unfreeze the bank"),
        (None, "verif", "Banks: Verify every file of the bank"),
    ],
)
def test_the_palette_has_what_begins_as_typed_above_what_holds_the_letters(
    folder: Path, screen: str | None, typed: str, first: str
) -> None:
    async def story(person: Person) -> None:
        await person.press("colon")
        await person.write(typed)
        found = person.app.screen.query_one("CommandList", OptionList)
        await person.until(
            lambda: bool(found.option_count) and first in str(found.get_option_at_index(0).prompt)
        )

    browse(folder, story, screen, size=(120, 40))


def test_the_palette_leads_to_the_screen_that_has_what_was_sought(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3", "colon")
        await person.write("mark the node as a failure")
        found = person.app.screen.query_one("CommandList", OptionList)
        await person.until(lambda: found.option_count == 1)
        await person.press("down", "enter")
        assert person.node.label == "failure", "it is done on the screen that has it"
        await person.press("colon")
        await person.write("zzzzz")
        await person.until(lambda: "No matches found" in person.screen)
        await person.press("escape", "colon")
        await person.write("export the bank into one file")
        found = person.app.screen.query_one("CommandList", OptionList)
        await person.until(lambda: found.option_count == 1)
        await person.press("down", "enter")
        assert "Export kitchen" in person.screen

    browse(folder, story, "kitchen", size=(120, 40))


@pytest.mark.parametrize("size", [(60, 20), (80, 24)])
def test_the_keys_that_lead_out_and_to_help_are_always_there(
    folder: Path, size: tuple[int, int]
) -> None:
    async def story(person: Person) -> None:
        for screen in "1234":
            await person.press(screen, *["escape"] * (screen == "2"))
            *_, last = person.screen.splitlines()
            assert last.endswith(" q quit  ? help"), screen
            assert "esc back" in last, screen
            assert len(last) <= size[0]
        await person.press("1", "b")
        assert isinstance(person.app.screen, BanksScreen)
        *_, last = person.screen.splitlines()
        assert last.endswith(" q quit  ? help")
        await person.pilot.click("KeyBar", offset=(len(last) - 12, 0))
        assert person.app._exit

    browse(folder, story, "kitchen", size=size)


@pytest.mark.parametrize("key", ["1", "2", "3", "4", "b", "question_mark", "colon"])
def test_a_key_behind_the_one_that_quits_does_nothing(folder: Path, key: str) -> None:
    async def story(person: Person) -> None:
        for each in ("q", key):  # both are there before the first is answered
            person.app.post_message(Key(each, None))
        await person.settle()

    browse(folder, story, "kitchen")


def test_who_presses_ctrl_c_is_told_the_key_that_quits(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("ctrl+c")
        assert person.said[-1] == "ctrl+x quits"

    async def usual(person: Person) -> None:
        await person.press("ctrl+c")
        assert person.said[-1] == "q quits"

    browse(folder, usual, "kitchen")
    browse(folder, story, "kitchen", configuration=Configuration(keys={"quit": "ctrl+x"}))


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_defect_in_long_work_ends_the_browser_and_is_kept(folder: Path, cancelled: bool) -> None:
    defect, go_on = ValueError("a defect"), threading.Event()

    def fail(progress: Progress) -> Info:
        assert go_on.wait(20)
        assert progress.stopped is cancelled
        raise defect

    failures: list[BaseException | None] = []
    states: list[object] = []

    async def story(person: Person) -> None:
        person.app.work.start("failing", fail, can_stop=True)
        if cancelled:
            person.app.action_cancel_work()
        go_on.set()
        await person.until(lambda: person.app.failure is not None)
        failures.append(person.app.failure)
        states.append(person.app.work.state)

    with pytest.raises(ValueError, match="a defect"):
        browse(folder, story, "kitchen")
    assert failures == [defect]
    assert states == [None]


def test_the_tabs_are_clicked(folder: Path) -> None:
    async def story(person: Person) -> None:
        for words, screen in (("4", "ReportScreen"), ("3", "EpisodesScreen")):
            place = person.screen.splitlines()[0].index(words)
            await person.pilot.click("TopBar", offset=(place, 0))
            await person.settle()
            assert type(person.app.screen).__name__ == screen

    for width in (60, 80, 120):
        browse(folder, story, "kitchen", size=(width, 24))


def test_a_theme_is_chosen_by_name(folder: Path) -> None:
    async def story(person: Person) -> None:
        before = person.app.theme
        await person.press("T")
        await person.write("textual-light")
        found = person.app.screen.query_one("CommandList", OptionList)
        await person.until(lambda: found.option_count == 1)
        await person.press("down")
        await person.press("escape")
        assert person.app.theme == before
        await person.press("T")
        await person.write("textual-light")
        found = person.app.screen.query_one("CommandList", OptionList)
        await person.until(lambda: found.option_count == 1)
        await person.press("down", "enter")
        assert isinstance(person.app.screen, MemoryScreen)
        assert (before, person.app.theme) == ("textual-dark", "textual-light")
        (said,) = person.said
        assert 'theme = "textual-light"' in said

    async def settled(person: Person) -> None:
        assert person.app.theme == "nord"
        assert not person.said

    browse(folder, story, "kitchen")
    browse(folder, settled, configuration=Configuration(theme="nord"))


@pytest.mark.parametrize("key", ["/", ",", "f5", "ctrl+x", "é", "ctrl+pageup", "ctrl+y, %"])
def test_keys_that_there_are(key: str) -> None:
    chosen = {"undo": key, "filter": "f12", "plan": "f11"}
    assert checked_keys(chosen).keys() == chosen.keys()


def test_what_is_said_names_the_keys_that_were_chosen(folder: Path) -> None:
    keys = {"undo": "Y", "move": "ctrl+x", "make_root": "ctrl+y", "step_back": "B"}
    keys |= {"next_node": "f9", "import_logs": "I"}

    async def story(person: Person) -> None:
        await person.press("F")
        assert person.said[-1].endswith("is a failure now; Y undoes it")
        await person.press("ctrl+x")
        assert person.said[-1] == (
            "go to its new parent and press ctrl+x, or ctrl+y to make it a root; B cancels"
        )
        await person.press("B", "D", "y")
        assert person.said[-1] == "deleted 3 nodes; Y undoes it"
        await person.press("Y", "y", "3")
        assert "f9 shows the next" in person.screen

    configuration = Configuration(keys=keys)
    browse(folder, story, "kitchen", size=(140, 60), configuration=configuration)


def test_a_reader_must_know_twelve_words_and_finds_them_on_one_page() -> None:
    page = (DOCS / "browser.md").read_text(encoding="utf-8")
    assert len(WORDS) <= 12
    table = page.partition("## The words")[2].partition("##")[0]
    _, *words = re.findall(r"(?m)^\| ([a-z ]+) \| ([^|]+) \|$", table)
    assert words == [*WORDS.items()]
