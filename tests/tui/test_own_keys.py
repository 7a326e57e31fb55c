"""The keys of `[keys]`: those that cannot be are refused in one line, before anything is drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.config import Configuration
from deltamem_tui.errors import ConfigurationError
from deltamem_tui.tui.actions import ACTIONS, TOGETHER
from deltamem_tui.tui.app import DeltaMemApp
from deltamem_tui.tui.bank_screens import BANK_SCREENS, bank_screen
from deltamem_tui.tui.own_keys import checked_keys
from deltamem_tui.tui.screens.banks import BanksScreen
from deltamem_tui.tui.screens.base import BrowserScreen
from tests.tui.support import Person, browse


def test_the_scopes_that_share_a_screen_are_those_of_the_screens() -> None:
    screens: list[type[BrowserScreen]] = [BanksScreen, *map(bank_screen, BANK_SCREENS)]
    assert [screen.SCOPES for screen in screens] == list(TOGETHER)


@pytest.mark.parametrize(
    "key", ["/", ",", "slash", "f5", "ctrl+x", "alt+left", "é", "P", "shift+f3", "ctrl+y, %"]
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
    checked_keys({"calibrate": "e"})  # edit is in the trees, this in the statistics
    checked_keys({"edit": "c", "chain": "e"})


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
