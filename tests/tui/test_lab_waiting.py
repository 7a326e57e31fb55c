"""The recall lab while an embedder loads, an answer is under way, or the bank becomes another."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from textual.widgets import Input

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.load import load
from deltamem_tui.embedding.vectors import PROBE, fingerprint
from deltamem_tui.errors import BankRewrittenError
from deltamem_tui.memory.vectors.embedder import embedder_of
from deltamem_tui.memory.vectors.reembed import reembed
from deltamem_tui.tui.models import recall_lab
from deltamem_tui.tui.screens import recall as recall_screen
from deltamem_tui.tui.screens.trees import TreesScreen
from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.tui.lab import TASK, context, matches
from tests.tui.support import Person, browse, grow


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

    def counted(bank: Bank, question: recall_lab.LabQuestion, *rest: Any) -> recall_lab.LabAnswer:
        asked.append(question.task)
        return recall_lab.answer(bank, question, *rest)

    monkeypatch.setattr(recall_screen, "answer", counted)

    async def story(person: Person) -> None:
        await person.press("2")
        assert threads == []
        person.app.screen.query_one("#task", Input).value = TASK
        await person.until(begun.is_set)
        await person.pilot.press("escape", "1")
        assert isinstance(person.app.screen, TreesScreen)
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
        assert matches(person).lines[0].entry[0] == "look at some object under the lamp"
        assert asked == [TASK, "look at some object under the lamp"]
        assert len(threads) == 1
        assert threading.main_thread().name not in threads

    browse(folder, story, "kitchen")


class Turned:
    """The hashing embedder with its dimensions in the reverse order: as wide, but another one."""

    def __init__(self) -> None:
        self._real = load("hashing")
        probe = self._turned(self._real.embed_passages([PROBE]))[0]
        self.card = replace(self._real.card, model="turned", fingerprint=fingerprint(probe))

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._turned(self._real.embed_passages(texts))

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._turned(self._real.embed_queries(texts))

    def _turned(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.ascontiguousarray(vectors[:, ::-1])


def embedders(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lab finds the bank's embedder, whichever it has by now."""
    known = {"hashing": load("hashing"), "turned": Turned()}
    monkeypatch.setattr(
        recall_lab, "embedder_of", lambda bank: known[bank.manifest.embedder["model"]]
    )


def test_a_bank_that_gets_another_embedder_is_asked_with_its_vectors(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedders(monkeypatch)

    async def story(person: Person) -> None:
        await person.press("2")
        await person.write(TASK)
        assert "▶1.000" in person.screen
        reembed(Bank.open(folder / "kitchen"), Turned())
        person.app.session.look_for_changes()
        await person.settle()
        assert person.app.session.bank.manifest.embedder["model"] == "turned"
        assert "▶1.000" in person.screen

    browse(folder, story, "kitchen")


def test_an_answer_of_the_bank_as_it_was_is_asked_for_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bank changed while the question was under way."""
    begun, go_on = threading.Event(), threading.Event()
    real = recall_lab.answer
    asked: list[int] = []

    def slow(bank: Bank, *rest: Any) -> recall_lab.LabAnswer:
        asked.append(len(bank.tree("task")))
        begun.set()
        assert go_on.wait(30)
        return real(bank, *rest)

    monkeypatch.setattr(recall_screen, "answer", slow)

    async def story(person: Person) -> None:
        await person.press("2")
        person.app.screen.query_one("#task", Input).value = "sing a song"
        await person.until(begun.is_set)
        bank = Bank.open(folder / "kitchen")
        grow(bank, "task", [("sing a song", "la", None, "success")])
        person.app.session.look_for_changes()
        await person.until(lambda: len(person.app.session.bank.tree("task")) == 7)
        go_on.set()
        await person.settle()
        assert asked == [6, 7]
        assert matches(person).lines[0].entry[0] == "sing a song"
        assert "▶1.000" in person.screen

    browse(folder, story, "kitchen")


@pytest.mark.parametrize("bank_changes", [False, True])
def test_what_is_asked_while_an_answer_fails_is_asked_all_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch, bank_changes: bool
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    real, asked = recall_lab.answer, list[str]()

    def slow(bank: Bank, question: recall_lab.LabQuestion, *rest: Any) -> recall_lab.LabAnswer:
        asked.append(question.task)
        if len(asked) == 1:
            begun.set()
            assert go_on.wait(30)
            raise BankRewrittenError("it was compacted meanwhile", source="kitchen")
        return real(bank, question, *rest)

    monkeypatch.setattr(recall_screen, "answer", slow)

    async def story(person: Person) -> None:
        await person.press("2")
        line = person.app.screen.query_one("#task", Input)
        line.value = "sing"
        await person.until(begun.is_set)
        if bank_changes:
            grow(Bank.open(folder / "kitchen"), "task", [("sing", "la", None, "success")])
            person.app.session.look_for_changes()
            await person.until(lambda: len(person.app.session.bank.tree("task")) == 7)
        else:
            line.value = TASK
        await person.pilot.pause()
        go_on.set()
        await person.settle()
        assert "it was compacted meanwhile" in person.said[-1]
        assert asked == (["sing", "sing"] if bank_changes else ["sing", TASK])
        assert "No answer" not in person.screen
        assert matches(person).lines[0].entry[0] == line.value
        title = str(person.app.screen.query_one("#context", TextPane).border_title)
        assert "token" in title, title

    browse(folder, story, "kitchen")


def test_a_question_that_is_taken_back_is_not_answered(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, real = threading.Event(), threading.Event(), recall_lab.answer

    def slow(*question: Any) -> recall_lab.LabAnswer:
        begun.set()
        assert go_on.wait(30)
        return real(*question)

    monkeypatch.setattr(recall_screen, "answer", slow)

    async def story(person: Person) -> None:
        await person.press("2")
        line = person.app.screen.query_one("#task", Input)
        line.value = TASK
        await person.until(begun.is_set)
        line.value = ""
        await person.pilot.pause()
        go_on.set()
        await person.settle()
        assert matches(person).lines == []
        assert "Type a task" in person.screen
        await person.write(TASK)
        assert matches(person).lines[0].entry[0] == TASK

    browse(folder, story, "kitchen")


def test_an_embedder_that_cannot_be_loaded_is_told(folder: Path) -> None:
    import json

    manifest = folder / "kitchen" / "bank.json"
    record = json.loads(manifest.read_text())
    record["embedder"]["model"] = "/no/such/model"
    manifest.write_text(json.dumps(record))

    async def story(person: Person) -> None:
        await person.press("2")
        await person.write(TASK)
        assert "/no/such/model" in person.said[-1]
        assert "No answer" in person.screen

    browse(folder, story, "kitchen")
