"""What was filled in for nothing is not lost: it is asked for again, and the reason told."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, Static

from deltamem_tui.bank.bank import Bank
from deltamem_tui.config import Configuration
from deltamem_tui.errors import Remedy, UsageError
from deltamem_tui.memory import method as methods
from deltamem_tui.tui.core.notes import in_words, remedies
from deltamem_tui.tui.core.work import BankChange, WorkPlan
from deltamem_tui.tui.jobs.episodes import import_logs
from deltamem_tui.tui.screens import learning
from deltamem_tui.tui.widgets.forms import AskDialog, Choices
from tests.memory import flat_method
from tests.places import DOCS
from tests.tui.support import Person, browse


async def fill(person: Person, **answers: str) -> None:
    """Fill in some lines of a dialog, and go on."""
    assert isinstance(person.app.screen, AskDialog)
    for name, answer in answers.items():
        person.app.screen.query_one(f"#{name}", Input).value = answer
    await person.press("enter")


def filled(person: Person) -> Mapping[str, str]:
    """What the lines of the dialog in front say."""
    assert isinstance(person.app.screen, AskDialog)
    return {line.id or "": line.value for line in person.app.screen.query(Input)}


def reason(person: Person) -> str:
    return str(person.app.screen.query_one("#reason").render())


def test_a_bank_whose_embedder_is_not_there_is_asked_for_again(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("n")
        await fill(person, name="lab", description="for the lab")
        assert "no such folder" in person.said[-1]
        assert filled(person) == {"name": "lab", "description": "for the lab"}
        assert "no such folder" in reason(person)
        assert "minilm" in reason(person)
        await person.press("end", "enter")
        assert person.said[-1] == "created lab"
        await person.press("escape", "b", "n")
        assert filled(person)["name"] == ""
        assert not person.app.screen.query("#reason")

    settings = Configuration(embedder="./no-such-model")
    browse(folder, story, size=(80, 24), configuration=settings)
    assert Bank.open(folder / "lab").manifest.description == "for the lab"


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("keys", "typed", "refused"),
    [
        ("n", {"name": "kitchen"}, "name"),
        ("n", {"name": "a/b"}, "name"),
        ("i", {"source": "{here}", "digest": "sha256:abc"}, "digest"),
        ("i", {"source": "{here}"}, "name"),
        ("i", {"source": "no/such"}, "source"),
        ("enter 3 i", {"path": "no/such"}, "path"),
        ("enter 3 i", {"path": "-"}, "path"),
        ("enter 3 i", {"path": "{here}", "format": "no-such-format"}, "format"),
        ("enter 3 L", {"model": "gpt-4o", "max_cost": "much"}, "max_cost"),
        ("enter 3 L", {"model": "gpt-4o", "max_cost": "-1"}, "max_cost"),
        ("enter 3 L", {"model": "gpt-4o", "concurrency": "many"}, "concurrency"),
        ("enter 3 L", {"model": "gpt-4o", "concurrency": "0"}, "concurrency"),
        ("enter 3 L", {"model": "gpt-4o", "address": "nowhere"}, "address"),
    ],
)
def test_a_form_comes_back_with_the_cursor_on_the_line_that_was_refused(
    folder: Path, keys: str, typed: Mapping[str, str], refused: str
) -> None:
    async def story(person: Person) -> None:
        await person.press(*keys.split())
        here = str(folder / "kitchen")
        await fill(person, **{name: said.format(here=here) for name, said in typed.items()})
        assert person.app.focused is not None
        assert person.app.focused.id == refused
        assert "✗ " in str(person.app.screen.query_one(".-label.-refused").render())
        assert all(means not in reason(person) for means in ("--", "standard input"))
        preview = person.app.screen.query("#preview").first(Static).render() if "3" in keys else ""
        assert person.app.notes.current is None, "the form says it, and nothing else does"
        assert reason(person) not in str(preview)
        await person.press("escape", keys[-1])
        assert not person.app.screen.query("#reason"), "a form that was left is a new one"
        assert not set(filled(person).items()) & set(typed.items())

    browse(folder, story)


def test_the_browser_has_its_own_words_for_every_remedy() -> None:
    words = remedies(lambda action: action)
    assert set(words) == set(Remedy)
    assert not [each for each in words.values() if "--" in each]
    error = UsageError("no", hint=Remedy.NAME_FORMAT)
    assert in_words(error, words).hint == words[Remedy.NAME_FORMAT]
    assert error.hint is Remedy.NAME_FORMAT


def test_who_went_on_finds_it_as_it_was_and_no_key_is_taken(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = str(tmp_path / "[/no]")
    go_on = threading.Event()

    def late(*given: Any) -> BankChange | WorkPlan:
        assert go_on.wait(20)
        return import_logs(*given)

    monkeypatch.setattr(learning, "import_logs", late)

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(log)
        await person.pilot.press("enter", "j")
        go_on.set()
        await person.settle()
        front = person.app.screen
        assert not isinstance(front, AskDialog)
        assert "[/no]" in person.said[-1]
        await person.press("i")
        assert filled(person) == {"path": log, "format": ""}
        await person.press("escape", "i")
        assert filled(person) == {"path": "", "format": ""}, "a form that was left is a new one"

    browse(folder, story, "kitchen")


def test_what_was_filled_in_is_kept_if_the_plan_is_declined_and_gone_once_it_is_done(
    folder: Path, tmp_path: Path
) -> None:
    answers = {"out": str(tmp_path / "x.deltamem"), "builder": "somebody"}

    async def story(person: Person) -> None:
        await person.press("X")
        await fill(person, **answers)
        await person.press("escape", "X")
        assert filled(person) == answers
        assert not person.app.screen.query("#reason")
        await person.press("enter", "y")
        assert person.said[-1].startswith("wrote ")
        await person.press("X")
        assert filled(person) == {"out": "", "builder": ""}

    browse(folder, story)


def test_episodes_are_learnt_again_by_the_method_that_is_chosen(folder: Path) -> None:
    flat_method.register()

    async def story(person: Person) -> None:
        await person.press("3", "n")
        known = methods.names()
        await person.press("tab", "tab", "tab", *["down"] * known.index("flat"))
        assert person.app.screen.query_one("#method", Choices).chosen == "flat"
        await fill(person, name="other")
        other, kitchen = Bank.open(folder / "other"), Bank.open(folder / "kitchen")
        assert other.manifest.method == "flat"
        assert other.episodes.waiting() == kitchen.episodes.ids()

    browse(folder, story, "kitchen", size=(100, 40))


@pytest.fixture(autouse=True)
def only_the_package_s_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods, "PLACES", {**methods.PLACES})


def test_the_keys_of_a_form_stay_in_sight_below_what_would_come_of_it(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(DOCS / "sample" / "alfworld.jsonl.gz"))
        assert "put a clean knife" in person.screen
        assert "escape cancels" in person.screen

    browse(folder, story, "kitchen", size=(60, 16))
