"""The numbers one plays with in the recall lab, and what of them is saved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from textual.widgets import Input

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.load import load
from deltamem_tui.memory.settings import replaced
from deltamem_tui.tui.models import recall_lab
from tests.tui.lab import matches
from tests.tui.support import Person, browse


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


def test_numbers_that_another_saved_are_taken_over_but_for_those_one_plays_with(
    folder: Path,
) -> None:
    from deltamem_tui.memory.methods import change_settings

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


def test_a_threshold_is_moved_by_keys_and_says_what_that_changes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is pressed how fast; no text is embedded for it, and nothing is written."""
    embedded = list[str]()

    class Noted:
        """The hashing embedder, and what it was asked."""

        def __init__(self, _: Bank) -> None:
            self._real = load("hashing")
            self.card = self._real.card

        def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
            embedded.extend(texts)
            return self._real.embed_passages(texts)

        def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
            embedded.extend(texts)
            return self._real.embed_queries(texts)

    monkeypatch.setattr(recall_lab, "embedder_of", Noted)
    before = (folder / "kitchen" / "bank.json").read_bytes()

    async def story(person: Person) -> None:
        await person.press("2")
        await person.write("heat some object in a place")
        line = person.app.screen.query_one("#task-tau_base", Input)
        title = person.app.screen.query_one("#task-answer")
        asked = list(embedded)
        await person.press("enter")
        matched = matches(person).lines[0]
        await person.pilot.press(*["plus"] * 29, "minus")
        await person.settle()
        assert line.value == "0.88"
        assert "threshold 0.88 (bank 0.6)" in person.screen
        assert "−1 match" in str(title.border_title)
        lost = next(each for each in matches(person).lines if each.change)
        assert (lost.candidate, lost.change) == (matched.candidate, "lost")
        await person.press("p", "up")
        assert line.value == "0.89"
        await person.press("escape", "0")
        assert line.value == "0.6"
        assert [each.change for each in matches(person).lines if each.change] == []
        assert embedded == asked != []

    browse(folder, story, "kitchen", size=(120, 40))
    assert (folder / "kitchen" / "bank.json").read_bytes() == before
