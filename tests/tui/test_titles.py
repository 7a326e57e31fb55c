"""A title is short and has both ends of its text; what a delta repeats gives way."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.memory.method import display_of, method_named
from deltamem_tui.text import one_line
from deltamem_tui.tui.models.nodes import chain_sections, detail
from deltamem_tui.tui.models.sections import title_of
from tests.tui.support import SKILLS


@given(st.text(alphabet="ab 日本\u200de\u0301", max_size=60), st.integers(0, 40))
def test_a_title_fits_and_has_both_ends(text: str, width: int) -> None:
    title = title_of(text, width)
    assert cell_len(title) <= max(width, 1)
    begin, left_out, end = title.partition("…")
    if left_out:
        assert text.replace("\u200d\u200d", "\u200d").startswith(begin[:1])
        assert text.endswith(end[-1:])


def test_siblings_that_part_late_are_told_apart() -> None:
    rooms = [f"This room is called the hall. In it, you see: a {name}" for name in ("bed", "mug")]
    assert [title_of(room, 24) for room in rooms] == [
        "This room is…see: a bed",
        "This room is…see: a mug",
    ]


def test_a_node_says_what_its_parent_does_not(folder: Path) -> None:
    bank = Bank.open(folder / "kitchen")
    tree, display = bank.tree("task"), display_of(bank, "task")
    root, child, *_ = tree.chain(next(node.id for node in tree if node.depth == 3))
    assert display.difference(root, None) == SKILLS[0][0]
    assert display.difference(child, root) == SKILLS[1][0], "three words in common are few"
    said = Payload(SKILLS[0][0], "1. find it\n2. stir it")
    again = born("task", root, "success", said, Origin())
    assert display.difference(again, root) == "+ stir it"
    longer = born("task", root, "success", Payload(f"{SKILLS[0][0]} in haste", "go"), Origin())
    assert display.difference(longer, root) == "… in haste + go"


def test_a_node_and_its_chain_say_what_they_repeat(folder: Path) -> None:
    bank = Bank.open(folder / "kitchen")
    tree, display = bank.tree("task"), display_of(bank, "task")
    chain = tree.chain(next(node.id for node in tree if node.depth == 3))
    when = detail(tree, chain[-1], display)[1]
    assert when.above == (SKILLS[0][0], SKILLS[1][0])
    assert [len(each.above) for each in chain_sections(display, chain)] == [0, 1, 2]


@given(st.text(max_size=300), st.text(max_size=80))
def test_no_title_is_longer_than_sixty_characters(text: str, more: str) -> None:
    display = method_named("deltamem").display["task"]
    root = born("task", None, "success", Payload(text, "go"), Origin())
    child = born("task", root, "failure", Payload(f"{text} ({more})", f"go\n{more}"), Origin())
    titles = (display.of_title(root), display.of_title(child), display.difference(child, root))
    assert all(len(each) <= 60 and each == one_line(each) for each in titles)


@pytest.mark.parametrize(
    ("tree", "text", "title"),
    [
        ("task", "boil …. First, focus on it. Then, heat it. (water)", "boil … · water"),
        ("task", "## Crash on start\n\nSteps to reproduce:", "Crash on start"),
        (
            "task",
            "Hi. Please mend it, e.g. by a lock. Thanks!",
            "Hi. Please mend it, e.g. by a lock",
        ),
        ("task", "make it fast: sort once", "make it fast: sort once"),
        ("task", "", ""),
        ("env", "This room is called the hall. In it, you see: a bed, a mug.", "hall: bed, mug"),
        ("env", "looking around you see a bed, an egg (mug, egg)", "bed, egg · mug, egg"),
    ],
)
def test_a_title_is_what_it_is_for_then_what_sets_it_apart(
    tree: str, text: str, title: str
) -> None:
    display = method_named("deltamem").display[tree]
    payload = dict.fromkeys(("activation_condition", "execution_procedure"), "go")
    assert (
        display.of_title(
            born(tree, None, "success", payload | {"activation_condition": text}, Origin())
        )
        == title
    )


def test_of_a_title_that_is_too_long_both_ends_are_kept() -> None:
    display = method_named("deltamem").display["task"]
    planes = [
        f"say which of two inclined planes of wood has the {how} friction"
        for how in ("least", "most")
    ]
    nodes = [born("task", None, "success", Payload(each, "go"), Origin()) for each in planes]
    assert [display.of_title(each)[-19:] for each in nodes] == [
        "…s the least friction"[-19:],
        "…as the most friction"[-19:],
    ]


def test_siblings_of_one_title_say_where_they_part() -> None:
    display = method_named("deltamem").display["task"]

    def node(when: str, how: str = "go") -> Node:
        return born("task", None, "success", Payload(when, how), Origin())

    planes = [
        f"say which of the two inclined planes ({what}) has the most friction of all"
        for what in ("materials", "unknown materials")
    ]
    assert display.of_title(node(planes[0])) == display.of_title(node(planes[1]))
    twice = [node("heat some egg", how) for how in ("use the oven", "use the stove")]
    titles = display.titles([*map(node, planes), *twice, node("cool some egg")])
    assert titles == [
        "say which of the tw…st friction of all · (materials) has the",
        "say which of the tw…st friction of all · (unknown materials)",
        "heat some egg · oven",
        "heat some egg · stove",
        "cool some egg",
    ]
