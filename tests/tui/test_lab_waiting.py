"""The recall lab while an embedder loads, an answer is under way, or the bank becomes another."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.recall_result import Query, RecallResult
from deltamem_tui.memory.vectors.search import embedder_of
from deltamem_tui.tui.models import recall_lab
from deltamem_tui.tui.screens import recall as recall_screen
from deltamem_tui.tui.screens.memory import MemoryScreen
from tests.tui.lab import TASK, context, matches
from tests.tui.support import Person, browse


def test_the_screen_stays_alive_while_the_embedder_loads(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The load waits in a worker until the person has gone elsewhere and come back."""
    begun, go_on = threading.Event(), threading.Event()
    threads: list[str] = []
    real = embedder_of

    def slow(bank: Bank) -> object:
        threads.append(threading.current_thread().name)
        begun.set()
        assert go_on.wait(30)
        return real(bank)

    monkeypatch.setattr(recall_lab, "embedder_of", slow)
    asked = list[str]()

    def counted(bank: Bank, question: Query, *rest: Any) -> RecallResult:
        asked.append(question.task)
        return recall_lab.answer(bank, question, *rest)

    monkeypatch.setattr(recall_screen, "answer", counted)

    async def story(person: Person) -> None:
        await person.press("2")
        assert threads == []
        person.app.screen.query_one("#task", Input).value = TASK
        await person.until(begun.is_set)
        await person.pilot.press("escape", "1")
        assert isinstance(person.app.screen, MemoryScreen)
        await person.pilot.press("2")
        assert "asking" in person.screen
        assert "being loaded" in context(person)
        assert "Type a task" not in context(person)
        assert not matches(person).lines
        # Typed meanwhile: one more question, not one for each letter.
        for text in ("look", "look at", "look at some object under the lamp"):
            person.app.screen.query_one("#task", Input).value = text
            await person.pilot.pause()
        go_on.set()
        await person.settle()
        assert matches(person).lines[0].title == "look at some object under the lamp"
        assert asked == [TASK, "look at some object under the lamp"]
        assert len(threads) == 1
        assert threading.main_thread().name not in threads

    browse(folder, story, "kitchen")
