"""The laws of merging, over banks with random pasts, against a slow and plain account of them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.diff import diff
from deltamem_tui.bank.merge import MergePlan, merge_into
from deltamem_tui.bank.verify import verify
from tests.bank.histories import KINDS, World, account, joined, shown
from tests.bank.union.parted import new
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


@given(histories)
@examples(12)
def test_a_difference_to_the_merged_bank_lists_what_is_new(history: tuple[int, list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        one, two = world(folder, history, banks=2).banks[-2:]
        merged = new(folder, "merged", [one, two])
        held = joined([account(one), account(two)]).resolution()
        for name, tree in diff(one, merged).trees.items():
            mine = {each.id for each in one.tree(name)}
            expected = {node_id for of, node_id in held if of == name} - mine
            assert {each.id for each in tree.added} == expected
