"""The laws of merging, over banks with random pasts, against a slow and plain account of them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.merge import MergePlan, merge_into
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import BankCorruptError
from tests.bank.histories import KINDS, World, account, joined, shown
from tests.bank.parted import append_all, new
from tests.effort import examples

histories = st.tuples(
    st.integers(0, 2**32), st.lists(st.sampled_from(KINDS), min_size=4, max_size=40)
)


def world(folder: str, history: tuple[int, list[str]], banks: int = 3) -> World:
    """At least so many banks, with a common past and a time apart."""
    seed, kinds = history
    made = World(Path(folder), Random(seed))
    made.begin()
    for kind in kinds[: len(kinds) // 3]:
        made.happen(kind)
    while len(made.banks) < banks:
        made.happen("copy")
    for kind in kinds[len(kinds) // 3 :]:
        made.happen(kind)
    return made


@given(histories)
@examples(20)
def test_a_merge_holds_what_the_plain_account_says(history: tuple[int, list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        banks = world(folder, history).banks
        expected = joined([account(bank) for bank in banks])
        merged = new(folder, "merged", banks)
        assert account(merged) == expected
        assert shown(merged) == expected.resolution()
        merge_into(banks[0], lambda: MergePlan(banks))
        assert verify(Bank.open(banks[0].path)) == []
        assert account(banks[0]) == expected
        assert shown(banks[0]) == expected.resolution()


@given(histories)
@examples(12)
def test_merging_is_idempotent_commutative_and_associative(history: tuple[int, list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        one, two, three = world(folder, history).banks[-3:]
        twice = new(folder, "twice", [one, one])
        assert account(twice) == account(one)
        assert shown(twice) == shown(one)
        left = new(folder, "left", [one, two])
        right = new(folder, "right", [two, one])
        assert account(left) == account(right)
        assert shown(left) == shown(right)
        left_first = new(folder, "left-first", [left, three])
        right_first = new(folder, "right-first", [one, new(folder, "others", [two, three])])
        assert account(left_first) == account(right_first)
        assert shown(left_first) == shown(right_first)
        again = new(folder, "again", [left_first, two, left])
        assert account(again) == account(left_first)
        assert shown(again) == shown(left_first)


Damage = Callable[[Bank], None]


def _lying_index(bank: Bank) -> None:
    path = bank.path / "task.index.npy"
    index = np.load(path)
    index["failure"][-1] ^= True
    np.save(path, index)


def _long_vector(bank: Bank) -> None:
    path = bank.path / "task.embeddings.npy"
    vectors = np.load(path)
    vectors[-1] *= 2
    np.save(path, vectors)


def _broken_line(bank: Bank) -> None:
    path = bank.path / "task.nodes.jsonl"
    text = path.read_bytes()
    place = text.rindex(b'"success"')
    path.write_bytes(text[:place] + b'"succesS"' + text[place + 9 :])


def _altered_node(bank: Bank) -> None:
    path = bank.path / "task.nodes.jsonl"
    path.write_bytes(path.read_bytes().replace(b"how new", b"HOW NEW"))


def _altered_shared_node(bank: Bank) -> None:
    path = bank.path / "task.nodes.jsonl"
    first, *others = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([first.replace(b"how ", b"HOW "), *others]))


def _too_few_counts(bank: Bank) -> None:
    path = bank.path / "task.counts.npy"
    counts = np.load(path)
    counts[0] = 0
    np.save(path, counts)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (_lying_index, "contradicts the lines"),
        (_long_vector, "has length 2 instead of 1"),
        (_broken_line, "not a node"),
        (_altered_node, "does not say what its id was made from"),
        (_altered_shared_node, "does not say what its id was made from"),
        (_too_few_counts, "counts less of node"),
    ],
)
def test_nothing_unsound_is_taken_in(pair: tuple[Bank, Bank], damage: Damage, reason: str) -> None:
    one, two = pair
    append_all(two, "new", None)
    (two.path / "journal.jsonl").unlink()
    damage(two)
    before = {path.name: path.read_bytes() for path in one.path.iterdir()}
    with pytest.raises(BankCorruptError, match=reason):
        merge_into(one, lambda: MergePlan([one, Bank.open(two.path)]))
    assert {path.name: path.read_bytes() for path in one.path.iterdir()} == before


def test_verify_tells_counts_that_are_less_than_the_others(pair: tuple[Bank, Bank]) -> None:
    _, two = pair
    (two.path / "journal.jsonl").unlink()
    _too_few_counts(two)
    assert "counts less of node" in verify(Bank.open(two.path))[0].message
