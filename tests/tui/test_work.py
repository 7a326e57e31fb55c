"""Long work: what the line says of it, plans that come late, and leaving in its midst."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual import events
from textual.widgets import Input

from benchmarks.terminal import Terminal
from deltamem_tui.bank.upkeep import verify as verifying
from deltamem_tui.config import Configuration
from deltamem_tui.errors import UsageError
from deltamem_tui.memory.deltamem import calibrate as calibration
from deltamem_tui.tui.core.job import BankChange, Info, Progress, WorkPlan, report_unfinished
from deltamem_tui.tui.jobs.episodes import import_logs
from deltamem_tui.tui.screens.episodes import EpisodesScreen
from deltamem_tui.tui.widgets import bars
from deltamem_tui.tui.widgets.bars import WorkBar
from deltamem_tui.tui.widgets.dialogs import ConfirmDialog
from deltamem_tui.tui.widgets.form_dialog import AskDialog
from tests.tui.support import NODE_SHOWN, Person, browse


class Held:
    """Work that goes on until a test lets it end."""

    def __init__(self, message: Info | WorkPlan | None = None) -> None:
        self.go_on = threading.Event()
        self._message = message or Info("done")

    def __call__(self, progress: Progress) -> Info | WorkPlan:
        assert self.go_on.wait(20)
        return Info("cancelled") if progress.stopped and progress.can_stop else self._message


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
        assert person.said[-1] == "still learning; it is stopping"
        work.go_on.set()
        await person.settle()
        assert person.said[-1] == "cancelled"
        assert not person.app.screen.query_one(WorkBar).display

    keys = {"cancel": "k", "line_up": "up", "map_up": "up"}
    browse(folder, story, "kitchen", configuration=Configuration(keys=keys))


def test_every_screen_says_the_same_of_how_long_it_will_take(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Held()
    monkeypatch.setattr(bars, "time", SimpleNamespace(monotonic=lambda: 1100.0))

    def half(progress: Progress) -> Info | WorkPlan:
        progress.state = replace(progress.state, began=1000.0)
        progress.advance(5, 10)
        return work(progress)

    async def story(person: Person) -> None:
        person.app.work.start("learning", half)
        await person.until(lambda: "5 of 10" in bar(person))
        assert " 1:40 left" in bar(person)
        await onto_another_screen(person)
        assert " 1:40 left" in bar(person)
        work.go_on.set()

    browse(folder, story, "kitchen")


def test_what_cannot_be_cancelled_says_so_and_goes_on(folder: Path) -> None:
    work = Held()

    async def story(person: Person) -> None:
        person.app.work.start("verifying", work)
        await person.settle(work=False)
        assert bar(person).endswith("cannot be cancelled ")
        await person.pilot.press("x")
        await person.settle(work=False)
        assert person.said[-1] == "verifying cannot be cancelled"
        assert bar(person).endswith("cannot be cancelled ")
        work.go_on.set()
        await person.settle()
        assert person.said[-1] == "done"

    browse(folder, story, "kitchen")


@pytest.mark.parametrize(
    ("keys", "module", "name", "said"),
    [
        (("V",), verifying, "_tree_flaws", "verifying was cancelled"),
        (("4", "c"), calibration, "_questions", "scoring every episode was cancelled"),
    ],
)
def test_what_writes_nothing_is_cancelled_between_two_steps(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    keys: Sequence[str],
    module: Any,
    name: str,
    said: str,
) -> None:
    """The step is the first of several; those after it are never taken."""
    step, begun, go_on = getattr(module, name), threading.Event(), threading.Event()
    taken: list[object] = []

    def slow(*given: Any) -> Any:
        taken.append(given)
        begun.set()
        assert go_on.wait(20)
        return step(*given)

    monkeypatch.setattr(module, name, slow)

    async def story(person: Person) -> None:
        await person.pilot.press(*keys)
        await person.until(begun.is_set)
        assert bar(person).endswith("x cancels ")
        await person.pilot.press("x")
        go_on.set()
        await person.settle()
        assert person.said[-1] == said
        assert len(taken) == 1

    browse(folder, story, "kitchen")


def test_in_a_line_the_key_that_cancels_is_a_letter_and_the_bar_says_so(folder: Path) -> None:
    work = Held()

    async def story(person: Person) -> None:
        person.app.work.start("learning", work, can_stop=True)
        await person.pilot.press("slash")
        await person.settle(work=False)
        assert bar(person).endswith("escape, then x cancels ")
        work.go_on.set()

    browse(folder, story, "kitchen")


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
        assert isinstance(person.app.screen, ConfirmDialog)
        await person.press("y")
        assert done == ["done"]
        assert person.said == ["done as planned"]

    browse(folder, story, "kitchen")


async def into_a_dialog(person: Person) -> None:
    await person.pilot.press("3", "i")
    await person.settle(work=False)
    assert isinstance(person.app.screen, AskDialog)


async def onto_another_screen(person: Person) -> None:
    person.app.session.show("statistics")
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


def test_a_plan_that_is_agreed_to_while_another_thing_goes_on_is_kept(folder: Path) -> None:
    done: list[str] = []
    work = Held(plan(done))
    other = Held()

    async def story(person: Person) -> None:
        person.app.work.start("rehearsing", work)
        await one_key_on(person)
        work.go_on.set()
        await person.settle()
        person.app.work.start("verifying", other)
        await person.pilot.press("P", "y")
        await person.settle(work=False)
        assert person.said[-1] == "still verifying; it cannot be cancelled"
        other.go_on.set()
        await person.settle()
        assert done == []
        await person.press("P", "y")
        assert done == ["done"]

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


def test_other_work_is_told_of_anew_before_one_leaves(folder: Path) -> None:
    works = Held(), Held()

    async def story(person: Person) -> None:
        for work in works:
            person.app.work.start("learning", work, can_stop=True)
            await person.pilot.press("q")
            await person.settle(work=False)
            assert person.said[-1] == "learning is still running; press q again to leave"
            assert not person.app._exit
            work.go_on.set()
            await person.settle()

    browse(folder, story, "kitchen")


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Info("cancelled; nothing was sent"), "cancelled; nothing was sent"),
        (BankChange(Path(), "learnt 2 episodes for $0.0042"), "learnt 2 episodes for $0.0042"),
        (UsageError("no such model"), "no such model"),
        (
            plan([]),
            "learning ended; nothing was done, because the browser was closed before it could ask",
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


def test_ctrl_c_does_not_wait_and_what_cannot_stop_is_not_waited_for() -> None:
    told: list[str] = []

    def interrupted(words: str) -> None:
        told.append(words)
        if "stopping" in words:
            raise KeyboardInterrupt

    report_unfinished(Progress("learning", can_stop=True), interrupted)
    assert told == [
        "learning is stopping; Ctrl+C does not wait for it",
        "learning was left unfinished; all that was committed is in the bank",
    ]
    report_unfinished(Progress("learning", can_stop=False), told.append)
    assert told[2:] == ["learning was left unfinished; banks are as before it, or as after it"]


# The program, whose freezing never ends.
_ENDLESS = """
import sys, threading
from deltamem_tui.bank.bank import Bank
Bank.freeze = lambda self: threading.Event().wait()
from deltamem_tui.__main__ import main
main()
"""

# The program, whose learning ends when it is asked to, and tells what it took.
_STOPPABLE = """
import sys, time
from deltamem_tui.tui.core.job import Info
from deltamem_tui.tui.screens import bank_actions

