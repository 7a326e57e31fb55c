"""Banks that count under one origin: clones are told from states of one bank."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.transfer import package
from deltamem_tui.bank.transfer.package import copy_bank
from deltamem_tui.bank.union.forks import counted_apart
from deltamem_tui.bank.union.merge import MergePlan, merge_into
from deltamem_tui.bank.upkeep.compact import compact
from tests.bank.support import learn_one, manifest, node, vector

SHARED = node("shared")


@pytest.fixture
def one(tmp_path: Path) -> Bank:
    bank = Bank.create(tmp_path / "one", manifest("one"))
    with bank.writing() as batch:
        batch.add_node("task", SHARED, vector(1))
        batch.log("learn")
    count(bank)
    return bank


@pytest.fixture
def two(one: Bank) -> Bank:
    """What `cp -r` and git make of it."""
    return Bank.open(shutil.copytree(one.path, one.path.with_name("two")))


def count(bank: Bank, hits: int = 5) -> None:
    with bank.writing() as batch:
        batch.count("task", SHARED.id, hits=hits)
        batch.log("learn")


def test_two_that_counted_the_same_node_are_told_whichever_comes_first(
    one: Bank, two: Bank
) -> None:
    count(one, 5)
    count(two, 4)
    assert counted_apart(one, two)
    assert counted_apart(two, one)
    assert MergePlan([one, two]).counted_as_one == [("one", "two")]
    merge_into(two, lambda: MergePlan([two, one]))
    # This is what is told: 4 are lost, for nobody can know that they are not among the other 5.
    assert two.tree("task").counts(SHARED.id).hits == 10
    assert two.commit.detail["counted_as_one"] == [["two", "one"]]


def test_a_later_state_of_a_bank_is_no_clone(one: Bank, two: Bank) -> None:
    assert not counted_apart(one, two)
    count(two)
    assert not counted_apart(one, two)
    assert not counted_apart(two, one)
    assert not counted_apart(two, Bank.open(two.path))


def test_clones_that_counted_nothing_of_each_other_lose_nothing(one: Bank, two: Bank) -> None:
    count(one, 1)
    for number, bank in enumerate((one, two)):  # each counts what it has learnt itself
        with bank.writing() as batch:
            grown = node(f"grown {number}")
            batch.add_node("task", grown, vector(number))
            batch.log("learn")
        with bank.writing() as batch:
            batch.count("task", grown.id, hits=1)
            batch.log("learn")
    assert not counted_apart(one, two)
    count(two)
    assert counted_apart(one, two)


@pytest.mark.parametrize(
    "how",
    [
        lambda one: copy_bank(one, one.path.with_name("copy"), history=True),
        lambda one: copy_bank(one, one.path.with_name("copy"), history=False),
    ],
)
def test_a_copy_that_draws_its_own_origin_is_no_clone(
    one: Bank, how: Callable[[Bank], Bank]
) -> None:
    copy = how(one)
    for bank in (one, copy):
        count(bank)
    assert not counted_apart(one, copy)
    merge_into(one, lambda: MergePlan([one, copy]))
    assert one.tree("task").counts(SHARED.id).hits == 15


def test_a_bank_that_was_frozen_and_sent_is_an_earlier_state(one: Bank, tmp_path: Path) -> None:
    learn_one(one, 1)
    for with_episodes in (True, False):  # without them, a line of the journal says so
        path = tmp_path / f"{with_episodes}.deltamem"
        package.pack(one, with_episodes=with_episodes, with_journal=True).write(path)
        count(one)
        assert not counted_apart(one, Bank.open(path))
    package.pack(one).write(tmp_path / "bare.deltamem")
    count(one)
    assert not counted_apart(one, Bank.open(tmp_path / "bare.deltamem"))


def test_a_folded_journal_tells_what_it_can(one: Bank, two: Bank) -> None:
    count(two)
    compact(one)
    assert not counted_apart(one, two)
    count(one)
    assert counted_apart(one, two)
    assert counted_apart(two, one)


def test_banks_of_one_name_from_before_there_were_origins_count_as_one(tmp_path: Path) -> None:
    banks = []
    for place in ("here", "there"):
        bank = Bank.create(tmp_path / place / "kitchen", manifest("kitchen"))
        learn_one(bank, 1)
        learn_one(bank, 4)
        path = bank.path / "bank.json"
        path.write_bytes(path.read_bytes().replace(b'"origin"', b'"formerly"'))
        banks.append(Bank.open(bank.path))
    assert not counted_apart(banks[0], Bank.open(banks[0].path))
    for hits, bank in enumerate(banks, start=1):
        with bank.writing() as batch:
            batch.count("task", next(iter(bank.tree("task"))).id, hits=hits)
            batch.log("learn")
    assert counted_apart(*banks)
