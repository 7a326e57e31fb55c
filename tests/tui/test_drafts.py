"""A text that could not be saved is never lost: the next edit offers it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.app import SuspendNotSupported
from textual.widgets import TextArea

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import TEXT_LIMIT
from deltamem_tui.memory import editing
from deltamem_tui.tui.core import texts as programs
from deltamem_tui.tui.core.drafts import Drafts, drafts_file
from deltamem_tui.tui.widgets.dialogs import DraftDialog, EditDocumentDialog
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
        await person.press("e")
        assert "your text is kept, e offers it again" in person.said[-1]
        assert "deltamem unfreeze" not in person.said[-1]
        assert (
            "MY WORDS" not in Bank.open(folder / "kitchen").tree("task").node(person.node.id).text
        )
        if closed:
            await person.press("b", "enter")
        if Bank.open(folder / "kitchen").frozen:
            await person.press("Z", "y")
        person.app.texts.editor = mending
        await person.press("e")
        assert isinstance(person.app.screen, DraftDialog)
        assert "Your text" in person.screen
        await person.press("y")
        assert offered == written
        assert "MY WORDS" in person.node.text
        await person.press("e")
        assert len(offered) == 2, "what is saved is offered no more"

    browse(folder, story, "kitchen", size=(120, 40))


def test_who_wants_to_begin_anew_may(folder: Path) -> None:
    texts: list[str] = []

    def edit(text: str) -> str:
        texts.append(text)
        return spoilt_heading(text) if len(texts) == 1 else text

    async def story(person: Person) -> None:
        person.app.texts.editor = edit
        await person.press("e", "e")
        await person.press("escape")
        assert len(texts) == 1
        await person.press("e", "n")
        assert texts[1] == texts[0], "the node's own text"
        assert person.said[-1] == "nothing was changed"
        await person.press("e")
        assert len(texts) == 3, "nothing is offered any more"

    browse(folder, story, "kitchen")


def test_a_draft_is_of_one_node(folder: Path) -> None:
    async def story(person: Person) -> None:
        person.app.texts.editor = spoilt_heading
        await person.press("e", "j")
        person.app.texts.editor = lambda text: text
        await person.press("e")
        assert person.said[-1] == "nothing was changed"

    browse(folder, story, "kitchen")


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
        await person.press("e")
        assert said in person.said[-1]
        await person.press("e")
        assert isinstance(person.app.screen, DraftDialog)
        assert "MY WORDS" in person.screen

    browse(folder, story, "kitchen")


def test_line_ends_of_another_system_are_no_flaw(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor(tmp_path, "sed -i 's/$/\\r/' \"$1\""))
    assert programs.edited("é\nb\n") == "é\nb\n"


def test_on_the_page_escape_asks_before_it_throws_a_text_away(folder: Path) -> None:
    def no_terminal(_: str) -> str:
        raise SuspendNotSupported

    async def story(person: Person) -> None:
        person.app.texts.editor = no_terminal
        await person.press("e", "escape")
        assert not isinstance(person.app.screen, EditDocumentDialog), "nothing was typed"
        await person.press("e")
        person.app.screen.query_one(TextArea).insert("MY WORDS ")
        await person.press("escape")
        assert "escape again discards what you typed" in person.screen
        await person.press("a")
        assert "escape cancels" in person.screen
        await person.press("escape", "escape")
        assert not isinstance(person.app.screen, EditDocumentDialog)
        assert "MY WORDS" not in person.node.text

    browse(folder, story, "kitchen")


@pytest.mark.parametrize("leave", [True, False])
def test_who_quits_while_editing_on_the_page_loses_nothing(folder: Path, leave: bool) -> None:
    def no_terminal(_: str) -> str:
        raise SuspendNotSupported

    node = next(Bank.open(folder / "kitchen").tree("task").roots())

    async def story(person: Person) -> None:
        person.app.texts.editor = no_terminal
        await person.press("e")
        person.app.screen.query_one(TextArea).insert("MY WORDS")
        await person.settle()
        await person.press(*(("escape", "escape", "q") if leave else ("ctrl+q",)))

    browse(folder, story, "kitchen")
    draft = Drafts(folder / "kitchen").of(("task", node.id))
    assert draft is None if leave else draft is not None and draft.startswith("MY WORDS")


def test_an_empty_text_on_the_page_is_refused_like_any_other(folder: Path) -> None:
    def no_terminal(_: str) -> str:
        raise SuspendNotSupported

    async def story(person: Person) -> None:
        person.app.texts.editor = no_terminal
        await person.press("e")
        person.app.screen.query_one(TextArea).text = ""
        await person.press("f2")
        assert "heading of the activation condition is missing" in person.said[-1]

    browse(folder, story, "kitchen")


@pytest.mark.parametrize("text", ["", "[]", '{"task/a": 1}', "{"])
def test_a_file_that_somebody_spoilt_holds_nothing(tmp_path: Path, text: str) -> None:
    file = drafts_file(tmp_path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    drafts = Drafts(tmp_path)
    assert drafts.of(("task", "a")) is None
    drafts.keep(("task", "a"), "é")
    assert Drafts(tmp_path).of(("task", "a")) == "é"
    drafts.drop(("task", "a"))
    assert not file.exists()


@pytest.mark.skipif(os.geteuid() == 0 and not Path("/proc/self").exists(), reason="needs /proc")
def test_where_nothing_can_be_written_the_text_is_kept_for_this_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/self/nowhere")
    drafts = Drafts(tmp_path)
    drafts.keep(("task", "a"), "words")
    assert drafts.of(("task", "a")) == "words"
