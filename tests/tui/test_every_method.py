"""The browser speaks of a bank as its method does, whichever it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from deltamem_tui.embedding.load import load
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.method import display_of, is_shown, method_named, names, settings_of
from deltamem_tui.memory.settings import listed
from deltamem_tui.tui.screens.numbers import lab_numbers
from deltamem_tui.tui.widgets.forms import Choices
from tests.tui.support import LEARNT, Person, browse


@pytest.mark.one_in(2)
@pytest.mark.parametrize("method", names())
def test_outlines_and_recall_lab_have_its_words_and_numbers(tmp_path: Path, method: str) -> None:
    bank = create_bank(tmp_path / "rooms", embedder="hashing", domain="alfworld", method=method)
    learn(bank, LEARNT, embedder=load("hashing"))
    settings = settings_of(bank)
    numbers = {each.path: each for each in listed(settings)}

    async def story(person: Person) -> None:
        await person.press("1")  # a bank without nodes opens on its episodes
        for name, tree in bank.trees.items():
            if is_shown(bank, name):
                assert f"{display_of(bank, name).title} · {len(tree)} node" in person.screen
        await person.press("2")
        assert method_named(method).ranking in " ".join(person.screen.split())
        await person.press("escape", "p")
        for path in settings.recalling:
            line = person.app.screen.query_one(f"#{path.replace('.', '-')}")
            assert isinstance(line, Choices if numbers[path].choices else Input)
        await person.press("escape", "plus")
        first = next(name for name in bank.trees if display_of(bank, name).asked)
        can_move = any(isinstance(each.value, int | float) for each in lab_numbers(bank)[first])
        can_move &= method != "deltamem"  # a threshold moves once an answer uses it
        assert ("tried: " in person.screen) == can_move
        await person.press("0")
        assert "tried: " not in person.screen

    browse(tmp_path, story, "rooms", size=(200, 50))