def learn(progress):
    while not progress.stopped:
        time.sleep(0.01)
    return Info("learnt 1 episode for $0.0042")

bank_actions.verify = lambda browser, _: browser.work.start("learning", learn, can_stop=True)
from deltamem_tui.__main__ import main
main()
"""

# The program, whose embedder never comes.
_LOADING = """
import threading
from deltamem_tui.embedding import load
load.load = lambda *_, **__: threading.Event().wait()
from deltamem_tui.memory.vectors import embedder
embedder.load = load.load
from deltamem_tui.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("program", "keys", "meanwhile", "words"),
    [
        (_ENDLESS, "Z", "cannot be cancelled", "freezing was left unfinished"),
        (_STOPPABLE, "V", "x cancels", "learnt 1 episode for $0.0042"),
    ],
)
def test_the_terminal_is_given_back_at_once(
    folder: Path, program: str, keys: str, meanwhile: str, words: str
) -> None:
    command = [sys.executable, "-c", program, "browse", str(folder / "kitchen")]
    with Terminal(command) as terminal:
        terminal.until(NODE_SHOWN)
        terminal.press(keys)
        terminal.until(meanwhile)
        terminal.press("q")
        terminal.until("q again to leave")
        terminal.press("q")
        assert terminal.until_it_ends() == 0
        assert words in terminal.written.decode().rpartition("\x1b[?1049l")[2]


def test_an_embedder_that_still_loads_keeps_nobody_from_leaving(folder: Path) -> None:
    command = [sys.executable, "-c", _LOADING, "browse", str(folder / "kitchen")]
    with Terminal(command) as terminal:
        terminal.until(NODE_SHOWN)
        terminal.press("2")
        terminal.until("Type a task")
        seen = len(terminal.written)
        terminal.press("heat some")
        terminal.until("asking", seen)
        start = len(terminal.written)
        terminal.press("\x1b")
        terminal.until(" quit", start)
        terminal.press("q")
        assert terminal.until_it_ends() == 0


class Listening(Progress):
    """Work that remembers how far it said it was."""

    def __init__(self) -> None:
        super().__init__("importing", can_stop=True)
        self.heard: list[tuple[int, int | None]] = []

    def advance(self, steps: int = 1, total: int | None = None, note: str = "") -> None:
        assert note == "bytes read"
        self.heard.append((steps, total))


def test_an_import_knows_how_much_there_is_and_so_how_long_it_will_take(
    folder: Path, tmp_path: Path
) -> None:
    log = tmp_path / "runs.jsonl"
    episode = {"task": "wash the pan", "steps": [{"action": "wash", "observation": "Clean."}]}
    log.write_text("".join(f"{json.dumps({**episode, 'id': str(n)})}\n" for n in range(20)))
    work = Listening()
    import_logs(folder / "kitchen", str(log), "", work)
    size = log.stat().st_size
    assert {total for _, total in work.heard} == {size}
    assert sum(done for done, _ in work.heard) == size


def test_importing_and_learning_can_be_cancelled(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3")
        assert isinstance(person.app.screen, EpisodesScreen)
        begun: list[tuple[str, bool]] = []

        def work(name: str, _: object, *, can_stop: bool = False, retry: object = None) -> bool:
            assert retry is not None
            begun.append((name, can_stop))
            return True

        person.app.work.start = work  # type: ignore[assignment,method-assign]
        await person.press("i")
        await person.write("some.jsonl")
        await person.press("enter", "E", "enter")
        assert begun == [("importing some.jsonl", True), ("learning", True)]

    browse(folder, story, "kitchen")
