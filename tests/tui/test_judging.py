"""How an episode ended, as a person says in the browser, and takes back again."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.outcomes import give_outcomes, with_verdict
from deltamem_tui.memory.episodes.stored_episodes import episode, put_episode
from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.trajectory.readers.native import from_record
from deltamem_tui.tui.screens.episodes import EpisodeList
from tests.tui.support import (
    LEARNT,
    UNSAID,
    Person,
    browse,
    pane,
    small_bank,
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
        await person.press("S")
        assert outcomes() == [None, True, None, None]
        assert cursor_on(person) == "heat egg 2"
        await person.press("F")
        assert outcomes() == [None, True, False, None]
        assert cursor_on(person) == "heat egg 3"
        await person.press("S")
        assert cursor_on(person) == UNSAID.task  # behind the last row the first comes again
        await person.press("C")
        assert cursor_on(person) == "heat egg 0"

    async def unfiltered(order: str, row: int, person: Person) -> None:
        """An episode with a verdict does not come again, and it stays in the list."""
        await person.press("3", *order, "g", *("j" * row))
        first, *others = [each for each in tasks(person) if each.startswith("heat egg")]
        for key, following in zip("SCFC", [*others[1:], first, first], strict=True):
            await person.press(key)
            assert cursor_on(person) == following
        assert len(tasks(person)) == 7

    browse(folder, story, "kitchen", size=(120, 40))
    for order, row in (("", 4), ("s", 1)):  # doubtful first: those of which nothing is known
        shutil.rmtree(folder / "kitchen")
        kitchen = small_bank(folder / "kitchen")
        give_outcomes(kitchen, [UNSAID.id], success=True)
        take_in(Bank.open(folder / "kitchen"), waiting)
        browse(folder, partial(unfiltered, order, row), "kitchen", size=(120, 40))


def test_a_learnt_episode_is_overturned_after_a_question_and_waits_again(folder: Path) -> None:
    doubted = with_verdict(LEARNT, Outcome(False, None, "judge", "the egg is cold"))
    bank = Bank.open(folder / "kitchen")
    with bank.writing() as batch:
        put_episode(batch, bank, doubted)
        batch.log("judge")

    async def story(person: Person) -> None:
        await person.press("3", "F")
        assert "Mark 1 episode of kitchen as a failure?" in person.screen
        assert "1 learnt episode waits again" in person.screen
        await person.press("n")
        assert Bank.open(folder / "kitchen").episodes.state(LEARNT.id) == EpisodeState.LEARNT
        await person.press("F", "y")
        assert "1 learnt episode waits again" in person.said[-1]

    browse(folder, story, "kitchen")
    bank = Bank.open(folder / "kitchen")
    assert bank.episodes.state(LEARNT.id) == EpisodeState.WAITING
    assert from_record(bank.episodes.record(LEARNT.id) or {}).outcome.success is False


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
        await person.press("enter", "A", "escape")
        assert outcomes() == before
        await person.press(
            "A", "down", "down", "enter"
        )  # nothing is overturned: it is not asked again
        assert outcomes() == [True, True, None, False, False, False]
        assert person.said[-1] == "marked 3 episodes as failures; L learns from them"
        await person.press("A", "down", "enter")
        assert "3 had the opposite outcome" in person.screen
        await person.press("n")
        assert outcomes()[3:] == [False, False, False]
        await person.press("A", "down", "enter", "y")
        assert outcomes() == [True, True, None, True, True, True]

    browse(folder, story, "kitchen")


def test_logs_that_do_not_say_how_they_ended_are_no_dead_end(folder: Path) -> None:
    bank = create_bank(folder / "own", embedder="hashing", domain="alfworld")
    take_in(bank, [trajectory(f"heat egg {number}", "a kitchen") for number in range(4)])

    async def story(person: Person) -> None:
        await person.press("3", "L")
        assert "These 4 logs do not say how they ended" in person.screen
        await person.press("enter")
        assert "press S for success, F for failure, C if" in person.said[-1]
        await person.press("C")
        await person.press("L", "down", "enter")
        assert person.said[-1].startswith(
            "marked 4 episodes as successes; learnt 4 episodes by rules"
        )

    browse(folder, story, "own", size=(120, 40))


def test_what_is_doubtful_comes_first_and_says_why(folder: Path) -> None:
    word = Outcome(False, None, "judge", "the egg is cold")
    doubted = with_verdict(trajectory("heat a doubtful egg", success=True), word)
    take_in(Bank.open(folder / "kitchen"), [doubted])

    async def story(person: Person) -> None:
        await person.press("3")
        assert tasks(person)[0] == LEARNT.task
        await person.press("s", "g")
        assert tasks(person)[0] == doubted.task
        assert "log and judge disagree" in person.screen
        assert "judge: failure, the egg is cold" in pane(person, "steps")
        await person.press("C")
        assert person.said[-1] == f"marked as unclear: {doubted.task}"
        assert "disagree" not in person.screen, "a person said something of it"

    browse(folder, story, "kitchen", size=(140, 40))
