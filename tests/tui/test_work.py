"""Long work: what the line says of it, plans that come late, and leaving in its midst."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from textual import events
from textual.widgets import Input

from deltamem_tui.config import Configuration
from deltamem_tui.errors import UsageError
from deltamem_tui.tui.core.work import BankChange, Info, Progress, WorkPlan, report_unfinished
from deltamem_tui.tui.widgets.bars import WorkBar
from deltamem_tui.tui.widgets.dialogs import ReadingDialog
from deltamem_tui.tui.widgets.forms import AskDialog
from tests.tui.support import Person, browse


class Held:
    """Work that goes on until a test lets it end."""

    def __init__(self, message: Info | WorkPlan | None = None) -> None:
        self.go_on = threading.Event()
        self._message = message or Info("done")

    def __call__(self, _: Progress) -> Info | WorkPlan:
        assert self.go_on.wait(20)
        return self._message


def bar(person: Person) -> str:
    return str(person.app.screen.query_one(WorkBar).render())


def test_what_can_be_cancelled_says_so_and_that_it_stops(folder: Path) -> None:
    work = Held()

    async def story(person: Person) -> None:
        person.app.work.start("learning", work, can_stop=True)
        await person.settle(work=False)
        assert bar(person).endswith("k cancels ")
        await person.pilot.press("k")
        await person.settle(work=False)
        assert bar(person).endswith("stopping … ")
        person.app.work.start("another", work)
        assert person.said[-1] == "still learning: stopping …"
        work.go_on.set()
        await person.settle()
        assert person.said[-1] == "done; cancelled"
        assert not person.app.screen.query_one(WorkBar).display

    keys = {"cancel": "k", "line_up": "up"}
    browse(folder, story, "kitchen", configuration=Configuration(keys=keys))


def plan(done: list[str]) -> WorkPlan:
    def then(_: Progress) -> Info:
        done.append("done")
        return Info("done as planned")

    return WorkPlan("asking", "Spend money?", [], then, kind="estimate")


def test_a_plan_comes_up_in_front_of_who_waits_for_it(folder: Path) -> None:
    done: list[str] = []
    work = Held(plan(done))

    async def story(person: Person) -> None:
        person.app.work.start("rehearsing", work)
        work.go_on.set()
        await person.settle()
        assert isinstance(person.app.screen, ReadingDialog)
        await person.press("y")
        assert done == ["done"]
        assert person.said == ["done as planned"]

    browse(folder, story, "kitchen")


async def into_a_dialog(person: Person) -> None:
    await person.pilot.press("3", "i")
    await person.settle(work=False)
    assert isinstance(person.app.screen, AskDialog)


async def onto_another_screen(person: Person) -> None:
    person.app.session.show("report")
    await person.settle(work=False)


async def one_key_on(person: Person) -> None:
    await person.pilot.press("j")
    await person.settle(work=False)


async def one_click_on(person: Person) -> None:
    person.app.post_message(events.MouseDown(None, 5, 2, 0, 0, 1, False, False, False))
    await person.settle(work=False)


@pytest.mark.parametrize("goes_on", [into_a_dialog, onto_another_screen, one_key_on, one_click_on])
def test_a_plan_never_takes_a_key_from_who_went_on(
    folder: Path, goes_on: Callable[[Person], object]
) -> None:
    done: list[str] = []
    work = Held(plan(done))

    async def story(person: Person) -> None:
        person.app.work.start("rehearsing", work)
        await goes_on(person)  # type: ignore[misc]
        before = person.app.screen
        work.go_on.set()
        await person.settle()
        assert person.app.screen is before
        assert person.said[-1] == "the estimate is ready; P opens it"
        await person.press("y")
        assert done == []
        if isinstance(person.app.screen, AskDialog):
            await person.press("escape")
        assert "the estimate is ready" in bar(person)
        await person.press("P")
        assert "Spend money?" in person.screen
        await person.press("y")
        assert done == ["done"]
        await person.press("P")
        assert person.said[-1] == "no plan is waiting"

    browse(folder, story, "kitchen")


def test_who_quits_while_work_goes_on_is_told_and_leaves_when_it_is_asked_again(
    folder: Path,
) -> None:
    work = Held()
    ended: list[Progress | None] = []

    async def story(person: Person) -> None:
        person.app.work.start("learning", work, can_stop=True)
        await person.pilot.press("q")
        await person.settle(work=False)
        assert person.said[-1] == "learning is still running; press q again to leave"
        assert not person.app._exit
        await person.pilot.press("colon")
        await person.settle(work=False)
        line = person.app.screen.query_one(Input)
        line.value = "Everywhere: Quit"
        await person.until(lambda: "Everywhere: Quit" in person.screen.partition("Quit")[2])
        await person.pilot.press("down", "enter")
        await person.until(lambda: person.app._exit)
        assert person.app._exit
        ended.append(person.app.work.unfinished)
        work.go_on.set()

    browse(folder, story, "kitchen")
    assert ended[0] is not None
    assert ended[0].stopped


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Info("cancelled; nothing was sent"), "cancelled; nothing was sent"),
        (BankChange(Path(), "learnt 2 episodes for $0.0042"), "learnt 2 episodes for $0.0042"),
        (UsageError("no such model"), "no such model"),
        (
            plan([]),
            "learning ended before it could ask: nothing was done",
        ),
    ],
)
def test_what_became_of_work_is_told_on_the_bare_terminal(
    outcome: Info | BankChange | UsageError | WorkPlan, words: str
) -> None:
    told: list[str] = []
    work = Progress("learning", can_stop=True)
    work.outcome = outcome
    work.over.set()
    report_unfinished(work, told.append)
    assert told == [words]
