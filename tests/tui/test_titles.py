"""A title is short and has both ends of its text; what a delta repeats gives way."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Origin, born
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.memory.method import display_of
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
    assert display.difference(longer, root) == "… in haste"


def test_a_node_and_its_chain_say_what_they_repeat(folder: Path) -> None:
    bank = Bank.open(folder / "kitchen")
    tree, display = bank.tree("task"), display_of(bank, "task")
    chain = tree.chain(next(node.id for node in tree if node.depth == 3))
    when = detail(tree, chain[-1], display)[1]
    assert when.above == (SKILLS[0][0], SKILLS[1][0])
    assert [len(each.above) for each in chain_sections(display, chain)] == [0, 1, 2]
