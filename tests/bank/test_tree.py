"""Nodes found through the index: missing, stale or tampered with, it is never believed blindly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from deltamem_tui.bank import tree as tree_module
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import BankCorruptError, BankError, NodeNotFoundError
from tests.bank.support import contents, learn_one, manifest, node, vector


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    """A root with a child and a grandchild, a second root; the first root revised, one deleted."""
    made = Bank.create(tmp_path / "bank", manifest())
    a = node("a")
    b = node("b", a, "failure")
    c = node("c", b)
    d, e = node("d"), node("e")
    with made.writing() as batch:
        for number, each in enumerate((a, b, c, d, e)):
            batch.add_node("task", each, vector(number))
        batch.count("task", b.id, hits=2, recalls=3, successes=1)
        batch.log("learn")
    with made.writing() as batch:
        batch.revise_node("task", structs.replace(a, consolidated=False), vector(9))
        batch.revise_node("task", structs.replace(e, deleted=True))
        batch.log("edit")
    return made


def named(tree: Tree) -> dict[str, Node]:
    return {each.payload["activation_condition"].removeprefix("when "): each for each in tree}


def test_a_tree_knows_its_nodes(bank: Bank) -> None:
    tree = bank.tree("task")
    nodes = named(tree)
    assert list(nodes) == ["a", "b", "c", "d"]
    assert [each.payload for each in tree.chain(nodes["c"].id)] == [
        nodes[name].payload for name in "abc"
    ]
    assert [each.id for each in tree.roots()] == [nodes["a"].id, nodes["d"].id]
    assert [each.id for each in tree.children(nodes["a"].id)] == [nodes["b"].id]
    assert list(tree.children(nodes["d"].id)) == []
    assert tree.counts(nodes["b"].id) == tree_module.Counts(2, 3, 1)
    assert nodes["a"].revision == 1
    assert np.array_equal(tree.embeddings[tree.row(nodes["a"].id)], vector(9))
    assert list(np.flatnonzero(tree.dead)) == [0, 4, 6]
    assert [bool(each) for each in tree.failure] == [False, True, *[False] * 5]
    assert tree.find(nodes["a"].id[:15]) == [nodes["a"].id]
    assert tree.find(nodes["a"].id + "0") == []
    assert tree.find("\udcff") == []


@pytest.mark.parametrize("begin", ["", "\udcff", "zz", "0" * 40])
def test_a_beginning_that_fits_no_node_or_many_is_told(bank: Bank, begin: str) -> None:
    with pytest.raises(NodeNotFoundError):
        bank.find_node(begin)
    with pytest.raises(NodeNotFoundError):
        bank.find_node(node("a").id, "env")
    assert bank.find_node(node("a").id[:8])[1].id == node("a").id


@pytest.mark.parametrize("journal", [True, False])
def test_without_its_index_a_bank_is_the_same(bank: Bank, journal: bool) -> None:
    before = contents(bank)
    for path in bank.path.glob("*.index.npy"):
        path.unlink()
    if not journal:
        bank.journal.path.unlink()
    opened = Bank.open(bank.path)
    assert contents(opened) == before
    assert verify(opened) == []
    assert not list(bank.path.glob("*.index.npy"))  # reading writes nothing
    learn_one(opened, 3)
    again = Bank.open(bank.path)
    assert again.tree("task").snapshot.stored_index() is not None
    assert verify(again) == []
    assert len(again.tree("task")) == 5


def rewritten_index(bank: Bank, name: str, row: int, value: Any) -> None:
    path = bank.path / "task.index.npy"
    index = np.load(path)
    index[name][row] = value
    np.save(path, index)


@pytest.mark.parametrize(
    ("name", "row", "value"),
    [
        ("offset", 0, 1),
        ("offset", 3, 0),
        ("offset", 6, 2**40),
        ("offset", 6, 2**64 - 1),
        ("first", 1, 5),
        ("first", 1, -1),
        ("first", 0, 2**62),
    ],
)
def test_an_index_that_points_astray_is_made_again(
    bank: Bank, name: str, row: int, value: int
) -> None:
    before = contents(bank)
    rewritten_index(bank, name, row, value)
    opened = Bank.open(bank.path)
    assert contents(opened) == before
    assert "does not fit the lines" in verify(opened)[0].message
    with opened.writing():
        pass
    assert verify(Bank.open(bank.path)) == []


@pytest.mark.parametrize(
    ("name", "row", "value"),
    [
        ("id", 1, b"0" * 16),
        ("offset", 3, 10),
        ("parent", 2, 2),  # itself: a cycle
        ("parent", 1, 2),  # its own child: a cycle
        ("parent", 2, 10**9),
        ("parent", 2, -7),
        ("depth", 1, 7),
        ("depth", 0, 2**32 - 1),
        ("first", 6, 3),
        ("failure", 0, True),
        ("consolidated", 3, True),
        ("deleted", 3, True),
    ],
)
def test_an_index_that_lies_is_found_out(bank: Bank, name: str, row: int, value: Any) -> None:
    """Verification finds every lie; reading may, and never goes round for ever."""
    rewritten_index(bank, name, row, value)
    opened = Bank.open(bank.path)
    assert [flaw.source for flaw in verify(opened)] == ["task.index.npy"]
    try:
        for each in opened.tree("task"):
            opened.tree("task").chain(each.id)
    except (BankCorruptError, NodeNotFoundError):
        pass
    (bank.path / "task.index.npy").unlink()
    assert verify(Bank.open(bank.path)) == []


LIES = [
    ("failure", 3, True),
    ("failure", 1, False),
    ("residual", 3, True),
    ("depth", 3, 2),
    ("consolidated", 3, True),
    ("deleted", 3, True),
    ("deleted", 6, False),
    ("id", 3, b"0" * 16),
]


@pytest.mark.parametrize(("name", "row", "value"), LIES)
def test_a_node_is_not_given_out_if_the_index_says_something_else_of_it(
    bank: Bank, name: str, row: int, value: Any
) -> None:
    before = contents(bank)
    rewritten_index(bank, name, row, value)
    tree = Bank.open(bank.path).tree("task")
    with pytest.raises(BankCorruptError) as caught:
        tree.node_at(row)
    assert str(caught.value).count("\n") == 0
    assert f"task.index.npy, row {row}: contradicts line {row + 1} of" in str(caught.value)
    assert "`deltamem bank verify`" in (caught.value.hint or "")
    (bank.path / "task.index.npy").unlink()  # the cure that the hint names
    assert contents(Bank.open(bank.path)) == before


def test_a_chain_of_another_parent_is_refused(bank: Bank) -> None:
    """Root d instead of a, at the same depth: only the line itself tells them apart."""
    rewritten_index(bank, "parent", 1, 3)
    tree = Bank.open(bank.path).tree("task")
    with pytest.raises(BankCorruptError, match=r"row 1: contradicts line 2 of task\.nodes"):
        tree.chain(named(tree)["c"].id)


def lines_of(bank: Bank) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (bank.path / "task.nodes.jsonl").read_bytes().splitlines()]


@pytest.mark.parametrize(
    "lost", ["task.nodes.jsonl", "task.counts.npy", "task.embeddings.npy", "trajectories.jsonl"]
)
@pytest.mark.parametrize("how", ["missing", "short"])
def test_a_lost_file_is_an_error_and_a_writer_makes_it_no_worse(
    bank: Bank, lost: str, how: str
) -> None:
    learn_one(bank, 3)
    path = bank.path / lost
    text = path.read_bytes()
    if how == "missing":
        path.unlink()
    else:
        path.write_bytes(text[:-9])
    before = {each.name: each.read_bytes() for each in bank.path.iterdir()}
    with pytest.raises(BankCorruptError, match=lost):
        learn_one(Bank.open(bank.path), 4)
    assert {each.name: each.read_bytes() for each in bank.path.iterdir()} == before
    assert_told(bank, lost)
    path.write_bytes(text)
    learn_one(Bank.open(bank.path), 4)
    assert verify(Bank.open(bank.path)) == []


def assert_told(bank: Bank, lost: str) -> None:
    """Verification finds it, or the bank does not even open."""
    try:
        found = [flaw.source for flaw in verify(Bank.open(bank.path))]
    except BankCorruptError as error:
        found = [Path(error.source or "").name]
    assert lost in found


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda b: b.add_node("task", node("a"), vector(1)), "has a node"),
        (lambda b: b.add_node("task", node("e"), vector(1)), "has a node"),
        (
            lambda b: b.add_node("task", structs.replace(node("x"), deleted=True), vector(1)),
            "is alive",
        ),
        (lambda b: b.add_node("task", node("x", node("y")), vector(1)), "has no parent"),
        (lambda b: b.add_node("task", node("x", node("e")), vector(1)), "cannot be the parent"),
        (lambda b: b.add_node("env", node("x", node("a")), vector(1)), "has no parent"),
        (lambda b: b.add_node("task", node("x"), vector(1, 9)), r"shape \(9,\)"),
        (lambda b: b.add_node("task", node("x"), vector(1) * 2), "not of unit length"),
        (lambda b: b.add_node("task", node("x"), vector(1) * np.nan), "not finite"),
        (lambda b: b.add_node("task", node("x"), vector(1) * np.inf), "not finite"),
        (lambda b: b.add_node("task", node("x" * 5_000_000), vector(1)), "of length <= 4000000"),
        (lambda b: b.revise_node("task", node("x")), "no task record"),
        (lambda b: b.count("task", "0" * 16, hits=1), "no task record"),
        (lambda b: b.set_state("0" * 16, 1), "no trajectories record"),
        (lambda b: b.put_episode({"id": "ä" * 16}), "not an id"),
        (
            lambda b: b.put_episode({"id": "0" * 16, "text": "x" * 2**25}),
            "more than the 33,554,432",
        ),
    ],
)
def test_what_breaks_the_rules_is_not_written(bank: Bank, change: Any, reason: str) -> None:
    before = {each.name: each.read_bytes() for each in bank.path.iterdir()}

    def write() -> None:
        with bank.writing() as batch:
            batch.log("edit")
            change(batch)

    with np.errstate(invalid="ignore"), pytest.raises(BankError, match=reason):
        write()
    assert {each.name: each.read_bytes() for each in bank.path.iterdir()} == before
