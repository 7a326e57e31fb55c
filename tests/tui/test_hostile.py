"""A bank from a stranger goes through every widget: nothing acts, crashes or hides."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from textual import events
from textual.widgets import Input

from deltamem_tui.bank import manifest
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node, Origin, born
from deltamem_tui.bank.transfer import pack
from deltamem_tui.errors import UsageError
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.deltamem.definition import COLLECTIONS
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.tui.core.forms import FormAnswer, FormLine
from deltamem_tui.tui.core.work import Retry
from deltamem_tui.tui.screens.recall import MatchList
from deltamem_tui.tui.widgets.dialogs import EditFieldsDialog, ReadingDialog
from deltamem_tui.tui.widgets.forms import AskDialog
from tests.tui.support import NUMBERS, Person, browse

TEXTS = (
    "walk to [fridge 1]",
    "[/x] [bold red]not bold[/] [@click=app.quit]no link[/]",
    "\x1b[2J\x1b]0;title\x07\x1b]52;c;aGFjaw==\x07after",
    "\x9b31mred\x9d0;t\x9c\x90q\x9c",
    "\u202egnitirw\u202c \u2066hidden\u2069",
    "שלום עולם مرحبا",
    "漢字かな交じり文 한국어 😀👩‍👩‍👧‍👧",
    "\u200d\u200d漢\u200d\u200d😀" * 60,
    "z\u0301\u0302\u0303\u0304\u0305\u0306" * 20,
    "tab\there\r\nand\rthere\x00\x08\x7f",
    "x" * 1_000_000,
    "$(touch /tmp/x) `id` ${HOME} {0} %s",
)
WORST = TEXTS[1:5]
"""What is marked up, acts on the terminal, or turns the writing round."""
DEEP = 900


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    bank = create_bank(folder / "stranger", embedder="hashing", parameters=NUMBERS)
    take_in(bank, [episode(number, text) for number, text in enumerate(TEXTS)])
    vector = _unit(bank)
    with bank.writing() as batch:
        for tree in COLLECTIONS:
            for number, text in enumerate([*TEXTS, ""]):
                origin = Origin(f"[/{number}]", text[:200], text[:200], text[:200], text[:200])
                label: Label = "failure" if number % 2 else "success"
                node = born(tree, None, label, Payload(text, text, text), origin)
                batch.add_node(tree, node, vector)
        above: Node | None = None
        for depth in range(DEEP):
            above = born("task", above, "success", Payload(f"deep {depth}", "deeper"), Origin())
            batch.add_node("task", above, vector)
        batch.log("grow")
    said = replace(bank.manifest, description="\n".join(TEXTS[:9]), domain=TEXTS[1], name=TEXTS[2])
    manifest.write(bank.path, said)
    return folder


def _unit(bank: Bank) -> NDArray[np.float32]:
    vector = np.zeros(bank.manifest.dimensions, dtype=np.float32)
    vector[0] = 1
    return vector


def episode(number: int, text: str) -> Trajectory:
    return Trajectory(
        task=f"{number} {text}",
        environment=text,
        steps=(Step(text, text, text), Step("[/x]", "", "")),
        outcome=Outcome(False, 0.5, "stated", text[:500]),
        source=LogSource("[/file]", "line [1]", "native"),
    )


def assert_harmless(screen: str) -> None:
    assert not [character for character in screen if ord(character) < 32 and character != "\n"]
    assert not [character for character in screen if 0x7F <= ord(character) < 0xA0]
    assert not [character for character in screen if character in "\u202a\u202e\u2066\u2069"]
    assert "]52;" not in screen
    assert "]0;" not in screen


def test_every_screen_shows_a_hostile_bank(hostile: Path) -> None:
    async def story(person: Person) -> None:
        for _ in TEXTS:
            await person.press("j")
            assert_harmless(person.screen)
        for key in ("c", "t", "question_mark", "escape", "D"):
            await person.press(key)
            assert_harmless(person.screen)
        await person.press("escape", "G", "y")
        assert_harmless(person.screen)
        for screen in "234":
            await person.press(screen)
            assert_harmless(person.screen)
            for key in ("j", "j", "G"):
                await person.press(key)
                assert_harmless(person.screen)
        await person.press("b")
        assert_harmless(person.screen)

    browse(hostile, story, "stranger", size=(120, 40))


def test_drafts_notes_and_forms_show_it_harmlessly(hostile: Path) -> None:
    """What is in front now and then: a text that was not saved, what was said, a form."""

    def refuse(text: str) -> Callable[[FormAnswer, Retry], bool]:
        def begin(_: FormAnswer, __: Retry) -> bool:
            raise UsageError(text, source=text[:100], hint=text[:100])

        return begin

    async def story(person: Person) -> None:
        for number, text in enumerate((*WORST, *TEXTS[6:9])):
            place = person.trees.shown.tree_name, person.node.id
            person.trees.home.drafts[place] = {"activation_condition": clean(text)}
            await person.press("e")
            assert isinstance(person.app.screen, EditFieldsDialog)
            assert_harmless(person.screen)
            await person.press("escape", "escape")
            person.app.notes.notify(text)
            await person.press("N")
            assert isinstance(person.app.screen, ReadingDialog)
            assert_harmless(person.screen)
            await person.press("escape")
            person.app.forms.ask(
                text[:200], [FormLine("line", text[:200], text[:200])], refuse(text)
            )
            await person.settle()
            await person.press("enter")
            assert isinstance(person.app.screen, AskDialog)
            assert_harmless(person.screen)
            await person.press("escape", "j" if number % 2 else "down")

    browse(hostile, story, "stranger", size=(120, 40))


def test_dialogs_and_banks_that_travel_show_it_harmlessly(
    hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a bank says of itself, in the list, before it leaves, arrives and joins another."""
    monkeypatch.chdir(tmp_path)
    folder = Path(shutil.copytree(hostile, tmp_path / "banks"))
    create_bank(folder / "own", embedder="hashing", parameters=NUMBERS)
    archive = tmp_path / "stranger.deltamem"
    pack(Bank.open(folder / "stranger"), with_episodes=True).write(archive)
    with Bank.open(folder / "stranger").writing() as batch:
        batch.log("refuse", {"trajectory": episode(2, TEXTS[2]).id, "reason": TEXTS[2]})

    async def story(person: Person) -> None:
        assert_harmless(person.screen)
        for keys in (("n",), ("i",), ("M",), ("d",), ("X", "enter")):
            await person.press(*keys)
            assert_harmless(person.screen)
            await person.press("escape")
        await person.press("i")
        await person.write(str(archive))
        await person.press("tab")
        await person.write("guest")
        await person.press("enter")
        assert "Install it as guest?" in person.screen
        assert_harmless(person.screen)
        await person.press("escape", "M", "enter")
        assert "into own?" in person.screen
        assert_harmless(person.screen)
        await person.press("escape", "j", "enter", "3")
        for keys in (("L",), ("i",)):
            await person.press(*keys)
            assert_harmless(person.screen)
            await person.press("escape")
        await person.press("j", "j")
        assert "Could not be learnt" in person.screen
        assert_harmless(person.screen)

    browse(folder, story, size=(120, 40))


