"""Putting right: each change is one commit, and can be undone unless it was built on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import (
    BankError,
    BankFrozenError,
    NodeNotFoundError,
)
from deltamem_tui.memory import editing
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.memory.episodes.outcomes import give_outcome
from deltamem_tui.memory.filters import NODES, matching
from tests.memory.support import ChosenEmbedder, episode, new_bank, parameters, teach


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    """A chain of three, and a root beside it."""
    made = new_bank(tmp_path / "bank", parameters(tau_base=0.8, d_max=4, env=False))
    for task in ((1, 0, 0), (1, 0.1, 0), (1, 0.1, 0.1), (0, 0, 1)):
        teach(made, episode(task))
    assert [node.depth for node in made.tree("task")] == [1, 2, 3, 1]
    return made


def nodes(bank: Bank) -> list[Node]:
    return list(bank.tree("task"))


def test_an_edit_keeps_id_place_and_counts(bank: Bank) -> None:
    before = nodes(bank)
    counts = bank.tree("task").counts(before[0].id)
    said = Payload("0 1 0", "something else", "done")
    change = editing.edit(bank, "task", before[0], said, embedder=ChosenEmbedder())
    (after,) = change.nodes
    assert after == structs.replace(before[0], payload=said, revision=1)
    tree = Bank.open(bank.path).tree("task")
    assert [node.id for node in tree] == [node.id for node in before]
    assert tree.counts(after.id) == counts
    assert tree.embeddings[tree.row(after.id)].tolist() == [0, 1, 0]
    assert verify(bank) == []


def test_what_was_read_too_early_is_not_written(bank: Bank) -> None:
    stale = nodes(bank)[0]
    editing.relabel(bank, "task", stale, "failure")
    attempts: list[Callable[[], object]] = [
        lambda: editing.relabel(bank, "task", stale, "failure"),
        lambda: editing.delete(bank, "task", stale),
        lambda: editing.move(bank, "task", stale, nodes(bank)[3]),
        lambda: editing.move(bank, "task", nodes(bank)[3], stale),
    ]
    for attempt in attempts:
        with pytest.raises(BankError, match="changed since you read it"):
            attempt()


def test_a_move_takes_all_below_along(bank: Bank) -> None:
    root, middle, leaf, other = nodes(bank)
    editing.move(bank, "task", middle, other)
    moved = bank.tree("task").chain(leaf.id)
    assert [node.id for node in moved] == [other.id, middle.id, leaf.id]
    assert [node.depth for node in moved] == [1, 2, 3]
    assert list(bank.tree("task").children(root.id)) == []
    editing.move(bank, "task", bank.tree("task").node(middle.id), None)
    assert bank.tree("task").node(middle.id).kind == "root"
    assert bank.tree("task").node(leaf.id).depth == 2
    assert verify(bank) == []


def test_a_move_that_cannot_be(bank: Bank) -> None:
    root, middle, leaf, other = nodes(bank)
    for node, parent, words in (
        (root, leaf, "below itself"),
        (root, root, "below itself"),
        (middle, root, "there already"),
        (other, None, "there already"),
        (root, other, None),
    ):
        if words is None:
            editing.move(bank, "task", node, parent)
            continue
        with pytest.raises(BankError, match=words):
            editing.move(bank, "task", node, parent)
    assert bank.tree("task").node(leaf.id).depth == 4
    fresh = teach(bank, episode((0, 1, 0)))
    new = fresh.trees["task"].node
    assert new is not None
    with pytest.raises(BankError, match="at most 4"):
        editing.move(bank, "task", bank.tree("task").node(other.id), new)


def test_deleting_takes_all_below_and_undo_brings_it_back(bank: Bank) -> None:
    before = nodes(bank)
    vectors = [bank.tree("task").embeddings[bank.tree("task").row(n.id)].tolist() for n in before]
    change = editing.delete(bank, "task", before[1])
    assert [node.id for node in change.nodes] == [before[1].id, before[2].id]
    with pytest.raises(NodeNotFoundError):
        bank.tree("task").node(before[2].id)
    editing.undo(bank)
    after = nodes(bank)
    assert [structs.replace(node, revision=0) for node in after] == before
    tree = Bank.open(bank.path).tree("task")
    assert [tree.embeddings[tree.row(node.id)].tolist() for node in after] == vectors
    assert verify(bank) == []


def test_changes_are_undone_one_after_another(bank: Bank) -> None:
    before = nodes(bank)
    embedder = ChosenEmbedder()
    editing.edit(bank, "task", before[0], Payload("0 1 0", "other"), embedder=embedder)
    editing.relabel(bank, "task", nodes(bank)[0], "failure")
    editing.move(bank, "task", nodes(bank)[1], nodes(bank)[3])
    editing.delete(bank, "task", nodes(bank)[3])
    assert len(nodes(bank)) == 1
    for left in range(4, 0, -1):
        assert editing.undoable(bank) is not None
        assert editing.undo(bank).kind == "undo", left
    assert [structs.replace(node, revision=0) for node in nodes(bank)] == before
    assert editing.undoable(bank) is None
    with pytest.raises(BankError, match="no change by hand"):
        editing.undo(bank)
    assert verify(bank) == []


def test_what_was_changed_again_since_is_not_undone(bank: Bank) -> None:
    editing.relabel(bank, "task", nodes(bank)[0], "failure")
    with bank.writing() as batch:
        batch.revise_node("task", structs.replace(nodes(bank)[0], consolidated=True))
        batch.log("consolidate")
    with pytest.raises(BankError, match="changed again since"):
        editing.undo(bank)
    assert nodes(bank)[0].label == "failure"


def test_only_the_expected_change_is_undone(bank: Bank) -> None:
    editing.relabel(bank, "task", nodes(bank)[0], "failure")
    expected = editing.undoable(bank)
    editing.relabel(Bank.open(bank.path), "task", nodes(bank)[3], "failure")
    with pytest.raises(BankError, match="another change was made, undone or redone"):
        editing.undo(bank, expected)
    assert [node.label for node in nodes(bank)] == ["failure", "success", "success", "failure"]
    editing.undo(bank)
    assert editing.undo(bank, expected).nodes[0].label == "success"
    with pytest.raises(BankError, match="another change was made, undone or redone"):
        editing.undo(bank, expected)


def test_a_frozen_bank_refuses(bank: Bank) -> None:
    bank.freeze()
    first, _, _, other = nodes(bank)
    attempts: list[Callable[[], object]] = [
        lambda: editing.edit(bank, "task", first, Payload("1 1 1", "x")),
        lambda: editing.relabel(bank, "task", first, "failure"),
        lambda: editing.move(bank, "task", first, other),
        lambda: editing.delete(bank, "task", first),
        lambda: editing.undo(bank),
        lambda: give_outcome(bank, "0" * 16, success=True),
    ]
    for attempt in attempts:
        with pytest.raises(BankFrozenError):
            attempt()
    assert verify(bank) == []


def test_filters_never_let_the_dead_through(bank: Bank) -> None:
    editing.delete(bank, "task", nodes(bank)[2])
    tree = bank.tree("task")
    for text in ("", "kind:residual", "1", "label:success -is:consolidated", "is:never-recalled"):
        kept = matching(tree, NODES.parse(text))
        assert not (kept & tree.dead).any()
    assert matching(tree, NODES.parse("kind:residual")).sum() == 1
