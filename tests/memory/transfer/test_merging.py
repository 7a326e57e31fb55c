"""Merging as the method sees it: one embedder, and shards of one import."""

from __future__ import annotations

import shutil
from itertools import permutations
from pathlib import Path

import pytest

from deltamem_tui.bank import transfer as package
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.tree import Counts
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import (
    BankCorruptError,
    BankFrozenError,
    EmbedderMismatchError,
    UsageError,
)
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.episodes.outcomes import give_outcome
from deltamem_tui.memory.transfer.merging import merge
from tests.memory.support import episode, new_bank, parameters, teach
from tests.places import DOCS

SAMPLE = DOCS / "sample" / "alfworld.jsonl.gz"


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Bank, Bank]:
    """Two banks that learnt nearly the same apart; the second something below it."""
    numbers = parameters(tau_base=0.9, d_max=2, env=False)
    one, two = (new_bank(tmp_path / name, numbers) for name in ("one", "two"))
    teach(one, episode((1, 0, 0)))
    teach(one, episode((0, 1, 0), success=False))
    teach(two, episode((1, 0.1, 0)))
    teach(two, episode((1, 0.2, 0)))
    teach(two, episode((0, 1, 0.1)))
    assert [node.depth for node in two.tree("task")] == [1, 2, 1]
    return one, two


def conditions(bank: Bank) -> dict[str, int]:
    return {node.payload["activation_condition"]: node.depth for node in bank.tree("task")}


def test_an_episode_that_two_banks_learnt_counts_once(tmp_path: Path) -> None:
    one = new_bank(tmp_path / "one", parameters(tau_base=0.9, env=False))
    teach(one, episode((1, 0, 0)))
    copied = Bank.open(shutil.copytree(one.path, tmp_path / "copied"))  # as `cp -r` and git do
    apart = new_bank(tmp_path / "apart", parameters(tau_base=0.9, env=False))
    teach(apart, episode((1, 0, 0)))
    for bank in (one, copied, apart):
        teach(bank, episode((1, 0.1, 0)))
    teach(copied, episode((1, 0, 0.1)))
    teach(apart, episode((1, 0, 0.2), success=False))
    banks = [one, copied, apart]
    root = next(one.tree("task").roots()).id
    for number, order in enumerate(permutations(banks)):
        merged = merge(order, tmp_path / f"{number}").bank
        assert merged is not None
        assert merged.tree("task").counts(root) == Counts(hits=2, recalls=3, successes=2)
        assert verify(merged) == []
        assert not merge([merged, *order]).changed


def test_an_episode_that_is_learnt_again_counts_once(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank", parameters(tau_base=0.9, env=False))
    teach(bank, episode((1, 0, 0)))
    teach(bank, episode((1, 0.1, 0)))
    root, other = bank.tree("task")
    for success in (False, True):
        teach(bank, give_outcome(bank, other.origin.trajectory, success=success))
    assert bank.tree("task").counts(root.id) == Counts(hits=1, recalls=1, successes=1)
    assert verify(bank) == []


def test_a_dry_run_plans_all_and_writes_nothing(tmp_path: Path, pair: tuple[Bank, Bank]) -> None:
    before = {path.name: path.read_bytes() for path in pair[0].path.iterdir()}
    done = merge(pair, dry_run=True)
    assert done.bank is None
    assert len(done.plan.changes["task"].added) == 3
    assert merge(pair, tmp_path / "new", dry_run=True).bank is None
    assert {path.name: path.read_bytes() for path in pair[0].path.iterdir()} == before
    assert not (tmp_path / "new").exists()


def test_banks_of_other_embedders_are_refused(tmp_path: Path, pair: tuple[Bank, Bank]) -> None:
    other = create_bank(tmp_path / "other", embedder="hashing")
    with pytest.raises(
        EmbedderMismatchError, match=r"other: the bank was .* than chosen: .*reembed"
    ):
        merge((pair[0], other))


def test_what_cannot_be_merged_is_told(pair: tuple[Bank, Bank]) -> None:
    with pytest.raises(UsageError, match="at least two"):
        merge(pair[:1])
    pair[0].freeze()
    with pytest.raises(BankFrozenError):
        merge(pair, dry_run=True)


def test_an_unsound_archive_is_refused_before_anything_is_written(
    tmp_path: Path, pair: tuple[Bank, Bank]
) -> None:
    one, two = pair
    (two.path / "journal.jsonl").unlink()
    path = two.path / "task.nodes.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"1 0.2 0"', b'"2 0.2 0"'))
    package.pack(Bank.open(two.path)).write(tmp_path / "two.deltamem")
    stranger = Bank.open(tmp_path / "two.deltamem")
    for banks, output in (((one, stranger), None), ((stranger, one), tmp_path / "both")):
        for dry_run in (True, False):
            with pytest.raises(BankCorruptError, match="does not say what its id was made from"):
                merge(banks, output, dry_run=dry_run)
    assert not (tmp_path / "both").exists()
