"""What a batch gathers can be committed, and what it commits can be read again."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.journal import COUNTER_LIMIT, Commit, Extent, parse
from deltamem_tui.bank.tree import Counts
from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.errors import BankError, StorageError
from tests.bank.fragile import NEVER, FragileOS
from tests.bank.support import change_domain, learn_one, manifest

FULL = COUNTER_LIMIT


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    made = Bank.create(tmp_path / "bank", manifest())
    for number in range(4):
        learn_one(made, number)
    return made


def counted(bank: Bank, values: tuple[int, int, int]) -> str:
    """Let the first node of the task tree count `values`; returns its id."""
    tree = bank.tree("task")
    row = tree.rows[:1]
    with bank.writing() as batch:
        batch.state_counters("task", tree.birth[row], np.array([values], dtype=np.int64))
        batch.log("set")
    return next(iter(bank.tree("task"))).id


@pytest.mark.parametrize("more", [1, FULL, 2 * FULL])
def test_a_full_counter_stays_full(bank: Bank, more: int) -> None:
    node_id = counted(bank, (FULL, FULL - 1, 0))
    with bank.writing() as batch:
        assert batch.count("task", node_id, hits=more, recalls=more) == FULL
        batch.log("learn")
    for handle in (bank, Bank.open(bank.path)):
        assert handle.tree("task").counts(node_id) == Counts(FULL, FULL, 0)
        assert verify(handle) == []
    learn_one(bank, 4)
    assert verify(Bank.open(bank.path)) == []


def test_counting_says_how_much_there_is_now(bank: Bank) -> None:
    node_id = counted(bank, (FULL - 3, 0, 0))
    with bank.writing() as batch:
        found = [batch.count("task", node_id, hits=2) for _ in range(3)]
    assert found == [FULL - 1, FULL, FULL]


_NUMBERS = st.integers(-3, 5) | st.integers(FULL - 2, FULL + 2)


@given(
    rows=st.integers(0, 4),
    cells=st.dictionaries(st.integers(-1, 5), st.lists(_NUMBERS, min_size=3, max_size=3)),
)
def test_a_line_is_written_only_if_it_can_be_read_again(rows: int, cells: dict[int, Any]) -> None:
    commit = Commit(4, "learn", "then", {}, {"task": Extent(rows, 9)}, {"task": cells})
    right = all(
        0 <= row < rows and all(0 <= value <= FULL for value in values)
        for row, values in cells.items()
    )
    if right:
        assert parse(commit.line(), "journal.jsonl", "line 1").cells.get("task", {}) == cells
        return
    with pytest.raises(BankError, match="nothing was written"):
        commit.line()


def test_what_the_journal_cannot_say_is_not_begun(bank: Bank) -> None:
    """A counter that nobody may have is refused before the first byte is written."""
    before = {path.name: path.read_bytes() for path in bank.path.iterdir()}
    tree = bank.tree("task")

    def write() -> None:
        with bank.writing() as batch:
            batch.state_counters("task", tree.rows[:1], np.array([[-1, 0, 0]]))
            batch.log("set")

    with pytest.raises(BankError, match="-1"):
        write()
    assert {path.name: path.read_bytes() for path in bank.path.iterdir()} == before


def test_a_batch_that_is_refused_leaves_the_files_as_they_were(tmp_path: Path) -> None:
    """Whatever step is refused: nothing grows, and no draft of a manifest stays behind."""

    def change(bank: Bank) -> None:
        change_domain(bank, "kitchen")

    base = made(tmp_path / "base").path
    for operation in (lambda bank: learn_one(bank, 3), change):
        with FragileOS(NEVER).at_work() as counting:
            operation(copied(base, tmp_path / "undisturbed"))
        for last in range(1, len(counting.names) + 1):
            bank = copied(base, tmp_path / "bank")
            before = {path.name: path.read_bytes() for path in bank.path.iterdir()}
            try:
                with FragileOS(last, "disk full").at_work():
                    operation(bank)
            except StorageError:
                after = {path.name: path.read_bytes() for path in bank.path.iterdir()}
                assert after == before, f"effect {last}"
            shutil.rmtree(bank.path)
        shutil.rmtree(tmp_path / "undisturbed")


def made(path: Path) -> Bank:
    bank = Bank.create(path, manifest())
    learn_one(bank, 0)
    return bank


def copied(base: Path, path: Path) -> Bank:
    shutil.copytree(base, path)
    return Bank.open(path)
