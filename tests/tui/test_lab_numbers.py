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


async def fill(person: Person, name: str, value: str) -> None:
    """Try another number, from the answers."""
    await person.press("p")
    person.app.screen.query_one(f"#{name}", Input).value = value
    await person.press("enter")


def test_saving_writes_the_numbers_into_the_bank(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("2", "escape")
        await fill(person, "env-tau_base", "0.42")
        await person.press("f2")
        assert person.bank.manifest.settings["env"]["tau_base"] == 0.42
        assert person.bank.commit.event == "parameters"
        await person.press("f2")
        assert "these parameters already" in person.said[-1]
        await person.press("p")
        person.app.screen.query_one("#task-recall").focus()
        await person.press("end", "enter", "f2")
        assert person.said[-1] == "saved: recall paper"
        assert person.bank.manifest.settings["task"]["recall"] == "paper"

    browse(folder, story, "kitchen", size=(120, 40))


def test_numbers_that_another_saved_are_taken_over_but_for_those_one_plays_with(
    folder: Path,
) -> None:
    from deltamem_tui.memory.method import change_settings

    async def story(person: Person) -> None:
        await person.press("2", "escape")
        await fill(person, "task-tau_base", "0.9")
        bank = Bank.open(folder / "kitchen")
        change_settings(bank, "test", lambda now: replaced(now, "env.tau_base", 0.31))
        person.app.session.look_for_changes()
        await person.settle()
        assert "tried: threshold 0.9 (bank 0.6)" in person.screen
        await person.press("f2")
        stored = person.bank.manifest.settings
        assert (stored["task"]["tau_base"], stored["env"]["tau_base"]) == (0.9, 0.31)

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
        asked = list(embedded)
        await person.press("enter")
        assert matches(person).lines[0].kind == "match"
        await person.pilot.press(*["plus"] * 29, "minus")
        await person.settle()
        assert "tried: threshold 0.88 (bank 0.6)" in person.screen
        assert matches(person).lines[0].text == "threshold 0.88"
        await person.press("0")
        assert "tried" not in person.screen
        assert matches(person).lines[0].kind == "match"
        assert embedded == asked != []

    browse(folder, story, "kitchen", size=(120, 40))
    assert (folder / "kitchen" / "bank.json").read_bytes() == before
