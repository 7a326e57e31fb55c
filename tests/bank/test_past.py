"""A bank as it was after each commit is what was read of it at that time."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.compact import compact
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.table import Rows
from deltamem_tui.bank.tree import Tree
from deltamem_tui.bank.undo import Past
from deltamem_tui.errors import BankRewrittenError
from tests.bank.histories import World
from tests.bank.support import learn_one, manifest
from tests.effort import examples

GROWS = ("add", "add", "edit", "relabel", "delete", "restore", "move", "count", "fuse", "freeze")

Nodes = Mapping[str, Node]


def nodes(tree: Tree) -> Nodes:
    return {node.id: node for node in tree}


@examples(25)
@given(st.integers(0, 10**6), st.lists(st.sampled_from([*GROWS, "compact"]), max_size=14))
def test_each_state_is_as_it_was_read_when_it_was_the_last(seed: int, kinds: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), Random(seed))
        world.begin()
        seen: dict[int, tuple[int, dict[str, Nodes]]] = {}
        for kind in ["count", *kinds]:
            world.happen(kind)
            read = Bank.open(world.banks[0].path)
            states = {name: nodes(tree) for name, tree in read.trees.items()}
            seen[read.commit.sequence] = read.commit.generation, states
        bank = Bank.open(world.banks[0].path)
        past = Past.read(bank)
        rewritten = "compact" in kinds and any(each.event == "compact" for each in past.moments)
        assert past.begins_empty == (not rewritten)
        sizes = {name: past.sizes(name).tolist() for name in bank.trees}
        at = {moment.sequence: number for number, moment in enumerate(past.moments)}
        generation = bank.commit.generation
        assert {each for each in seen if seen[each][0] == generation} <= set(at)
        for sequence, number in at.items():
            assert past.moments[number].sequence == sequence
            if sequence in seen:
                then = {name: past.tree(number, name) for name in bank.trees}
                assert {name: nodes(tree) for name, tree in then.items()} == seen[sequence][1]
                assert {name: each[number] for name, each in sizes.items()} == {
                    name: len(tree) for name, tree in then.items()
                }
            if number:
                compare_change(past, number)


def compare_change(past: Past, number: int) -> None:
    for name in past.bank.trees:
        was, now = nodes(past.tree(number - 1, name)), nodes(past.tree(number, name))
        change, lines = past.change(number, name), past.bank.tree(name).snapshot

        def ids(rows: Rows) -> set[str]:
            return {each.decode() for each in lines.index["id"][rows].tolist()}  # noqa: B023

        assert ids(change.added) == now.keys() - was.keys()
        assert ids(change.deleted) == was.keys() - now.keys()
        altered = {each for each in was.keys() & now.keys() if was[each] != now[each]}
        assert altered <= ids(change.changed) <= was.keys() & now.keys()


def test_states_before_files_were_replaced_are_gone(tmp_path: Path) -> None:
    bank = Bank.create(tmp_path / "bank", manifest())
    for number in range(4):
        learn_one(bank, number)
    before = Past.read(Bank.open(bank.path))
    assert [moment.extent("task").rows for moment in before.moments] == [0, 1, 2, 3, 4]
    compact(bank)
    with pytest.raises(BankRewrittenError):
        len(before.tree(2, "task"))
    after = Past.read(Bank.open(bank.path))
    assert [moment.event for moment in after.moments] == ["compact"]
    assert not after.begins_empty
    assert not any(map(len, (after.change(0, "task").added, after.change(0, "task").deleted)))
