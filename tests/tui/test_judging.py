"""How an episode ended, as a person says in the browser, and takes back again."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.memory.credit.credit import put_episode
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.outcomes import with_verdict
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.trajectory.readers.native import from_record
from deltamem_tui.tui.screens.episodes import EpisodesScreen
from deltamem_tui.tui.widgets.episode_list import EpisodeList
from tests.tui.support import (
    LEARNT,
    UNSAID,
    Person,
    browse,
    tasks,
    trajectory,
)


def cursor_on(person: Person) -> str:
    """The task of the episode under the cursor."""
    return tasks(person)[person.app.screen.query_one(EpisodeList).cursor]


def test_of_those_that_wait_the_next_one_is_judged_next(folder: Path) -> None:
    """A row leaves the filter by what is said of it."""
    waiting = [trajectory(f"heat egg {number}") for number in range(4)]
    take_in(Bank.open(folder / "kitchen"), waiting)

    def outcomes() -> list[bool | None]:
        bank = Bank.open(folder / "kitchen")
        found = [episode(bank, each.id) for each in waiting]
        return [each.outcome.success for each in found if each]

    async def story(person: Person) -> None:
        await person.press("3", "slash")
        await person.write("outcome:unknown")
        await person.press("enter", "j", "j")
        assert tasks(person) == [UNSAID.task, *(f"heat egg {number}" for number in range(4))]
        await person.press("plus")
        assert outcomes() == [None, True, None, None]
        assert cursor_on(person) == "heat egg 2"
        await person.press("minus")
        assert outcomes() == [None, True, False, None]
        assert cursor_on(person) == "heat egg 3"
        await person.press("plus")
        assert cursor_on(person) == "heat egg 0"  # behind the last row there is none

    browse(folder, story, "kitchen", size=(120, 40))


@pytest.mark.parametrize("screen", ["3", "5"])
def test_a_learnt_episode_is_overturned_after_a_question_and_waits_again(
    folder: Path, screen: str
) -> None:
    """By the same key wherever episodes are listed; elsewhere that key collapses, or lowers."""
    doubted = with_verdict(LEARNT, Outcome(False, None, "judge", "the egg is cold"))
    bank = Bank.open(folder / "kitchen")
    with bank.writing() as batch:
        put_episode(batch, bank, doubted)
        batch.log("judge")

    async def story(person: Person) -> None:
        await person.press(screen, "minus")
        assert "Mark a learnt episode as a failure?" in person.screen
        assert "1 learnt episode waits again" in person.screen
        await person.press("n")
        assert Bank.open(folder / "kitchen").episodes.state(LEARNT.id) == EpisodeState.LEARNT
        await person.press("minus", "y")
        assert "1 learnt episode waits again" in person.said[-1]

    browse(folder, story, "kitchen")
    bank = Bank.open(folder / "kitchen")
    assert bank.episodes.state(LEARNT.id) == EpisodeState.WAITING
    assert from_record(bank.episodes.record(LEARNT.id) or {}).outcome.success is False


def test_nothing_is_written_to_a_frozen_bank(folder: Path) -> None:
    Bank.open(folder / "kitchen").freeze()

    async def story(person: Person) -> None:
        await person.press("3")
        for number, key in enumerate(("plus", "minus", "i", "E"), start=1):
            await person.press(key)
            assert len(person.said) == number
            assert "the bank is frozen" in person.said[-1]
            assert isinstance(person.app.screen, EpisodesScreen)

    browse(folder, story, "kitchen")


def test_all_that_a_filter_shows_are_judged_at_once(folder: Path) -> None:
    unsaid = [trajectory(f"bake bread {number}") for number in range(3)]
    take_in(Bank.open(folder / "kitchen"), unsaid)

    def outcomes() -> list[bool | None]:
        bank = Bank.open(folder / "kitchen")
        found = [episode(bank, each) for each in bank.episodes.ids()]
        return [each.outcome.success for each in found if each]

    before = [True, True, None, None, None, None]

    async def story(person: Person) -> None:
        await person.press("3", "slash")
        await person.write("bake bread")
        await person.press("enter", "F", "n")
        assert outcomes() == before
        await person.press("F", "y")
        assert outcomes() == [True, True, None, False, False, False]
        assert person.said[-1] == "3 episodes are failures now"
        await person.press("S", "y")
        assert outcomes() == [True, True, None, True, True, True]

    browse(folder, story, "kitchen")
