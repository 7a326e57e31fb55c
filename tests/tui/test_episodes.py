"""The episodes screen: what was given, what became of it, filters and orders, learning."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.trajectory.model import Step
from deltamem_tui.tui.screens.episodes import EpisodesScreen
from deltamem_tui.tui.screens.memory import MemoryScreen
from tests.tui.support import (
    LEARNT,
    READY,
    UNSAID,
    Person,
    browse,
    pane,
    tasks,
    trajectory,
)


def test_episodes_with_their_outcome_and_nodes(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3")
        assert isinstance(person.app.screen, EpisodesScreen)
        assert "3 episodes · 2 waiting" in person.screen
        assert f"Episode {LEARNT.id}" in pane(person, "steps")
        assert "1  go to fridge 1\nThe fridge 1 is closed." not in pane(person, "steps")
        assert "1  go to fridge 1\n→ The fridge 1 is closed." in pane(person, "steps")
        assert "task root" in pane(person, "node")
        await person.press("right_square_bracket")
        assert "heat some object with a broken microwave" in pane(person, "node")
        await person.press("enter")
        assert isinstance(person.app.screen, MemoryScreen)
        assert person.node.payload["activation_condition"].endswith("broken microwave")

    browse(folder, story, "kitchen", size=(120, 40))


def test_of_an_episode_of_many_steps_the_pane_shows_the_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key is answered at once; the pager and the clipboard get every step."""
    steps = tuple(Step(f"go to fridge {number}", "It is closed.") for number in range(1, 3001))
    long = replace(trajectory("open all fridges"), steps=steps)
    take_in(Bank.open(folder / "kitchen"), [long])
    copied: list[str] = []

    async def story(person: Person) -> None:
        monkeypatch.setattr(person.app.texts, "copy", copied.append)
        await person.press("3", "G")
        await person.press("y", "tab", "y", "G")
        assert "498  go to fridge 498" in person.screen
        assert "… 2,502 more parts: press v to read all" in person.screen
        assert copied[0] == copied[1]
        assert copied[0].count("go to fridge") == 3000

    browse(folder, story, "kitchen")


def test_episodes_are_filtered_and_sorted_as_the_nodes_are(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3", "G", "slash")
        assert "outcome:unknown" in " ".join(person.screen.split())
        await person.write("outcome:unknown")
        assert "3 episodes · 2 waiting · L learns from them · 1 fit the filter" in person.screen
        await person.press("enter")
        assert tasks(person) == [UNSAID.task]
        assert f"Episode {UNSAID.id}" in pane(person, "steps")
        await person.press("S")
        assert "marked as a success" in person.said[-1]
        assert tasks(person) == []
        assert "No episode fits the filter." in pane(person, "steps")
        await person.press("escape")
        assert tasks(person) == [LEARNT.task, READY.task, UNSAID.task]
        await person.press("s", "s")
        assert tasks(person) == [UNSAID.task, READY.task, LEARNT.task]
        assert "3 episodes · 1 waiting · by newest" not in person.screen
        assert "· by newest" in person.screen
        await person.press("slash")
        await person.write("is:lurnt")
        assert "✗ is: 'lurnt' is not one of its values" in person.screen
        await person.press("escape")
        assert "by newest" in person.screen
        assert isinstance(person.app.screen, EpisodesScreen)

    browse(folder, story, "kitchen")


def test_extract_learns_what_waits(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3", "L", "enter")
        assert person.said[-1].startswith("learnt 1 episode by rules, no cost")
        assert person.said[-1].endswith("1 waiting")

    browse(folder, story, "kitchen")
    bank = Bank.open(folder / "kitchen")
    assert bank.episodes.state(READY.id) == EpisodeState.LEARNT
    assert bank.episodes.state(UNSAID.id) == EpisodeState.WAITING