def test_texts_are_edited_in_a_field_each(hostile: Path) -> None:
    async def story(person: Person) -> None:
        left: list[object] = []
        for text in (each for each in TEXTS if len(each) < 10_000):
            left.clear()
            dialog = EditFieldsDialog({"when": text[:100]}, {"when": clean(text)}, {})
            person.app.push_screen(dialog, left.append)
            await person.settle()
            assert_harmless(person.screen)
            await person.press("f2")
            assert left == [{"when": clean(text)}]

    browse(hostile, story, "stranger")


def test_a_long_text_says_how_much_is_left(hostile: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("slash")
        await person.write("xxxxxxxxxx")
        await person.press("enter")
        shown = person.trees.readable()
        assert (
            shown[1]
            .shown_body("v")
            .endswith("… 980,000 more characters: press v to read all of it")
        )
        read: list[str] = []
        person.app.texts.read = read.append
        await person.press("v")
        assert "x" * 1_000_000 in read[0]

    browse(hostile, story, "stranger")


def test_the_filter_says_harmlessly_what_it_cannot_read(
    hostile: Path,
) -> None:
    async def story(person: Person) -> None:
        await person.press("slash")
        for text in (each for each in TEXTS if len(each) < 1_000):
            for typed, said in (("label:", "✗ label:"), ("kind:", "✗ kind:")):
                await person.write(f"{typed}'{text}'")
                assert said in person.screen
                assert_harmless(person.screen)
                await person.press("enter")
                assert_harmless(person.screen)
                await person.press("slash")
        await person.write("")
        person.app.post_message(events.Paste("x" * 1_000_000))
        await person.settle()
        assert not person.app.screen.query_one("#filter", Input).value, "no filter is so long"

    browse(hostile, story, "stranger", size=(60, 20))


def test_its_scores_are_shown_and_lead_to_its_nodes(hostile: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("2")
        await person.write("walk to [fridge 1]")
        matches = person.app.screen.query_one("#task-matches", MatchList)
        matches.focus()
        met = set()
        for line in range(matches.line_count()):
            matches.cursor = line
            await person.settle()
            assert_harmless(person.screen)
            if matches.node:
                met.add(matches.node.payload["activation_condition"])
        assert len(met & set(TEXTS)) > 1
        wanted = matches.node
        assert wanted is not None
        await person.press("enter")
        assert person.node.id == wanted.id
        assert_harmless(person.screen)

    browse(hostile, story, "stranger", size=(120, 40))
