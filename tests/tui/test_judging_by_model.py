"""Episodes without an outcome judged by a model from the browser: its cost first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.config import Configuration
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.trajectory.model import Outcome
from tests.llm.server import ModelServer, serving
from tests.memory.writers.model.support import verdict
from tests.tui.support import UNSAID, Person, browse, trajectory

MODEL = "openai/gpt-4o-mini"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModelServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with serving() as script:
        yield script


def test_a_model_judges_what_the_filter_shows_without_an_outcome_after_an_estimate(
    folder: Path, server: ModelServer
) -> None:
    baked = [trajectory(f"bake bread {number}") for number in range(2)]
    take_in(Bank.open(folder / "kitchen"), baked)
    server.answer(verdict("yes", "The bread is in the oven."))

    async def story(person: Person) -> None:
        await person.press("3", "slash")
        episodes = person.app.screen
        await person.write("bake bread")
        await person.press("enter", "A", "end", "enter")
        for answer in ("0.5", "1", server.base):
            await person.press("tab")
            await person.write(answer)
        await person.press("enter")
        assert f"Ask {MODEL} how 2 episodes of kitchen ended?" in person.screen
        assert "2 calls, 1 request at a time" in person.screen
        assert server.requests == []
        await person.press("y")
        assert person.said[-1].startswith("judged 2 episodes for $0.0")
        assert person.said[-1].endswith(": 2 successes, 0 failures")
        await person.press("A", "end", "enter", "enter")
        assert person.said[-1].startswith("every episode in the list has an outcome")
        assert person.app.screen is episodes, "nothing is asked for"

    browse(folder, story, "kitchen", configuration=Configuration(model=MODEL))
    bank = Bank.open(folder / "kitchen")
    found = [episode(bank, each.id) for each in (*baked, UNSAID)]
    word = Outcome(True, None, "judge", "The bread is in the oven.")
    assert [each.outcome for each in found if each] == [word, word, Outcome()]
