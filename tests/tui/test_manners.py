"""Keys, palette, help, themes, sizes."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES
from textual.widget import Widget
from textual.widgets import OptionList

from deltamem_tui.bank.bank import Bank
from deltamem_tui.config import Configuration
from deltamem_tui.errors import ConfigurationError
from deltamem_tui.tui.app import DeltaMemApp
from deltamem_tui.tui.core.actions import ACTIONS, DIALOG_KEYS, Action, Scope
from deltamem_tui.tui.core.forms import FormContent, FormLine
from deltamem_tui.tui.core.job import Info, Progress
from deltamem_tui.tui.models.concepts import CONCEPTS
from deltamem_tui.tui.screens.banks import BanksScreen
from deltamem_tui.tui.screens.base import BankScreen
from deltamem_tui.tui.screens.episodes import EpisodesScreen
from deltamem_tui.tui.screens.help import HelpScreen
from deltamem_tui.tui.screens.recall import RecallScreen
from deltamem_tui.tui.screens.statistics import StatisticsScreen
from deltamem_tui.tui.screens.trees import TreesScreen
from deltamem_tui.tui.widgets.form_dialog import AskDialog
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.outline_view import OutlineView
from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.tui.support import Person, browse, grow

_TAKEN = {"ctrl+q", "ctrl+p", "ctrl+s"}
LINES = (FormLine("first", "First"), FormLine("second", "Second"))


def test_names_are_unique_and_no_action_is_only_on_a_key_that_terminals_take() -> None:
    names = [action.name for action in ACTIONS]
    assert len(set(names)) == len(names)
    for action in ACTIONS:
        assert set(action.keys) - _TAKEN, action.name
        assert action.title[0].isupper()


@pytest.mark.parametrize(
    ("come_up", "wanted"),
    [
        (lambda app: app.session.show("recall"), "task"),
        (lambda app: app.session.show("statistics"), "numbers"),
        (
            lambda app: app.push_screen(AskDialog(FormContent("?", LINES, None, "no", "second"))),
            "second",
        ),
    ],
)
def test_what_comes_up_has_the_focus_at_once_where_it_stays(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    come_up: Callable[[DeltaMemApp], object],
    wanted: str,
) -> None:
    """A key that comes early does not end up in another line."""
    focused, set_focus = [], Screen.set_focus

    def noted(screen: Screen[Any], widget: Widget | None, *rest: Any, **more: Any) -> None:
        focused.append(widget.id if widget else None)
        set_focus(screen, widget, *rest, **more)

    async def story(person: Person) -> None:
        monkeypatch.setattr(Screen, "set_focus", noted)
        come_up(person.app)
        await person.settle()
        assert set(focused) == {wanted}
        assert person.app.focused is not None
        assert person.app.focused.id == wanted

    browse(folder, story, "kitchen")


SCREENS: list[type[Any]] = [
    BanksScreen,
    TreesScreen,
    RecallScreen,
    EpisodesScreen,
    StatisticsScreen,
]


@pytest.mark.parametrize("screen", SCREENS)
def test_no_key_means_two_things_on_a_screen(screen: type[Any]) -> None:
    """But for the few keys that a pane in focus takes before the screen does."""
    keys: dict[str, str] = {}
    for action in ACTIONS:
        if action.scope in screen.SCOPES:
            for key in action.keys:
                assert key not in keys, f"{key}: {keys.get(key)} and {action.name}"
                keys[key] = action.name


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
        assert isinstance(person.app.screen, HelpScreen)
        assert "Edit the node's text in $EDITOR" in person.screen
        assert "ctrl+e" in person.screen
        await person.press("G")
        for keys, does in DIALOG_KEYS:
            assert any(keys in line and does in line for line in person.screen.splitlines())
        await person.press("escape")
        assert not isinstance(person.app.screen, HelpScreen)

    browse(
        folder,
        story,
        "kitchen",
        size=(100, 60),
        configuration=Configuration(keys={"edit": "ctrl+e"}),
    )


def test_a_remapped_key_works_and_the_old_one_does_not(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("d")
        assert person.node.depth == 1
        await person.press("ctrl+y")
        assert person.node.depth == 2

    browse(folder, story, "kitchen", configuration=Configuration(keys={"next_due": "ctrl+y"}))


def test_a_key_for_no_action_names_the_nearest(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="did you mean next_due"):
        DeltaMemApp(folder, None, Configuration(keys={"next_do": "ctrl+n"}))


def test_a_theme_that_is_none_names_the_nearest(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="did you mean nord"):
        DeltaMemApp(folder, None, Configuration(theme="norrd"))


def test_what_explains_the_words_is_whole_in_a_narrow_terminal() -> None:
    drawn = [line for each in CONCEPTS[:2] for line in each.body.split("\n")]
    assert max(map(cell_len, drawn)) <= 48


def test_the_palette_offers_what_can_be_done_with_this_bank(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("colon")
        assert "Freeze or unfreeze" in person.screen
        assert "Merge other banks" not in person.screen

    Bank.open(folder / "kitchen").freeze()
    browse(folder, story, size=(120, 90))


def test_the_palette_finds_an_action_and_does_it(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("colon")
        assert "Step up the chain" in person.screen
        await person.write("next due")
        found = person.app.screen.query_one("CommandList", OptionList)
        await person.until(lambda: found.option_count == 1)
        await person.press("down", "enter")
        assert person.node.depth == 2

    browse(folder, story, "kitchen", size=(120, 90))


@pytest.mark.parametrize(
    ("screen", "typed", "first"),
    [
        ("kitchen", "fre", "In a bank: Freeze or unfreeze this bank"),
        ("kitchen", "un", "Trees: Undo the last change by hand"),
        ("kitchen", "theme", "Everywhere: Choose a theme"),
        (None, "fre", "Banks: Freeze or unfreeze the bank"),
        (None, "ban ver", "Banks: Verify every file of the bank"),
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
        await person.write("make the node a root")
        found = person.app.screen.query_one("CommandList", OptionList)
        await person.until(lambda: found.option_count == 1)
        assert "1, then M" in str(found.get_option_at_index(0).prompt)
        await person.press("down", "enter")
        assert person.trees.is_current

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


def test_quit_asks_nothing(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.pilot.press("q")
        assert person.app._exit

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


def backgrounds(person: Person) -> Counter[str]:
    """How many cells of the screen have which background."""
    found: Counter[str] = Counter()
    for strip in person.app.screen._compositor.render_strips():
        for segment in strip:
            if segment.style and segment.style.bgcolor and segment.style.bgcolor.triplet:
                found[segment.style.bgcolor.triplet.hex] += segment.cell_length
    return found


@pytest.mark.parametrize("theme", ["textual-light", "nord"])
def test_themes_colour_every_screen(folder: Path, theme: str) -> None:
    wanted = BUILTIN_THEMES[theme].background
    own = wanted or BUILTIN_THEMES[theme].to_color_system().generate()["background"]

    async def story(person: Person) -> None:
        for key in "2341":
            await person.press(key)
            ((most, _),) = backgrounds(person).most_common(1)
            assert most.lower() == own.lower(), key

    browse(folder, story, "kitchen", size=(80, 24), configuration=Configuration(theme=theme))


def test_sixty_columns_show_one_tree_at_a_time(folder: Path) -> None:
    async def story(person: Person) -> None:
        assert "heat some object" in person.screen
        assert "a kitchen with" not in person.screen.split("─node")[0]
        await person.press("t")
        assert "a kitchen with" in person.screen.split("─node")[0]
        await person.press("2")
        await person.write("heat some object")
        assert "▶" in person.screen

    browse(folder, story, "kitchen", size=(60, 20))


def test_the_tabs_are_clicked(folder: Path) -> None:
    async def story(person: Person) -> None:
        for words, screen in (("4", "StatisticsScreen"), ("6", "NodeMapScreen")):
            place = person.screen.splitlines()[0].index(words)
            await person.pilot.click("TopBar", offset=(place, 0))
            await person.settle()
            assert type(person.app.screen).__name__ == screen

    for width in (60, 80, 120):
        browse(folder, story, "kitchen", size=(width, 24))


def test_nothing_moves_by_itself(folder: Path) -> None:
    """What textual would scroll in steps, as it does for a wheel, is there at once."""
    grow(
        Bank.open(folder / "kitchen"),
        "task",
        [(f"task {n}", "do", None, "success") for n in range(60)],
    )

    async def story(person: Person) -> None:
        seen: list[float] = []
        outline = person.outline
        outline.watch(outline, "scroll_y", lambda y: seen.append(y), init=False)  # noqa: PLW0108 - textual asks for its parameters
        outline.scroll_to(y=40)
        await person.until(lambda: outline.scroll_offset.y == 40)
        assert seen == [40]

    browse(folder, story, "kitchen")
