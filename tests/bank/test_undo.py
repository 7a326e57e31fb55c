"""Which commit an undo takes back."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.journal import Commit
from deltamem_tui.bank.undo import commits_since, last_not_undone, moments, sizes_after
from tests.bank.histories import World
from tests.bank.support import manifest
from tests.effort import examples


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return Bank.create(tmp_path / "bank", manifest())


def log(bank: Bank, *commits: tuple[str, object]) -> None:
    for event, undoes in commits:
        with bank.writing() as batch:
            batch.log(event, {} if undoes is None else {"undoes": undoes})


def is_edit(commit: Commit) -> bool:
    return commit.event == "edit"


def last(bank: Bank) -> int | None:
    found = last_not_undone(bank, is_edit)
    return None if found is None else found.sequence


def test_each_undo_uncovers_the_one_before(bank: Bank) -> None:
    assert last(bank) is None
    log(bank, ("edit", None), ("learn", None), ("edit", None))
    assert last(bank) == 3
    log(bank, ("undo", 3), ("learn", None))
    assert last(bank) == 1
    log(bank, ("edit", None))
    assert last(bank) == 6
    log(bank, ("undo", 6), ("undo", 1))
    assert last(bank) is None


@pytest.mark.parametrize("undoes", [[], {}, "1", None, 99])
def test_an_undo_that_names_no_commit_takes_nothing_back(bank: Bank, undoes: object) -> None:
    log(bank, ("edit", None), ("undo", undoes))
    assert last(bank) == 1


def test_what_the_bank_does_not_show_yet_does_not_count(bank: Bank) -> None:
    log(bank, ("edit", None))
    log(Bank.open(bank.path), ("edit", None), ("undo", 1))
    assert last(bank) == 1
    assert [commit.sequence for commit in commits_since(bank, 0)] == [1]
    bank.refresh()
    assert last(bank) == 2
    assert [commit.sequence for commit in commits_since(bank, 1)] == [3, 2]


GROWS = ("add", "add", "edit", "relabel", "delete", "restore", "move", "count", "fuse", "freeze")


@examples(25)
@given(st.integers(0, 10**6), st.lists(st.sampled_from([*GROWS, "compact"]), max_size=14))
def test_each_state_is_as_it_was_read_when_it_was_the_last(seed: int, kinds: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), Random(seed))
        world.begin()
        seen: dict[int, dict[str, int]] = {}
        generations: dict[int, int] = {}
        for kind in ["count", *kinds]:
            world.happen(kind)
            read = Bank.open(world.banks[0].path)
            seen[read.commit.sequence] = {name: len(tree) for name, tree in read.trees.items()}
            generations[read.commit.sequence] = read.commit.generation
        bank = Bank.open(world.banks[0].path)
        past = moments(bank)
        sizes = {name: sizes_after(tree, past).tolist() for name, tree in bank.trees.items()}
        at = {moment.sequence: number for number, moment in enumerate(past)}
        generation = bank.commit.generation
        assert {each for each in seen if generations[each] == generation} <= set(at)
        for sequence, number in at.items():
            if sequence in seen:
                assert {name: each[number] for name, each in sizes.items()} == seen[sequence]
