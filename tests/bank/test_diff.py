"""What differs between two banks, and a bank's files as text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.diff import FieldChange, TreeDiff, diff
from deltamem_tui.bank.transfer import copy_bank
from deltamem_tui.memory.deltamem.rules import Payload
from tests.bank.support import learn_one, manifest, node, vector


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Bank, Bank]:
    bank = Bank.create(tmp_path / "one", manifest("one"))
    for number in range(6):
        learn_one(bank, number)
    return bank, copy_bank(bank, tmp_path / "two", history=True)


def test_a_copy_does_not_differ(pair: tuple[Bank, Bank]) -> None:
    assert diff(*pair).empty


def test_every_kind_of_difference_is_told_once(pair: tuple[Bank, Bank]) -> None:
    one, two = pair
    before = list(two.tree("task"))
    leaf = next(each for each in before if not list(two.tree("task").children(each.id)))
    others = [each for each in before if each.id != leaf.id]
    root = next(each for each in others if each.parent is None)
    residual = next(each for each in others if each.parent is not None)
    new = node("new")
    with two.writing() as batch:
        batch.add_node("task", new, vector(50))
        batch.revise_node("task", structs.replace(leaf, deleted=True))
        batch.revise_node(
            "task", structs.replace(root, payload=Payload("when x", "how"), label="failure")
        )
        batch.count("task", root.id, hits=3)
        batch.put_episode({"id": "f" * 16})
        batch.log("edit")
    two.change_manifest("parameters", lambda now: (replace(now, domain="kitchens"), {}))
    found = diff(one, two)
    task = found.trees["task"]
    assert task.added == (new,)
    assert task.removed == (leaf,)
    (changed,) = task.changed
    assert [(each.name, each.after) for each in changed.fields] == [
        *([("label", "failure")] if root.label == "success" else []),
        ("activation_condition", "when x"),
        ("execution_procedure", "how"),
    ]
    assert task.moved == ()
    (counted,) = task.counted
    assert counted.after.hits == counted.before.hits + 3
    assert found.trees["env"] == TreeDiff()
    assert found.manifest == (FieldChange("domain", "generic", "kitchens"),)
    assert found.episodes.added == ("f" * 16,)
    assert residual.parent is not None
    back = diff(two, one)
    assert (back.trees["task"].added, back.trees["task"].removed) == ((leaf,), (new,))
    assert back.episodes.removed == ("f" * 16,)


def test_a_moved_node_is_moved_and_not_changed(pair: tuple[Bank, Bank]) -> None:
    one, two = pair
    residual = next(each for each in two.tree("task") if each.parent is not None)
    assert not list(two.tree("task").children(residual.id))
    with two.writing() as batch:
        batch.revise_node("task", structs.replace(residual, parent=None, kind="root", depth=1))
        batch.log("move")
    task = diff(one, two).trees["task"]
    assert task.changed == ()
    assert [each.fields for each in task.moved] == [(FieldChange("parent", residual.parent, None),)]
