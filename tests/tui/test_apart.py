"""Lines that begin alike, told apart."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from deltamem_tui.bank.bank import Bank
from deltamem_tui.tui.models.words import distinguished, same_but
from tests.tui.support import Person, browse, grow

KITCHEN = "This room is called the kitchen. In it, you see: a stove"
HALLWAY = "This room is called the hallway. In it, you see: a picture"


def test_what_is_shared_gives_way_only_where_there_is_no_room() -> None:
    assert distinguished(KITCHEN, HALLWAY, 100) == KITCHEN
    assert distinguished(KITCHEN, HALLWAY, 30) == "…kitchen. In it, you see: a stove"
    assert distinguished(KITCHEN, "", 30) == KITCHEN
    assert distinguished(KITCHEN, KITCHEN, 30) == KITCHEN, "nothing tells it from the other"
    assert distinguished("boil water now", "boil milk", 5) == "boil water now", "little is shared"


@given(st.text(), st.text(), st.integers(0, 80))
def test_what_is_shown_is_the_end_of_the_text(text: str, before: str, room: int) -> None:
    shown = distinguished(text, before, room)
    assert text.endswith(shown.removeprefix("…"))
    if cell_len(text) <= room:
        assert shown == text


def test_siblings_that_say_the_same_are_told_apart_by_what_to_do(folder: Path) -> None:
    bank = Bank.open(folder / "kitchen")
    said = [("sing", "1. hum la", 0), ("sing", "1. hum lo", 0), ("loudly", "shout", 1)]
    grow(bank, "task", [(*each, "success") for each in [("heat it", "do", None), *said]])

    async def story(person: Person) -> None:
        await person.press("G", "asterisk")
        lines = [line.partition(" d")[0].strip() for line in person.screen.splitlines()]
        assert [line for line in lines if "○" in line] == ["▾ ○ sing", "○ loudly", "○ ″ lo"]

    browse(folder, story, "kitchen")


def test_siblings_that_do_the_same_too_are_told_apart_by_their_id() -> None:
    assert same_but("1. hum la", "1. hum la", "a1b2") == "″ a1b2"
    assert same_but("1. hum", "1. hum la", "a1b2") == "″ a1b2"
    assert same_but("1. hum la la", "1. hum la", "a1b2") == "″ la"


def test_siblings_are_told_apart_in_the_outline(folder: Path) -> None:
    bank = Bank.open(folder / "kitchen")
    roots = [f"{'the same words before ' * 5}{name}" for name in ("one", "two")]
    grow(bank, "task", [(root, "do", None, "success") for root in roots])

    async def story(person: Person) -> None:
        assert "● the same words before" in person.screen
        assert "● …two" in person.screen

    browse(folder, story, "kitchen")
