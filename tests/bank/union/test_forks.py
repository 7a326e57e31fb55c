"""Copies under one origin that both went on are told from states of one bank."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from deltamem_tui.bank import transfer as package
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.merge import MergePlan, merge_into
from deltamem_tui.bank.transfer import copy_bank
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


def told(one: Bank, two: Bank) -> bool:
    return bool(MergePlan([one, two]).counted_as_one)


def test_two_that_both_went_on_are_told_whichever_comes_first(one: Bank, two: Bank) -> None:
    count(one, 5)
    count(two, 4)
    assert told(one, two)
    merge_into(two, lambda: MergePlan([two, one]))
    # This is what is told: 4 are lost, for nobody can know that they are not among the other 5.
    assert two.tree("task").counts(SHARED.id).hits == 10
    assert two.commit.detail["counted_as_one"] == [["two", "one"]]


def test_a_later_state_of_a_bank_is_no_copy(one: Bank, two: Bank) -> None:
    assert not told(one, two)
    count(two)
    assert not told(one, two)
    assert not told(two, one)


def test_a_copy_that_draws_its_own_origin_is_told_apart(one: Bank) -> None:
    copy = copy_bank(one, one.path.with_name("copy"), history=True)
    for bank in (one, copy):
        count(bank)
    assert not told(one, copy)
    merge_into(one, lambda: MergePlan([one, copy]))
    assert one.tree("task").counts(SHARED.id).hits == 15


def test_a_bank_that_was_frozen_and_sent_is_an_earlier_state(one: Bank, tmp_path: Path) -> None:
    learn_one(one, 1)
    package.pack(one, with_journal=True).write(tmp_path / "one.deltamem")
    count(one)
    assert not told(one, Bank.open(tmp_path / "one.deltamem"))
