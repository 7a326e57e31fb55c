"""The keys of `[keys]`: those that cannot be are refused in one line, before anything is drawn."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual import events
from textual._xterm_parser import XTermParser

import deltamem_tui.tui
from deltamem_tui.config import Configuration
from deltamem_tui.errors import ConfigurationError
from deltamem_tui.tui.app import DeltaMemApp
from deltamem_tui.tui.core.actions import ACTIONS, TOGETHER
from deltamem_tui.tui.core.keymap import checked_keys
from deltamem_tui.tui.screens.banks import BanksScreen
from deltamem_tui.tui.screens.comparison import ComparisonScreen
from deltamem_tui.tui.screens.contest import ContestScreen
from deltamem_tui.tui.screens.episodes import EpisodesScreen
from deltamem_tui.tui.screens.growth import GrowthScreen
from deltamem_tui.tui.screens.node_map import NodeMapScreen
from deltamem_tui.tui.screens.recall import RecallScreen
from deltamem_tui.tui.screens.review import ReviewScreen
from deltamem_tui.tui.screens.statistics import StatisticsScreen
from deltamem_tui.tui.screens.trees import TreesScreen
from tests.tui.support import Person, browse


def test_the_scopes_that_share_a_screen_are_those_of_the_screens() -> None:
    screens = (
        *(BanksScreen, TreesScreen, RecallScreen, EpisodesScreen, StatisticsScreen),
        *(ReviewScreen, NodeMapScreen, GrowthScreen, ContestScreen),
        ComparisonScreen,
    )
    assert [screen.SCOPES for screen in screens] == list(TOGETHER)


@pytest.mark.parametrize(
    "key",
    [
        "/",
        ",",
        "slash",
        "f5",
        "ctrl+x",
        "alt+left",
        "é",
        "P",
        "shift+left",
        "alt+u",
        "alt+shift+u",
        "alt+%",
        "ctrl+pageup",
        "ctrl+y, %",
    ],
)
def test_keys_that_there_are(key: str) -> None:
    chosen = {"undo": key, "filter": "f12", "plan": "f11"}
    assert checked_keys(chosen).keys() == chosen.keys()


@pytest.mark.parametrize(
    "key", ["banana", "", "ctrl+", "ctrl+banana", "crtl+x", "<any>", "ignore", "f5,", "xx"]
)
def test_keys_that_there_are_not(key: str) -> None:
    with pytest.raises(ConfigurationError, match="which there is not") as refusal:
        checked_keys({"undo": key})
    assert len(str(refusal.value).splitlines()) == 1
    assert str(refusal.value).startswith("deltamem.toml: [keys] gives undo")


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("ctrl+q", "quits whatever is said here"),
        ("ctrl+i", "terminals send as tab"),
        ("ctrl+m", "terminals send as enter"),
        ("ctrl+[", "terminals send as escape"),
        ("ctrl+h", "terminals send as backspace"),
        ("return", "terminals send as enter"),
        ("shift+u", "terminals send as U"),
        ("shift+f3", "terminals send as f15"),
        ("ctrl+1", "terminals do not send"),
        ("ctrl+%", "terminals do not send"),
        ("ctrl+shift+u", "terminals do not send"),
        ("super+u", "terminals do not send"),
        ("alt+U", "terminals do not send"),
        ("alt+enter", "terminals do not send"),
    ],
)
def test_keys_that_would_not_do_what_they_are_given(key: str, why: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        checked_keys({"undo": key})
    assert f"gives undo the key {key!r}, which {why} (such as" in str(refusal.value)


@pytest.mark.parametrize("key", ["ctrl+x", "ctrl+l", "alt+u", "alt+shift+u", "alt+left", "f5"])
def test_a_key_that_is_taken_is_read_from_what_terminals_send(key: str) -> None:
    sent = {
        "ctrl+x": "\x18",
        "ctrl+l": "\x0c",
        "alt+u": "\x1bu",
        "alt+shift+u": "\x1bU",
        "alt+left": "\x1b[1;3D",
        "f5": "\x1b[15~",
    }
    parser = XTermParser()
    read = [*parser.feed(sent[key]), *parser.feed("")]
    assert [event.key for event in read if isinstance(event, events.Key)] == [key]
    assert checked_keys({"undo": key}) == {"undo": key}


@pytest.mark.parametrize(
    ("name", "key", "other"),
    [
        ("edit", "c", "chain"),
        ("help", "q", "quit"),
        ("undo", "j", "line_down"),
        ("line_down", "u", "undo"),
        ("sort", "f5,space", "fold"),
        ("quit", "n", "create_bank"),
    ],
)
def test_no_key_is_given_to_two_actions_on_a_screen(name: str, key: str, other: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        checked_keys({name: key})
    assert f"gives {name} the key" in str(refusal.value)
    assert f"which {other} has on the same screen" in str(refusal.value)


def test_on_screens_of_their_own_actions_may_share_a_key_and_two_may_change_places() -> None:
    here, there = {"calibrate": "e"}, {"edit": "c", "chain": "e"}  # statistics; trees
    assert (checked_keys(here), checked_keys(there)) == (here, there)


def test_the_keys_that_everybody_gets_go_together() -> None:
    assert checked_keys({action.name: ",".join(action.keys) for action in ACTIONS})


def test_a_sign_works_by_itself_and_by_its_name(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("percent_sign")
        assert person.node.depth == 2

    for key in ("%", "percent_sign"):
        browse(folder, story, "kitchen", configuration=Configuration(keys={"next_due": key}))


def test_the_program_refuses_before_it_draws(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="which chain has on the same screen"):
        DeltaMemApp(folder, None, Configuration(keys={"edit": "c"}))


def test_what_is_said_names_the_keys_that_were_chosen(folder: Path) -> None:
    keys = {"undo": "Y", "move": "ctrl+x", "make_root": "ctrl+y", "step_back": "B"}
    keys |= {"calibrate": "C", "next_node": "f9", "import_logs": "I"}

    async def story(person: Person) -> None:
        await person.press("L")
        assert person.said[-1].endswith("is a failure now; Y undoes it")
        await person.press("ctrl+x")
        assert person.said[-1] == (
            "go to its new parent and press ctrl+x, or ctrl+y to make it a root; B cancels"
        )
        await person.press("B", "D", "y")
        assert person.said[-1] == "deleted 3 nodes; Y undoes it"
        await person.press("Y", "3")
        assert "f9 shows the next" in person.screen
        await person.press("4", "w")
        assert person.said[-1] == "no thresholds were proposed yet: C proposes some"
        assert "Press C to score every episode" in person.screen

    configuration = Configuration(keys=keys)
    browse(folder, story, "kitchen", size=(140, 60), configuration=configuration)


def test_no_sentence_has_a_key_of_its_own() -> None:
    """Keys can be given to other actions: a sentence asks for the key that an action has."""
    verbs = "undoes|asks for|imports|saves|shows the next|opens it|to import|to create"
    letter = re.compile(rf"(?<![\w+])[A-Za-z] (?:{verbs})\b|[Pp]ress [A-Za-z0-9]\b")
    files = [*Path(deltamem_tui.tui.__file__).parent.rglob("*.py")]
    assert len(files) > 50
    found = {file.name: letter.findall(file.read_text(encoding="utf-8")) for file in files}
    assert {name: words for name, words in found.items() if words} == {}
