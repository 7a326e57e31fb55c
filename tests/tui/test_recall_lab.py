"""The recall lab: matches as one types, numbers one plays with, and what a write would do."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from textual.widgets import Input, Static

from deltamem_tui.bank.bank import Bank
from deltamem_tui.config import Configuration
from deltamem_tui.embedding.fingerprint import PROBE, fingerprint
from deltamem_tui.embedding.load import load
from deltamem_tui.errors import BankRewrittenError
from deltamem_tui.memory.engine import recall
from deltamem_tui.memory.vectors.embedder import embedder_of
from deltamem_tui.memory.vectors.reembed import reembed
from deltamem_tui.tui.core.job import Info, Progress
from deltamem_tui.tui.models import recall_lab
from deltamem_tui.tui.screens import recall as recall_screen
from deltamem_tui.tui.screens.episodes import EpisodesScreen
from deltamem_tui.tui.screens.recall import RecallScreen
from deltamem_tui.tui.screens.trees import TreesScreen
from deltamem_tui.tui.widgets.match_list import MatchList
from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.tui.support import Person, browse, grow

TASK = "heat some object and put it in a place"


def matches(person: Person, tree: str = "task") -> MatchList:
    return person.app.screen.query_one(f"#{tree}-matches", MatchList)


def placement(person: Person, tree: str = "task") -> str:
    return str(person.app.screen.query_one(f"#{tree}-placement", Static).render())


def context(person: Person) -> str:
    return "\n".join(
        each.body for each in person.app.screen.query_one("#context", TextPane).sections
    )


def test_what_is_typed_is_answered_as_recall_answers(folder: Path) -> None:
    expected = recall(Bank.open(folder / "kitchen"), TASK, "a kitchen with a locked fridge")

    async def story(person: Person) -> None:
        await person.press("2")
        assert isinstance(person.app.screen, RecallScreen)
        await person.write(TASK)
        await person.press("tab")
        await person.write("a kitchen with a locked fridge")
        assert context(person) == expected.context
        best = matches(person).lines[0]
        answer = expected["task"]
        assert answer is not None
        assert best.candidate == answer.match
        assert "▶1.000" in person.screen
        assert best.candidate is not None
        assert placement(person).endswith("a residual below the match, at depth 2")
        assert "score penalty node" in person.screen
        assert placement(person, "env").endswith("depth 3")

    browse(folder, story, "kitchen", size=(120, 40))


def test_a_threshold_above_the_best_score_means_a_new_root(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("2")
        await person.write("heat some object")
        assert matches(person).lines[0].kind == "match"
        line = person.app.screen.query_one("#task-tau_base", Input)
        line.value = "0.999"
        await person.settle()
        assert matches(person).lines[0].kind == "threshold"
        assert placement(person).startswith("would become a new root: 0.")
        assert placement(person).endswith(" is below 0.999")
        assert context(person) == "Nothing is recalled: the agent is told nothing."
        line.value = "much"
        await person.settle()
        assert line.has_class("-invalid")
        assert "task tree: threshold (tau_base) must be a number" in person.screen
        line.value = "9"
        await person.settle()
        assert "threshold (tau_base) must be a similarity from -1 to 1" in person.screen
        assert matches(person).lines[0].kind == "threshold"
        line.value = "0,2"
        await person.settle()
        assert matches(person).lines[0].kind == "match"

    browse(folder, story, "kitchen")


def test_the_penalty_pushes_failures_down(folder: Path) -> None:
    failure = "look at some object under the lamp"

    async def story(person: Person) -> None:
        await person.press("2")
        await person.write(failure)
        assert matches(person).lines[0].entry[0] == failure
        person.app.screen.query_one("#task-failure_penalty", Input).value = "0.9"
        await person.settle()
        assert matches(person).lines[0].entry[:1] != (failure,)
        assert "−0.90   ✗ look at" in person.screen

    browse(folder, story, "kitchen", size=(140, 40))


def test_a_match_at_d_max_gives_a_sibling(folder: Path) -> None:
    from deltamem_tui.memory.methods import change_settings
    from deltamem_tui.memory.settings import replaced

    change_settings(
        Bank.open(folder / "kitchen"), "test", lambda now: replaced(now, "task.d_max", 2)
    )

    async def story(person: Person) -> None:
        await person.press("2")
        await person.write("heat some object with a broken microwave")
        assert "would become a sibling of the match" in placement(person)
        assert "D_max = 2" in placement(person)

    browse(folder, story, "kitchen")


def test_saving_writes_the_numbers_into_the_bank(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("2")
        person.app.screen.query_one("#env-tau_base", Input).value = "0.42"
        await person.settle()
        await person.press("f2")
        assert person.app.session.bank.manifest.settings["env"]["tau_base"] == 0.42
        assert person.app.session.bank.commit.event == "parameters"
        await person.press("f2")
        assert "these numbers already" in person.said[-1]

    browse(folder, story, "kitchen")


def test_the_rule_of_recall_is_chosen_by_its_name(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("2")
        line = person.app.screen.query_one("#task-recall", Input)
        assert line.value == "kind"
        line.value = "pap"
        await person.settle()
        assert line.has_class("-invalid")
        assert "must be kind or paper" in person.screen
        line.value = "paper"
        await person.settle()
        await person.press("f2")
        assert "recall paper" in person.said[-1]
        assert person.app.session.bank.manifest.settings["task"]["recall"] == "paper"

    browse(folder, story, "kitchen", size=(120, 40))


def test_numbers_that_could_not_be_saved_are_kept_until_they_are(folder: Path) -> None:
    go_on = threading.Event()

    def learn(_: Progress) -> Info:
        assert go_on.wait(20)
        return Info("learnt")

    async def story(person: Person) -> None:
        await person.press("2")
        line = person.app.screen.query_one("#task-tau_base", Input)
        line.value = "0.9"
        await person.settle()
        person.app.work.start("learning", learn)
        await person.pilot.press("f2")
        await person.until(lambda: bool(person.said))
        assert person.said == ["still learning; it cannot be cancelled"]
        go_on.set()
        await person.settle()
        await person.press("f2")
        assert "saved: task tree threshold 0.9," in person.said[-1]
        assert person.app.session.bank.manifest.settings["task"]["tau_base"] == 0.9
        assert line.value == "0.9"

    browse(folder, story, "kitchen")


def test_numbers_that_another_saved_are_taken_over_but_for_those_one_plays_with(
    folder: Path,
) -> None:
    from deltamem_tui.memory.methods import change_settings
    from deltamem_tui.memory.settings import replaced

    async def story(person: Person) -> None:
        await person.press("2")
        played = person.app.screen.query_one("#task-tau_base", Input)
        other = person.app.screen.query_one("#env-tau_base", Input)
        played.value = "0.9"
        await person.settle()
        bank = Bank.open(folder / "kitchen")
        change_settings(bank, "test", lambda now: replaced(now, "env.tau_base", 0.31))
        person.app.session.look_for_changes()
        await person.settle()
        assert (played.value, other.value) == ("0.9", "0.31")
        await person.press("f2")
        stored = person.app.session.bank.manifest.settings
        assert (stored["task"]["tau_base"], stored["env"]["tau_base"]) == (0.9, 0.31)

    browse(folder, story, "kitchen")


def test_nothing_is_saved_while_a_line_says_no_number(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("2")
        line = person.app.screen.query_one("#task-tau_base", Input)
        for text in ("0.9", "0.9.5"):
            line.value = text
            await person.settle()
        await person.press("f2")
        assert "not saved" in person.said[-1]
        assert person.app.session.bank.manifest.settings["task"]["tau_base"] == 0.6
        line.value = "0.95"
        await person.settle()
        await person.press("f2")
        assert person.app.session.bank.manifest.settings["task"]["tau_base"] == 0.95

    browse(folder, story, "kitchen")


def test_a_frozen_bank_can_be_played_with_but_not_saved(folder: Path) -> None:
    Bank.open(folder / "kitchen").freeze()

    async def story(person: Person) -> None:
        await person.press("2")
        await person.write("heat some object")
        person.app.screen.query_one("#task-tau_base", Input).value = "0.99"
        await person.settle()
        assert matches(person).lines[0].kind == "threshold"
        await person.press("f2")
        assert "the bank is frozen" in person.said[-1]

    browse(folder, story, "kitchen")
    assert Bank.open(folder / "kitchen").manifest.settings["task"]["tau_base"] == 0.6


def test_enter_on_a_match_shows_it_in_its_tree(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("2")
        await person.write("heat some object with a broken microwave")
        await person.press("enter")
        chosen = matches(person).node
        await person.press("enter")
        assert isinstance(person.app.screen, TreesScreen)
        assert person.node == chosen
        assert person.node.depth == 2

    browse(folder, story, "kitchen")


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


def test_the_context_has_the_header_of_the_folder_in_the_settings(
    folder: Path, tmp_path: Path
) -> None:
    header = tmp_path / "mine" / "alfworld" / "memory_header.md"
    header.parent.mkdir(parents=True)
    header.write_text('+++\npurpose = "Mine"\n+++\nRead this as our house does.\n')

    async def story(person: Person) -> None:
        await person.press("2")
        await person.write(TASK)
        assert "Read this as our house does." in context(person)
        assert "some object" in context(person)

    settings = Configuration(prompts=tmp_path / "mine")
    browse(folder, story, "kitchen", configuration=settings)
    missing = Configuration(prompts=tmp_path / "nowhere")

    async def nowhere(person: Person) -> None:
        await person.press("2")
        await person.write(TASK)
        assert "there is no folder of prompts here" in context(person)

    browse(folder, nowhere, "kitchen", configuration=missing)


def test_what_is_typed_goes_into_the_task_of_who_came_to_ask(folder: Path) -> None:
    """But not of who opens a bank that was left on the lab, and has not said where to type."""

    async def leave(person: Person) -> None:
        await person.press("2", "h", "q", "escape", "1", "2", "j")
        line = person.app.screen.query_one("#task", Input)
        assert (line.value, line.has_focus) == ("hq", False), "what is asked is there to be read"
        await person.press("slash", "ctrl+u", "escape", "1", "2", "1", "escape", "question_mark")
        await person.press("escape", "j")
        assert (line.value, line.has_focus) == ("1", False)
        await person.press("q")

    async def come_back(person: Person) -> None:
        assert isinstance(person.app.screen, RecallScreen)
        await person.press("3")
        assert isinstance(person.app.screen, EpisodesScreen)
        await person.press("2", "3")
        assert person.app.screen.query_one("#task", Input).value == "3"

    browse(folder, leave, "kitchen")
    browse(folder, come_back, "kitchen")
