"""Every action of the registry by each of its keys: what it changes, and what it says."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

import pyperclip  # type: ignore[import-untyped]
import pytest
from textual.css.scalar import Unit
from textual.widget import Widget
from textual.widgets import Input, OptionList

from deltamem_tui.bank.bank import Bank
from deltamem_tui.config import Configuration
from deltamem_tui.memory.credit.crediting import put_episode
from deltamem_tui.memory.editing import edit
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.episodes.verdicts import with_word
from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.tui.app import DeltaMemApp
from deltamem_tui.tui.core.actions import ACTIONS, SCOPE_TITLES, Action
from deltamem_tui.tui.core.job import Info, Progress, WorkPlan
from deltamem_tui.tui.core.state import save_theme
from deltamem_tui.tui.screens.comparison import ComparisonScreen
from deltamem_tui.tui.screens.episodes import EpisodesScreen
from deltamem_tui.tui.screens.node_map import NodeMapScreen
from deltamem_tui.tui.screens.review import ReviewScreen
from deltamem_tui.tui.screens.statistics import StatisticsScreen
from deltamem_tui.tui.screens.trees import TreesScreen
from deltamem_tui.tui.widgets.dialogs import ConfirmDialog
from deltamem_tui.tui.widgets.form_dialog import AskDialog
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.node_map import NodeMapView
from deltamem_tui.tui.widgets.plots import Plot
from deltamem_tui.tui.widgets.review_list import ReviewList
from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.places import DOCS
from tests.tui.support import Person, browse, take_in_many

BROKEN_MICROWAVE = "heat some object with a broken microwave"
BROKEN_STOVE = "heat some object with a broken stove"


async def nothing(person: Person) -> None:
    """Most actions need nothing but the keys that lead to them."""


async def something_goes_on(person: Person) -> None:
    """Work that ends only when it is asked to."""

    def work(progress: Progress) -> Info:
        while not progress.stopped:
            threading.Event().wait(0.001)
        return Info("stopped as asked")

    person.app.work.start("waiting", work, can_stop=True)
    await person.pilot.pause()


async def a_plan_that_waits(person: Person) -> None:
    """A plan that came up while the person did something else."""
    plan = WorkPlan("planned", "Shall it be?", [], lambda _: Info("done as planned"))
    gone_on = threading.Event()

    def work(_: Progress) -> WorkPlan:
        assert gone_on.wait(30)
        return plan

    person.app.work.start("planning", work)
    await person.pilot.press("j", "k")
    gone_on.set()
    await person.settle()


async def another_bank(person: Person) -> None:
    """A bank that came while the list was looked at."""
    shutil.copytree(person.app.folder / "kitchen", person.app.folder / "other")


async def another_bank_in_the_list(person: Person) -> None:
    """The same, once the list shows it."""
    await another_bank(person)
    await person.press("R")


async def two_banks(person: Person) -> None:
    """Two banks side by side, the second with one node that says something else."""
    await another_bank(person)
    other = Bank.open(person.app.folder / "other")
    edit(other, "task", node := next(iter(other.tree("task"))), dict.fromkeys(node.payload, "new"))
    await person.press("R", "c", "enter")


async def a_replay(person: Person) -> None:
    """A finished replay on the screen."""
    await person.press("r")
    await person.write(str(DOCS / "sample" / "replay.json"))
    await person.press("enter")


async def another_threshold(person: Person) -> None:
    """A threshold that the bank does not have yet."""
    await person.press("t")
    await person.write("0.75")
    await person.press("enter")


async def a_doubt(person: Person) -> None:
    """An episode that the log calls a success and a judge a failure, and the queue."""
    bank = Bank.open(person.app.session.bank.path)
    with bank.writing() as batch:
        known = next(each for each in episodes(bank) if each.outcome.success)
        put_episode(batch, bank, with_word(known, Outcome(False, None, "judge")))
        batch.log("judge")
    person.app.session.look_for_changes()
    await person.settle()
    await person.press("5")


async def a_verdict(person: Person) -> None:
    """One that was given in the queue."""
    await a_doubt(person)
    await person.press("s")


OVERTURNS = "A failure overturns what counts. Write it?"


async def a_match(person: Person) -> None:
    """A question with an answer, and the answer in focus."""
    await person.press("slash")
    await person.write(BROKEN_MICROWAVE)
    await person.press("enter")


async def scores(person: Person) -> None:
    """The scores of episodes enough for a proposal."""
    take_in_many(Bank.open(person.app.session.bank.path))
    person.app.session.look_for_changes()
    await person.settle()
    await person.press("c")


@dataclass(frozen=True)
class Deed:
    """What an action does.

    Attributes:
        becomes: What is otherwise afterwards, see `state`.
        said: What the person is told; empty if nothing.
        before: The keys that lead to where the action can be done.
        ready: What else must be so.
        bank: The bank that is open; None on the list of banks.
    """

    becomes: Mapping[str, object]
    said: str = ""
    before: tuple[str, ...] = ()
    ready: Callable[[Person], Awaitable[None]] = nothing
    bank: str | None = "kitchen"


def asks(title: str, *before: str, bank: str | None = "kitchen") -> Deed:
    """An action that opens a dialog."""
    return Deed({"screen": "AskDialog", "title": title}, before=before, bank=bank)


def shows(screen: str, *before: str) -> Deed:
    """An action that goes to another screen."""
    return Deed({"screen": screen}, before=before)


DEEDS: Mapping[str, Deed] = {
    # Everywhere
    "help": shows("HelpScreen"),
    "palette": shows("Palette"),
    "jump": shows("JumpScreen"),
    "theme": shows("Palette"),
    "cancel": Deed({"busy": False}, "stopped as asked", ready=something_goes_on),
    "plan": Deed({"screen": "ConfirmDialog", "title": "Shall it be?"}, ready=a_plan_that_waits),
    "notes": Deed({"screen": "NotesDialog"}, before=("x",)),
    "quit": Deed({"over": True}),
    "back": shows("TreesScreen", "3"),
    "forward": shows("EpisodesScreen", "3", "less_than_sign"),
    "next_pane": Deed({"focus": "env", "tree": "env"}),
    "previous_pane": Deed({"focus": "detail"}),
    "maximize": Deed({"maximized": True}),
    "wider": Deed({"width": 1.25}),
    "narrower": Deed({"width": 0.8}),
    "taller": Deed({"height": 1.25}),
    "shorter": Deed({"height": 0.8}),
    # Banks
    "open_bank": Deed({"screen": "TreesScreen"}, bank=None),
    "create_bank": asks("A new bank", bank=None),
    "freeze_bank": Deed({"sealed": True}, "froze kitchen", bank=None),
    "verify_bank": Deed({}, "kitchen: all files are intact", bank=None),
    "export_bank": asks("Export kitchen", bank=None),
    "install_bank": asks("Install a bank", bank=None),
    "merge_banks": asks("Merge into kitchen", bank=None),
    "look_again": Deed({"lines": 2}, bank=None, ready=another_bank),
    "open_replay": asks("Open a finished replay", bank=None),
    "compare_banks": Deed(
        {"screen": "AskDialog", "title": "Compare kitchen with"},
        bank=None,
        ready=another_bank_in_the_list,
    ),
    # Map
    "map_left": Deed({"point": "19967c78d855de11"}, before=("6",)),
    "map_down": Deed({"point": "5f23936c4d779eaf"}, before=("6",)),
    "map_up": Deed({"point": "98c225eec47bd488"}, before=("6",)),
    "map_right": Deed({"point": "5f23936c4d779eaf"}, before=("6",)),
    "map_node": Deed({"screen": "TreesScreen"}, before=("6",)),
    "other_map": Deed({"mapped": "env tree"}, before=("6",)),
    # Two banks
    "leave_comparison": Deed({"screen": "BanksScreen"}, bank=None, ready=two_banks),
    "merge_right": Deed({"screen": "ConfirmDialog"}, bank=None, ready=two_banks),
    "swap_sides": Deed({"left": "other"}, bank=None, ready=two_banks),
    # A finished replay
    "leave_replay": Deed({"screen": "BanksScreen"}, bank=None, ready=a_replay),
    "copy_replay": Deed({"copied": True}, "copied ", bank=None, ready=a_replay),
    # Any screen of a bank
    "show_trees": shows("TreesScreen", "2"),
    "show_recall": shows("RecallScreen"),
    "show_episodes": shows("EpisodesScreen"),
    "show_statistics": shows("StatisticsScreen"),
    "show_review": shows("ReviewScreen"),
    "show_map": shows("NodeMapScreen"),
    "step_back": shows("BanksScreen", "escape"),
    "close_bank": shows("BanksScreen"),
    "freeze": Deed({"frozen": True, "sealed": True}, "froze kitchen"),
    "verify": Deed({}, "kitchen: all files are intact"),
    "copy": Deed({"copied": True}, "copied "),
    "read_whole": Deed({"paged": True}),
    # Trees
    "evidence": Deed({"screen": "EpisodesScreen"}),
    "filter": Deed({"focus": "filter"}),
    "sort": Deed({"order": "newest"}),
    "chain": Deed({"step": 2}, before=("f",)),
    "step_down": Deed({"step": 1}, before=("f", "c", "[", "[")),
    "step_up": Deed({"step": 1}, before=("f", "c")),
    "edit": Deed(
        {"node": "warm some object and put it in a place", "event": "edit"}, "u undoes it"
    ),
    "relabel": Deed({"label": "failure", "event": "relabel"}, "is a failure now; u undoes it"),
    "move": Deed(
        {"depth": 3, "event": "move"},
        "moved 2 nodes below",
        before=("d", "c", "c", "g", "j", "j", "m", "d"),
    ),
    "make_root": Deed({"depth": 1, "event": "move"}, "among the roots", before=("d",)),
    "delete": Deed(
        {"screen": "ConfirmDialog", "title": "Delete 3 nodes of the task tree?"},
    ),
    "undo": Deed({"label": "success", "event": "undo"}, "undone: relabel of ", before=("L",)),
    "other_tree": Deed({"tree": "env", "focus": "env"}),
    # An outline
    "expand": Deed({"lines": 5}),
    "collapse": Deed({"lines": 3}, before=("l",)),
    "fold": Deed({"lines": 4}),
    "expand_below": Deed({"lines": 5}),
    "collapse_all": Deed({"lines": 3}, before=("f",)),
    "parent": Deed({"node": BROKEN_MICROWAVE}, before=("f",)),
    "root": Deed({"depth": 1, "line": 0}, before=("f",)),
    "next_failure": Deed({"node": BROKEN_STOVE, "lines": 5}),
    "previous_failure": Deed({"node": BROKEN_STOVE}, before=("G",)),
    "next_due": Deed({"node": BROKEN_MICROWAVE, "lines": 4}),
    # Recall
    "ask_task": Deed({"focus": "task"}, before=("2",)),
    "ask_scene": Deed({"focus": "scene"}, before=("2",)),
    "thresholds": Deed({"focus": "task-tau_base"}, before=("2",)),
    "save_parameters": Deed(
        {"tau": 0.75, "event": "parameters"},
        "saved: task tree threshold 0.75, failure penalty ",
        before=("2",),
        ready=another_threshold,
    ),
    "show_node": Deed(
        {"screen": "TreesScreen", "node": BROKEN_MICROWAVE}, before=("2",), ready=a_match
    ),
    "match_evidence": Deed({"screen": "EpisodesScreen"}, before=("2",), ready=a_match),
    # Episodes
    "filter_episodes": Deed({"focus": "filter"}, before=("3",)),
    "sort_episodes": Deed({"order": "newest"}, before=("3",)),
    "import_logs": asks("Import episodes", "3"),
    "extract": asks("Learn from the waiting episodes", "3"),
    "relearn": asks("Learn the episodes of kitchen again", "3"),
    "succeeded": Deed({"event": "outcome"}, "is a success now", before=("3", "G")),
    "failed": Deed({"event": "outcome"}, "is a failure now", before=("3", "G")),
    "take_back": Deed(
        {"event": "undo"},
        "is as before: outcome unknown (source: unknown)",
        before=("3", "G", "plus"),
    ),
    "next_node": Deed({"number": "node 2 of 9 · n shows the next"}, before=("3",)),
    "episode_node": Deed({"screen": "TreesScreen"}, before=("3",)),
    # Statistics
    "calibrate": Deed({"scores": True}, before=("4",)),
    "apply_proposal": Deed(
        {"event": "parameters"}, "saved: task tree threshold ", before=("4",), ready=scores
    ),
    # Review
    "verdict_success": Deed({"event": "outcome"}, "is a success now", ready=a_doubt),
    "verdict_failure": Deed({"title": OVERTURNS}, ready=a_doubt),
    "verdict_unclear": Deed({"event": "outcome"}, "is unclear to you now", ready=a_doubt),
    "take_back_verdict": Deed({"event": "undo"}, "is as before: success", ready=a_verdict),
    "blind": Deed({"blind": True}, ready=a_doubt),
    # Lists
    "line_down": Deed({"line": 1}),
    "line_up": Deed({"line": 1}, before=("G",)),
    "page_down": Deed({"line": 4}, before=("asterisk",)),
    "page_up": Deed({"line": 0}, before=("asterisk", "G")),
    "first": Deed({"line": 0}, before=("G",)),
    "last": Deed({"line": 2}),
}


def share(pane: Widget, axis: str) -> float:
    """A pane's share of the room along an axis, and of those that it lies in."""
    scalars = (
        getattr(each.styles, axis) for each in pane.ancestors_with_self if isinstance(each, Widget)
    )
    return prod(float(each.value) for each in scalars if each and each.unit == Unit.FRACTION)


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
        return {"order": screen.list_filter.arrangement.order, "number": number}
    if isinstance(screen, ReviewScreen):
        return {"blind": screen.query_one(ReviewList).blind}
    if isinstance(screen, StatisticsScreen):
        return {"scores": screen.query_one("#scores", Plot).display}
    return {}


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
    found |= screen_state(person)
    if app.session.home is not None and app.session.home.is_read:
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


@pytest.mark.parametrize(
    ("name", "key"),
    [(action.name, key) for action in ACTIONS for key in (*action.keys, "")],
    ids=lambda part: part or "by palette",
)
def test_an_action_does_what_it_says(
    folder: Path, name: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    deed = DEEDS[name]
    action = next(each for each in ACTIONS if each.name == name)
    monkeypatch.setattr(pyperclip, "copy", lambda _: None)
    paged: list[str] = []

    async def story(person: Person) -> None:
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

    browse(folder, story, deed.bank)


@pytest.mark.parametrize(
    ("before", "title", "becomes"),
    [
        (("2", "slash"), "In a bank: Copy what is shown to the clipboard", {"copied": True}),
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
        action = next(each for each in ACTIONS if each.title == words)
        assert SCOPE_TITLES[action.scope] == scope
        if before == ("2", "slash"):
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
