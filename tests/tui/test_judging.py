"""How an episode ended, as a person says in the browser, and takes back again."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.memory.credit.crediting import put_episode
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.outcomes import give_outcome
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.memory.episodes.verdicts import with_word
from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.trajectory.readers.native import from_record
from deltamem_tui.tui.core import bank_session
from deltamem_tui.tui.screens.episodes import EpisodesScreen
from deltamem_tui.tui.widgets.episode_list import EpisodeList
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


def test_an_outcome_is_given_to_an_episode_without_one(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3", "G")
        for key, success in (("plus", True), ("minus", False)):
            await person.press(key)
            assert " now; " in person.said[-1]
            assert person.app.screen.query_one(EpisodeList).cursor == 2
            bank = Bank.open(folder / "kitchen")
            outcome = from_record(bank.episodes.record(UNSAID.id) or {}).outcome
            assert (outcome.success, outcome.source) == (success, "user")
            assert bank.episodes.state(UNSAID.id) == EpisodeState.WAITING

    browse(folder, story, "kitchen")


def cursor_on(person: Person) -> str:
    """The task of the episode under the cursor."""
    return tasks(person)[person.app.screen.query_one(EpisodeList).cursor]


def test_of_those_that_wait_the_next_one_is_judged_next_and_the_last_word_taken_back(
    folder: Path,
) -> None:
    """A row leaves the filter by what is said of it; what the note promises holds for it."""
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
        await person.press("k", "u")
        assert person.said[-1].startswith(f"{waiting[3].id} is as before: outcome unknown")
        assert cursor_on(person) == "heat egg 3"
        assert outcomes() == [None, True, False, None]
        await person.press("u")
        assert person.said[-1].startswith(f"{waiting[2].id} is as before")
        assert cursor_on(person) == "heat egg 2"
        for key in ("plus", "u", "u"):
            await person.press(key)
        assert outcomes() == [None, None, None, None]
        assert cursor_on(person) == "heat egg 1"
        await person.press("u")
        assert f"{waiting[1].id}: you gave it no outcome" in person.said[-1]

    browse(folder, story, "kitchen", size=(120, 40))


def test_what_was_said_of_the_only_row_is_taken_back(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3", "slash")
        await person.write("outcome:unknown")
        await person.press("enter", "minus")
        assert tasks(person) == []
        await person.press("u")
        assert person.said[-1].startswith(f"{UNSAID.id} is as before")
        assert tasks(person) == [UNSAID.task]

    browse(folder, story, "kitchen")


def test_what_cannot_be_taken_back_does_not_hide_what_was_said_before(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3", "minus", "y")
        await person.press("j", "plus")
        give_outcome(Bank.open(folder / "kitchen"), READY.id, success=False)
        await person.press("u")
        assert f"{READY.id}: its outcome is failure" in person.said[-1]
        await person.press("u")
        assert person.said[-1] == f"{LEARNT.id} is as before: success (source: stated)"

    browse(folder, story, "kitchen")


def test_what_the_log_stated_is_taken_back_word_by_word(folder: Path) -> None:
    stated = replace(
        trajectory("wash the pan"), outcome=Outcome(False, 0.0, "stated", "step_limit")
    )
    take_in(Bank.open(folder / "kitchen"), [stated])

    async def story(person: Person) -> None:
        await person.press("3", "G")
        before = pane(person, "steps")
        assert "failure (source: stated) · reward 0 · step_limit" in before
        await person.press("plus")
        assert person.said[-1] == f"{stated.id} is a success now; u takes it back"
        await person.press("minus")
        assert "failure (source: user) · " in pane(person, "steps")
        await person.press("u")
        assert person.said[-1] == f"{stated.id} is as before: success (source: user)"
        await person.press("u")
        assert pane(person, "steps") == before
        assert person.said[-1].endswith("failure (source: stated) · reward 0 · step_limit")
        await person.press("u")
        assert "no outcome that could be taken back" in person.said[-1]
        assert pane(person, "steps") == before

    browse(folder, story, "kitchen", size=(120, 40))


def test_what_another_process_said_since_is_not_taken_back_unseen(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bank_session, "_SECONDS_BETWEEN_LOOKS", 3_600.0)
    bank = Bank.open(folder / "kitchen")

    async def story(person: Person) -> None:
        await person.press("3", "j", "minus")
        assert person.said[-1].startswith(f"{READY.id} is a failure now")
        give_outcome(Bank.open(bank.path), READY.id, success=True)
        await person.press("u")
        assert (
            f"{READY.id}: its outcome is success (source: user) by now, which stays"
            in person.said[-1]
        )
        known = episode(Bank.open(bank.path), READY.id)
        assert known is not None
        assert known.outcome == Outcome(True, None, "user")
        await person.press("u")  # the refusal was the reason to look: it is seen by now
        assert person.said[-1] == f"{READY.id} is as before: failure (source: user)"

    browse(folder, story, "kitchen")


def test_what_was_learnt_from_is_not_taken_back(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3", "G", "plus", "E", "enter")
        assert person.said[-1].startswith("learnt 2 episodes")
        await person.press("u")
        assert "was learnt from as a success since, which stays" in person.said[-1]
        await person.press("minus", "y", "u")
        assert person.said[-1] == f"{UNSAID.id} is as before: success (source: user)"

    browse(folder, story, "kitchen")
    bank = Bank.open(folder / "kitchen")
    kept = from_record(bank.episodes.record(UNSAID.id) or {}).outcome
    assert kept == Outcome(True, None, "user")
    assert bank.episodes.state(UNSAID.id) == EpisodeState.LEARNT


@pytest.mark.parametrize("screen", ["3", "5"])
def test_a_learnt_episode_is_overturned_after_a_question_and_waits_again(
    folder: Path, screen: str
) -> None:
    """By the same key wherever episodes are listed; elsewhere that key collapses, or lowers."""
    doubted = with_word(LEARNT, Outcome(False, None, "judge", "the egg is cold"))
    bank = Bank.open(folder / "kitchen")
    with bank.writing() as batch:
        put_episode(batch, bank, doubted)
        batch.log("judge")

    async def story(person: Person) -> None:
        await person.press(screen, "minus")
        assert "Mark a learnt episode as a failure?" in person.screen
        assert "It touches: " in person.screen
        assert "lets the episode wait to be learnt anew" in person.screen
        await person.press("n")
        assert Bank.open(folder / "kitchen").episodes.state(LEARNT.id) == EpisodeState.LEARNT
        await person.press("minus", "y")
        assert "what it taught was taken back" in person.said[-1]

    browse(folder, story, "kitchen")
    bank = Bank.open(folder / "kitchen")
    assert bank.episodes.state(LEARNT.id) == EpisodeState.WAITING
    assert from_record(bank.episodes.record(LEARNT.id) or {}).outcome.success is False


def test_nothing_is_written_to_a_frozen_bank(folder: Path) -> None:
    Bank.open(folder / "kitchen").freeze()

    async def story(person: Person) -> None:
        await person.press("3")
        for number, key in enumerate(("plus", "minus", "u", "i", "E"), start=1):
            await person.press(key)
            assert len(person.said) == number
            assert "the bank is frozen" in person.said[-1]
            assert isinstance(person.app.screen, EpisodesScreen)

    browse(folder, story, "kitchen")


def test_all_that_a_filter_shows_are_judged_at_once_and_taken_back(folder: Path) -> None:
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
        assert person.said[-1] == "3 episodes are failures now; u takes it back"
        await person.press("F")
        assert person.said[-1] == "nothing to write: you called 3 episodes failures before"
        await person.press("u")
        assert outcomes() == before
        await person.press("S", "y")

    async def another_time(person: Person) -> None:
        assert outcomes() == [True, True, None, True, True, True]
        await person.press("3", "G", "u")
        assert "Take back the verdict on 3 episodes?" in person.screen
        await person.press("y")
        assert outcomes() == before

    browse(folder, story, "kitchen")
    browse(folder, another_time, "kitchen")
