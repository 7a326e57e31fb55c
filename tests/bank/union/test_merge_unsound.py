"""Nothing unsound is merged, however it came to be so."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.merge import MergePlan, merge_into
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import BankCorruptError
from tests.bank.union.parted import append_all, merged_into

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


def _too_few_counts(bank: Bank) -> None:
    path = bank.path / "task.counts.npy"
    counts = np.load(path)
    counts[0] = 0
    np.save(path, counts)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (_lying_index, "the index contradicts the line"),
        (_long_vector, "not of unit length"),
        (_broken_line, "not a node"),
        (_altered_node, "does not say what its id was made from"),
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


def test_an_altered_state_of_a_node_that_both_have_is_not_taken(pair: tuple[Bank, Bank]) -> None:
    """Neither says that it was changed, so the one that was altered must not win the tie."""
    one, two = pair
    (two.path / "journal.jsonl").unlink()
    path = two.path / "task.nodes.jsonl"
    text = path.read_bytes()
    plans = []
    for number in range(50):
        path.write_bytes(text.replace(b'"how other"', b'"how o%03dr"' % number))
        plans.append(MergePlan([one, Bank.open(two.path)]))
        if len(plans[-1].changes["task"].revised):
            with pytest.raises(BankCorruptError, match="does not say what its id was made from"):
                plans[-1].check()
            with pytest.raises(BankCorruptError, match="does not say what its id was made from"):
                merged_into(one, Bank.open(two.path))
            return
    pytest.fail("the altered state never won")


def test_verify_tells_counts_that_are_less_than_the_others(pair: tuple[Bank, Bank]) -> None:
    _, two = pair
    (two.path / "journal.jsonl").unlink()
    _too_few_counts(two)
    assert "counts less of node" in verify(Bank.open(two.path))[0].message
