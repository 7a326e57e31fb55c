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
from deltamem_tui.bank.tree import key, keys, places, texts
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import BankCorruptError
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


@given(st.lists(st.integers(0, 2**64 - 1)))
@settings(deadline=None)
def test_ids_are_numbers_and_back(numbers: list[int]) -> None:
    ids = np.array([f"{number:016x}" for number in numbers], dtype="S16")
    assert keys(ids).tolist() == numbers
    assert texts(keys(ids)).tolist() == ids.tolist()
    assert [int(key(each.decode())) for each in ids.tolist()] == numbers


@given(
    st.lists(st.integers(0, 20), unique=True, max_size=12),
    st.lists(st.integers(0, 20), max_size=12),
)
@settings(deadline=None)
def test_places_are_where_ids_stand(ids: list[int], wanted: list[int]) -> None:
    found = places(np.array(ids, dtype=np.uint64), np.array(wanted, dtype=np.uint64))
    assert found.tolist() == [ids.index(each) if each in ids else -1 for each in wanted]


@pytest.mark.parametrize("text", [b"", b"ABCDEF0123456789", b"g" * 16, b"0" * 15])
def test_what_is_no_id_is_no_number(text: bytes) -> None:
    with pytest.raises(BankCorruptError, match="not an id"):
        keys(np.array([text], dtype="S16"))


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


def test_a_share_that_stands_twice_is_found(copy: Bank) -> None:
    for name in ("journal.jsonl", "origins.index.npy"):
        (copy.path / name).unlink()
    path = copy.path / "origins.jsonl"
    first = path.read_bytes().split(b"\n", 1)[0] + b"\n"
    path.write_bytes(first + first + path.read_bytes().split(b"\n", 2)[2])
    assert "is there twice" in verify(Bank.open(copy.path))[0].message
