"""Every action of the registry by each of its keys: what it changes, and what it says."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import partial
from math import prod
from pathlib import Path

import pyperclip  # type: ignore[import-untyped]
import pytest
from textual.css.scalar import Unit
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, OptionList

from deltamem_tui.bank.bank import Bank
from deltamem_tui.config import Configuration
from deltamem_tui.tui.app import DeltaMemApp
from deltamem_tui.tui.core.actions import ACTIONS, SCOPE_TITLES, Action
from deltamem_tui.tui.core.state import load_theme, save_theme
from deltamem_tui.tui.screens.comparison import ComparisonScreen
from deltamem_tui.tui.screens.contest import ContestScreen
from deltamem_tui.tui.screens.episodes import EpisodesScreen
from deltamem_tui.tui.screens.growth import GrowthScreen
from deltamem_tui.tui.screens.node_map import NodeMapScreen
from deltamem_tui.tui.screens.recall import RecallScreen
from deltamem_tui.tui.screens.review import ReviewScreen
from deltamem_tui.tui.screens.statistics import StatisticsScreen
from deltamem_tui.tui.screens.trees import TreesScreen
from deltamem_tui.tui.widgets.dialogs import ConfirmDialog
from deltamem_tui.tui.widgets.form_dialog import AskDialog
from deltamem_tui.tui.widgets.growth import GrowthSlider
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.node_map import NodeMapView
from deltamem_tui.tui.widgets.plots import Plot
from deltamem_tui.tui.widgets.review_list import ReviewList
from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.effort import one_of
from tests.tui.deeds import BROKEN_MICROWAVE, BROKEN_STOVE, DEEDS
from tests.tui.support import Person, browse


def share(pane: Widget, axis: str) -> float:
    """A pane's share of the room along an axis, and of those that it lies in."""
    scalars = (
        getattr(each.styles, axis) for each in pane.ancestors_with_self if isinstance(each, Widget)
    )
    return prod(float(each.value) for each in scalars if each and each.unit == Unit.FRACTION)


def lab_state(screen: Screen[object]) -> dict[str, object]:
    """What may change in the recall lab."""
    if not isinstance(screen, RecallScreen):
        return {}
    tried = screen.query_one("#task-tau_base", Input).value
    return {"tried": tried, "beside": str(screen.query_one("#beside").border_title)}


def screen_state(person: Person) -> dict[str, object]:
    """What may change on the screen in front."""
    screen = person.app.screen
    if isinstance(screen, AskDialog):
        return {"title": screen.title_text}
    if isinstance(screen, ConfirmDialog):
        return {"title": screen.question}
    if isinstance(screen, TreesScreen):
        node = person.outline.node
        assert node is not None
        return {
            "tree": person.outline.tree_name,
            "node": node.payload["activation_condition"],
            "depth": node.depth,
            "label": node.label,
            "step": screen.query_one("#detail", TextPane).current,
            "order": screen.list_filter.arrangement.order,
            "width": share(person.outline, "width"),
            "height": share(person.outline, "height"),
        }
    if isinstance(screen, NodeMapScreen):
        title = str(screen.query_one(NodeMapView).border_title)
        return {"point": screen.node_id, "mapped": title.partition(" ·")[0]}
    if isinstance(screen, ComparisonScreen):
        return {"left": str(screen.query_one("#before").border_title)}
    if isinstance(screen, EpisodesScreen):
        number = str(screen.query_one("#node", TextPane).border_title)
        match = screen.query_one("#steps", TextPane).match
        order = screen.list_filter.arrangement.order
        return {"order": order, "number": number, "match": match}
    if isinstance(screen, GrowthScreen):
        return {"commit": screen.query_one(GrowthSlider).number, "playing": screen.playing}
    if isinstance(screen, ReviewScreen):
        return {"blind": screen.query_one(ReviewList).blind}
    if isinstance(screen, StatisticsScreen):
        return {"scores": screen.query_one("#scores", Plot).display}
    return lab_state(screen)


def contest_state(person: Person) -> dict[str, object]:
    """The same of a contest."""
    screen = person.app.screen
    if not isinstance(screen, ContestScreen):
        return {}
    steps = str(screen.query_one(TextPane).border_title) == "game"
    letter = screen.view.letters[screen.contestants.cursor]
    return {"contestant": letter, "steps": steps, "finished": screen.view.contest.finished}


def state(person: Person) -> dict[str, object]:
    """All that an action may change, as far as it is there."""
    app, screen, focused = person.app, person.app.screen, person.app.focused
    found: dict[str, object] = {
        "screen": type(screen).__name__,
        "focus": focused.id or type(focused).__name__ if focused else None,
        "over": app._exit,
        "busy": app.work.state is not None,
        "sealed": Bank.open(app.folder / "kitchen").frozen,
        "copied": bool(app.clipboard),
        "maximized": screen.maximized is not None,
    }
    if isinstance(focused, LineList):
        found |= {"line": focused.cursor, "lines": focused.line_count()}
    found |= screen_state(person) | contest_state(person)
    if app.session.home is not None and not app.session.home.is_closed:
        bank = app.session.bank
        found |= {
            "frozen": bank.frozen,
            "event": bank.commit.event,
            "tau": bank.manifest.settings["task"]["tau_base"],
        }
    return found


