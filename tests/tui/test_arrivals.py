"""What comes up in front by itself: only for who waits for it, and only what it was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.method import RulesExtractor
from deltamem_tui.memory.runs import questions
from deltamem_tui.tui.jobs import episodes
from tests.tui.support import Person, browse, small_bank, trajectory


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A banks folder with two small banks, `aaa` and `bbb`."""
    for name in ("aaa", "bbb"):
        small_bank(tmp_path / "two" / name)
    return tmp_path / "two"


def test_an_estimate_names_its_bank_and_what_came_since_is_not_paid_for(
    two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(episodes, "_extractor", lambda *_, **__: RulesExtractor())
    monkeypatch.setattr(questions, "estimate_learning", lambda *_, **__: Usage())
    choice = episodes.ModelChoice("gpt-x")

    async def story(person: Person) -> None:
        person.app.work.start(
            "rehearsing",
            lambda progress: episodes.plan_by_model(two / "aaa", choice, progress),
        )
        await person.press("j")
        more = [trajectory(f"heat thing {each}", "a kitchen", success=True) for each in range(7)]
        take_in(Bank.open(two / "aaa"), more)
        await person.press("b", "j", "enter", "P")
        assert "Ask gpt-x about 1 episode of aaa?" in person.screen
        await person.press("y")
        assert person.said[-1].startswith("learnt 1 episode by rules")
        assert Bank.open(two / "aaa").episodes.learnt() == 2

    browse(two, story, "aaa")
