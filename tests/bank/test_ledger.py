"""Shares of counts: joined like a counter that only grows, and ids as numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltamem_tui.bank import ledger
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.ledger import Entries
from deltamem_tui.bank.transfer import copy_bank
from deltamem_tui.bank.tree import key
from deltamem_tui.bank.verify import verify
from tests.bank.support import learn_one, learnt

shares = st.dictionaries(
    st.tuples(st.integers(0, 1), st.integers(0, 3), st.integers(0, 3)),
    st.tuples(*[st.integers(0, 5)] * 3),
    max_size=12,
)


def as_columns(found: dict[tuple[int, int, int], tuple[int, ...]]) -> Entries:
    rows = [(*address, values) for address, values in found.items()]
    return np.array(rows, dtype=ledger.ORIGINS.entry_type)


def as_table(found: Entries) -> dict[tuple[int, ...], tuple[int, ...]]:
    return {tuple(address): tuple(values) for *address, values in found.tolist()}


@given(st.lists(shares, min_size=1, max_size=4))
@settings(deadline=None)
def test_of_every_share_the_greatest_counts(
    found: list[dict[tuple[int, int, int], tuple[int, ...]]],
) -> None:
    expected: dict[tuple[int, ...], tuple[int, ...]] = {}
    for each in found:
        for address, values in each.items():
            before = expected.get(address, (0, 0, 0))
            expected[address] = tuple(max(pair) for pair in zip(before, values, strict=True))
    joined = ledger.joined([as_columns(each) for each in found])
    assert as_table(joined) == expected
    nodes = np.array([3, 0, 2], dtype=np.uint64)
    for number in range(2):
        of = [
            [values for (t, n, _), values in expected.items() if (t, n) == (number, node)]
            for node in nodes.tolist()
        ]
        sums = [[sum(column) for column in zip(*each, strict=True)] or [0, 0, 0] for each in of]
        assert ledger.totals(joined[joined["tree"] == number], nodes).tolist() == sums


@pytest.fixture
def copy(tmp_path: Path) -> Bank:
    """A copy, so with shares of the bank that it was copied from."""
    return copy_bank(learnt(tmp_path / "bank", 6), tmp_path / "copy", history=True)


def test_a_copy_counts_for_itself_and_says_who_counted_before(tmp_path: Path, copy: Bank) -> None:
    source = Bank.open(tmp_path / "bank")
    assert copy.manifest.origin not in ("", source.manifest.origin)
    found = ledger.shares(copy.snapshots, copy.manifest.counts_as)
    assert set(found["third"].tolist()) == {int(key(source.manifest.origin))}
    theirs = ledger.shares(source.snapshots, source.manifest.counts_as)
    assert np.array_equal(found, theirs)
    assert verify(copy) == []
    learn_one(copy, 7)
    mine = ledger.shares(copy.snapshots, copy.manifest.counts_as)
    assert int(key(copy.manifest.origin)) in mine["third"].tolist()
    assert verify(Bank.open(copy.path)) == []


def test_a_booking_that_was_cut_short_says_nothing(copy: Bank) -> None:
    """Booked under the origin that the bank still has: its own share is what it was."""
    learn_one(copy, 7)
    before = ledger.shares(copy.snapshots, copy.manifest.counts_as)
    with copy.writing() as batch:
        assert ledger.book(batch, copy.snapshots, copy.manifest.counts_as)
        batch.log("unfreeze")
    after = ledger.shares(copy.snapshots, copy.manifest.counts_as)
    assert np.array_equal(after, before)
    learn_one(copy, 8)
    assert verify(Bank.open(copy.path)) == []


@pytest.mark.parametrize("line", [b"{}\n", b"[1]\n", b'{"id":"0"}\n', b"\xff\n"])
def test_a_line_that_is_no_share_is_found(copy: Bank, line: bytes) -> None:
    for name in ("journal.jsonl", "origins.index.npy"):
        (copy.path / name).unlink()
    path = copy.path / "origins.jsonl"
    path.write_bytes(line + path.read_bytes().split(b"\n", 1)[1])
    (flaw, *_) = verify(Bank.open(copy.path))
    assert (flaw.message, flaw.source) == ("not a share of a node's counts", "origins.jsonl")