def test_the_table_names_the_actions_of_the_registry() -> None:
    assert list(DEEDS) == [action.name for action in ACTIONS]


async def by_key(person: Person, action: Action, key: str) -> None:
    await person.press(key)


async def by_palette(person: Person, action: Action, _: str) -> None:
    """Find the action by its whole title, which may be the beginning of another's."""
    title = f"{SCOPE_TITLES[action.scope]}: {action.title}"
    person.app.action_command_palette()  # in a line one types in, its key is a letter
    await person.settle(work=False)
    person.app.screen.query_one(Input).value = title
    found = person.app.screen.query_one("CommandList", OptionList)

    def place() -> int | None:
        options = map(found.get_option_at_index, range(found.option_count))
        return next(
            (n for n, each in enumerate(options) if str(each.prompt).startswith(title)), None
        )

    await person.until(lambda: place() is not None)
    found.highlighted = place()
    await person.press("enter")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
def test_an_action_does_what_it_says(
    model_folder: Path, tmp_path: Path, action: Action, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By one of its keys or by the palette."""
    deed = DEEDS[action.name]
    monkeypatch.setattr(pyperclip, "copy", lambda _: None)
    paged: list[str] = []

    async def story(key: str, person: Person) -> None:
        person.app.texts.editor = lambda text: text.replace("heat some", "warm some")
        person.app.texts.pager = paged.append
        if deed.before:
            await person.press(*deed.before)
        await deed.ready(person)
        before, told = state(person) | {"paged": False}, len(person.said)
        await (by_key if key else by_palette)(person, action, key)
        after = state(person) | {"paged": bool(paged)}
        assert {each: after.get(each) for each in deed.becomes} == deed.becomes
        for each, value in deed.becomes.items():
            assert before.get(each) != value, f"{each} was so before {key}"
        assert deed.becomes or deed.said
        if deed.said:
            assert len(person.said) == told + 1
            assert deed.said in person.said[-1]
        else:
            assert len(person.said) == told, person.said

    for number, key in enumerate(one_of((*action.keys, ""))):
        paged.clear()
        folder = shutil.copytree(model_folder, tmp_path / str(number) / "banks")
        browse(folder, partial(story, key), deed.bank)


@pytest.mark.parametrize(
    ("before", "title", "becomes"),
    [
        (("2",), "In a bank: Copy what is shown to the clipboard", {"copied": True}),
        (("shift+tab",), "In an outline: Expand all below", {"rows": 5}),
        (("l", "shift+tab"), "In an outline: Collapse everything", {"rows": 3}),
        (("shift+tab",), "In an outline: Go to the next failure", {"node": BROKEN_STOVE}),
        (("t", "shift+tab", "shift+tab"), "In an outline: Expand all below", {"tree": "task"}),
    ],
)
def test_the_palette_does_it_wherever_the_focus_is(
    folder: Path,
    before: tuple[str, ...],
    title: str,
    becomes: Mapping[str, object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a line one types in, and in the pane beside the outline."""
    monkeypatch.setattr(pyperclip, "copy", lambda _: None)

    async def story(person: Person) -> None:
        await person.press(*before)
        scope, _, words = title.partition(": ")
        named = (each for each in ACTIONS if each.title == words)
        action = next(each for each in named if SCOPE_TITLES[each.scope] == scope)
        if before == ("2",):
            await person.write(BROKEN_MICROWAVE)
        await by_palette(person, action, "")
        found = state(person)
        if isinstance(person.app.screen, TreesScreen):
            found["rows"] = person.outline.line_count()
        assert {each: found.get(each) for each in becomes} == becomes

    browse(folder, story, "kitchen")


def test_a_theme_is_chosen_by_name(folder: Path) -> None:
    async def story(person: Person) -> None:
        before = person.app.theme
        await person.press("T")
        await person.write("textual-light")
        found = person.app.screen.query_one("CommandList", OptionList)
        await person.until(lambda: found.option_count == 1)
        await person.press("down")
        assert person.app.theme == "textual-light"
        await person.press("escape")
        assert person.app.theme == before
        assert not load_theme()
        await person.press("T")
        await person.write("textual-light")
        found = person.app.screen.query_one("CommandList", OptionList)
        await person.until(lambda: found.option_count == 1)
        await person.press("down", "enter")
        assert isinstance(person.app.screen, TreesScreen)
        assert (before, person.app.theme) == ("textual-dark", "textual-light")
        assert not person.said

    async def another_time(person: Person) -> None:
        assert person.app.theme == "textual-light"

    async def settled(person: Person) -> None:
        assert person.app.theme == "nord"
        person.app.theme = "textual-dark"
        await person.settle()
        assert person.said == ["textual-dark until you quit: deltamem.toml names the theme"]

    browse(folder, story, "kitchen")
    browse(folder, another_time)
    browse(folder, settled, configuration=Configuration(theme="nord"))
    browse(folder, another_time)


def test_a_remembered_theme_that_is_none_is_forgotten(folder: Path) -> None:
    save_theme("no-such-theme")
    assert DeltaMemApp(folder).theme == "textual-dark"
