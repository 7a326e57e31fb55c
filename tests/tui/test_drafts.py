"""A text that could not be saved is never lost: the next edit offers it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import TEXT_LIMIT
from deltamem_tui.memory import editing
from deltamem_tui.tui.core import texts as programs
from deltamem_tui.tui.widgets.dialogs import DraftDialog
from tests.tui.support import Person, browse

Edit = Callable[[str], str]
TOO_LONG = TEXT_LIMIT + 1


def spoilt_heading(text: str) -> str:
    return text.replace("heat some", "MY WORDS").replace("= execution procedure", "= how")


def too_long(text: str) -> str:
    return text.replace("1. find it", "MY WORDS " + "x" * TOO_LONG)


def in_a_conflict(folder: Path) -> Edit:
    def edit(text: str) -> str:
        bank = Bank.open(folder / "kitchen")
        editing.relabel(bank, "task", next(bank.tree("task").roots()), "failure")
        return text.replace("1. find it", "MY WORDS")

    return edit


def in_a_frozen_bank(folder: Path) -> Edit:
    def edit(text: str) -> str:
        Bank.open(folder / "kitchen").freeze()
        return text.replace("1. find it", "MY WORDS")

    return edit


@pytest.mark.one_in(3)
@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize(
    "spoil", [lambda _: spoilt_heading, lambda _: too_long, in_a_conflict, in_a_frozen_bank]
)
def test_a_refused_edit_is_offered_by_the_next(
    folder: Path, spoil: Callable[[Path], Edit], closed: bool
) -> None:
    written: list[str] = []
    offered: list[str] = []

    def spoiling(text: str) -> str:
        written.append(spoil(folder)(text))
        return written[-1]

    def mending(text: str) -> str:
        offered.append(text)
        mended = text.replace("= how", "= execution procedure")
        return mended.replace("MY WORDS " + "x" * TOO_LONG, "MY WORDS")

    async def story(person: Person) -> None:
        person.app.texts.editor = spoiling
        await person.press("ctrl+e")
        assert "your text is kept, e offers it again" in person.said[-1]
        assert "deltamem bank unfreeze" not in person.said[-1]
        assert (
            "MY WORDS" not in Bank.open(folder / "kitchen").tree("task").node(person.node.id).text
        )
        if closed:
            await person.press("b", "enter")
        if Bank.open(folder / "kitchen").frozen:
            await person.press("Z", "y")
        person.app.texts.editor = mending
        await person.press("ctrl+e")
        assert isinstance(person.app.screen, DraftDialog)
        assert "Your text" in person.screen
        await person.press("y")
        assert offered == written
        assert "MY WORDS" in person.node.text
        await person.press("ctrl+e")
        assert len(offered) == 2, "what is saved is offered no more"

    browse(folder, story, "kitchen", size=(120, 40))


def editor(folder: Path, script: str) -> str:
    file = folder / "editor"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return str(file)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("sed -i 's/heat some/MY WORDS/' \"$1\"; exit 1", "ended with 1"),
        ("printf 'MY WORDS \\377' > \"$1\"", "is not UTF-8"),
    ],
)
def test_an_editor_that_fails_loses_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor(tmp_path, script))

    async def story(person: Person) -> None:
        person.app.texts.editor = programs.edited
        await person.press("ctrl+e")
        assert said in person.said[-1]
        await person.press("ctrl+e")
        assert isinstance(person.app.screen, DraftDialog)
        assert "MY WORDS" in person.screen

    browse(folder, story, "kitchen")
