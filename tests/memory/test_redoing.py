"""What was undone is done again, one change after another, until another change is made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import BankError
from deltamem_tui.memory import editing
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.memory.editing import redo, redoable
from deltamem_tui.memory.episodes.outcomes import give_outcome
from tests.memory.support import ChosenEmbedder, episode, new_bank, parameters, teach


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    """A root with a child, and two roots beside it."""
    made = new_bank(tmp_path / "bank", parameters(tau_base=0.8, d_max=4, env=False))
    for task in ((1, 0, 0), (1, 0.1, 0), (0, 1, 0), (0, 0, 1)):
        teach(made, episode(task))
    return made


def shape(bank: Bank) -> list[object]:
    tree = bank.tree("task")
    nodes = [structs.replace(node, revision=0) for node in tree]
    return [(node, tree.embeddings[tree.row(node.id)].tolist()) for node in nodes]


def node(bank: Bank, number: int) -> Node:
    return list(bank.tree("task"))[number]


CHANGES: tuple[Callable[[Bank], object], ...] = (
    lambda bank: editing.edit(
        bank, "task", node(bank, 0), Payload("0 1 0", "other"), embedder=ChosenEmbedder()
    ),
    lambda bank: editing.relabel(bank, "task", node(bank, 0), "failure"),
    lambda bank: editing.move(bank, "task", node(bank, 0), node(bank, 2)),
    lambda bank: editing.delete(bank, "task", node(bank, 2)),
)


def test_undos_and_redos_walk_over_the_same_states(bank: Bank) -> None:
    states = [shape(bank)]
    for change in CHANGES:
        change(bank)
        states.append(shape(bank))
    at = len(CHANGES)
    for steps in (-3, 2, -1, 1, -2, 3, -4, 4):
        for _ in range(abs(steps)):
            (editing.undo if steps < 0 else redo)(bank)
            at += 1 if steps > 0 else -1
            assert shape(bank) == states[at]
        stranger = give_outcome(bank, bank.episodes.ids()[0], success=True)  # ends nothing
        give_outcome(bank, stranger.id, success=None)
    assert redoable(bank) is None
    assert verify(bank) == []


def test_another_change_ends_what_can_be_redone(bank: Bank) -> None:
    with pytest.raises(BankError, match="no change by hand is left to redo"):
        redo(bank)
    CHANGES[1](bank)
    editing.undo(bank)
    undone, change = redoable(bank) or (None, None)
    assert (undone, change and change.event) == (bank.commit, "relabel")
    editing.relabel(bank, "task", node(bank, 3), "failure")
    with pytest.raises(BankError, match="no change by hand is left to redo"):
        redo(bank)
    editing.undo(bank)
    with pytest.raises(BankError, match="another change was made, undone or redone"):
        redo(bank, undone)
    assert redo(bank).nodes[0].id == node(bank, 3).id
    with pytest.raises(BankError, match="no change by hand is left to redo"):
        redo(bank)


def test_a_node_that_was_learnt_below_is_not_left_without_its_base(bank: Bank) -> None:
    editing.delete(bank, "task", node(bank, 0))
    editing.undo(bank)
    teach(bank, episode((1, 0.05, 0)))
    with pytest.raises(BankError, match="another node was hung below it since"):
        redo(bank)
    editing.move(bank, "task", node(bank, 3), node(bank, 2))
    teach(bank, episode((0, 0, 1.01)))
    with pytest.raises(BankError, match="another node was hung below it since"):
        editing.undo(bank)
    assert editing.redoable(bank) is None
    assert verify(bank) == []
