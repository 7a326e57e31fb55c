"""Learning from the episodes screen by a language model: its cost first, then the answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.config import Configuration
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.tui.screens.episodes import EpisodesScreen
from deltamem_tui.tui.widgets.bars import WorkBar
from deltamem_tui.tui.widgets.dialogs import ReadingDialog
from deltamem_tui.tui.widgets.forms import AskDialog
from tests.llm.server import ModelServer, Reply, Request, serving
from tests.memory.writers.model import sensible
from tests.tui.support import READY, Person, browse, trajectory

MODEL = "openai/gpt-4o-mini"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModelServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with serving() as script:
        yield script


async def ask(person: Person, server: ModelServer, most: str = "") -> None:
    """Fill the dialog in, which names the model already."""
    await person.press("L")
    assert isinstance(person.app.screen, AskDialog)
    for answer in (most, "2", server.base):
        await person.press("tab")
        await person.write(answer)
    await person.press("enter")


def test_what_it_will_take_is_told_before_anything_is_sent(
    folder: Path, server: ModelServer
) -> None:
    server.replies = sensible.reply

    async def story(person: Person) -> None:
        await person.press("3")
        await ask(person, server, "$0.5")
        assert isinstance(person.app.screen, ReadingDialog)
        assert f"Ask {MODEL} about 1 episode of kitchen?" in person.screen
        assert "2 calls, 2 requests at a time" in person.screen
        assert "never more than $0.5000" in person.screen
        assert server.requests == []
        await person.press("escape")
        assert isinstance(person.app.screen, EpisodesScreen)
        await ask(person, server)
        await person.press("y")
        assert person.said[-1].startswith("learnt 1 episode for $0.0")
        assert "(2 calls, 0 cached): 2 nodes; 1 waiting" in person.said[-1]

    browse(folder, story, "kitchen", configuration=Configuration(model=MODEL))
    bank = Bank.open(folder / "kitchen")
    assert bank.episodes.state(READY.id) == EpisodeState.LEARNT
    assert len(server.requests) == 2
    written = [node for node in bank.tree("task") if node.origin.extractor == "model"]
    assert [node.origin.model for node in written] == [MODEL]
    assert [node.origin.trajectory for node in written] == [READY.id]


def test_progress_and_cost_are_shown_and_it_can_be_cancelled(
    folder: Path, server: ModelServer
) -> None:
    take_in(
        Bank.open(folder / "kitchen"),
        [trajectory(f"wash pan {number}", "a kitchen", success=True) for number in range(4)],
    )
    asked, go_on = threading.Event(), threading.Event()

    def reply(request: Request) -> Reply:
        if "wash pan" in request.prompt:
            asked.set()
            go_on.wait(30)
        return sensible.reply(request)

    async def story(person: Person) -> None:
        await person.press("3")
        await ask(person, server)
        server.replies = reply
        await person.pilot.press("y")
        await person.until(asked.is_set)
        bar = person.app.screen.query_one(WorkBar)
        await person.until(lambda: "1 of 5" in str(bar.render()))
        assert "· $0.0" in str(bar.render())
        await person.pilot.press("x")
        go_on.set()
        await person.settle()
        assert person.said[-1].endswith("cancelled")

    browse(folder, story, "kitchen", configuration=Configuration(model=MODEL))
    bank = Bank.open(folder / "kitchen")
    assert 2 <= bank.episodes.learnt() < 6
    assert len(bank.episodes.waiting()) > 1


def test_a_model_that_cannot_be_asked_is_told_and_nothing_is_written(folder: Path) -> None:
    before = Bank.open(folder / "kitchen").commit.sequence

    async def story(person: Person) -> None:
        await person.press("3", "L")
        await person.write("no-such-provider/[/x]")
        await person.press("enter")
        assert "no-such-provider" in person.said[-1]
        await person.press("L", "tab")
        await person.write("much")
        await person.press("shift+tab")
        await person.write(MODEL)
        await person.press("enter")
        assert "is not a number of dollars" in person.said[-1]

    browse(folder, story, "kitchen")
    assert Bank.open(folder / "kitchen").commit.sequence == before
