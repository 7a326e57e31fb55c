"""Filters as they are typed: what is read, what is refused and why, what is taken as words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Origin, born
from deltamem_tui.errors import UsageError
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.memory.filters import (
    NODES,
    matching,
    occurrences,
)
from tests.tui.support import add_plain, bare_bank


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("label:foo", "label: 'foo' is not one of its values (failure or success)"),
        ("kind:", "kind: '' is not one of its values (root or residual)"),
        ("-kind:r", "kind: 'r' is not one of its values (root or residual)"),
    ],
)
def test_a_value_that_cannot_be_is_refused(typed: str, said: str) -> None:
    with pytest.raises(UsageError) as refusal:
        NODES.parse(typed)
    assert str(refusal.value) == said


def test_what_is_no_condition_is_words() -> None:
    assert NODES.parse("12:30 https://x depht:3").words == ("12:30", "https://x", "depht:3")


@given(some.text("aBc ", max_size=12), some.lists(some.text("aBc", max_size=3), max_size=3))
def test_a_text_that_fits_a_filter_is_marked_where_its_words_stand(
    text: str, typed: list[str]
) -> None:
    wanted = NODES.parse(" ".join(typed))
    found = occurrences(text, wanted.words)
    assert all(text[start:end].casefold() in wanted.words for start, end in found)
    assert wanted.holds("0", text) == all(occurrences(text, [word]) for word in wanted.words)


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    bank = bare_bank(tmp_path / "ids")
    said = [Payload(f"root {number}", f"do {number}") for number in range(40)]
    add_plain(bank, "task", [born("task", None, "success", each, Origin()) for each in said])
    return Bank.open(bank.path)


def found(bank: Bank, typed: str) -> list[str]:
    tree = bank.tree("task")
    kept = matching(tree, NODES.parse(typed))
    return [tree.node_at(int(row)).id for row in kept.nonzero()[0]]


def test_a_node_is_found_by_the_beginning_of_its_id(bank: Bank) -> None:
    ids = [node.id for node in bank.tree("task")]
    for node_id in ids:
        for typed in (node_id, node_id[:8], node_id[:4].upper()):
            assert found(bank, typed) == [node_id]
    assert found(bank, f"{ids[3]} root") == [ids[3]]
    assert found(bank, f"{ids[3]} kind:residual") == []


def test_words_and_conditions_are_negated(bank: Bank) -> None:
    ids = {node.payload["activation_condition"]: node.id for node in bank.tree("task")}
    assert found(bank, "root -1 -2 -3 -4") == [ids[f"root {n}"] for n in (0, 5, 6, 7, 8, 9)]
    assert found(bank, "-kind:root") == []
