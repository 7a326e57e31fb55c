"""What a batch gathers can be committed, and what it commits can be read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.journal import COUNTER_LIMIT, Commit, Extent, parse
from deltamem_tui.bank.tree import Counts
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import BankError
from tests.bank.support import change_domain, learn_one, learnt

FULL = COUNTER_LIMIT


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return learnt(tmp_path / "bank", 4)


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
        batch.count("task", node_id, hits=more, recalls=more)
        batch.log("learn")
    for handle in (bank, Bank.open(bank.path)):
        assert handle.tree("task").counts(node_id) == Counts(FULL, FULL, 0)
        assert verify(handle) == []
    learn_one(bank, 4)
    assert verify(Bank.open(bank.path)) == []


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


def add(bank: Bank) -> None:
    learn_one(bank, 4)


def change(bank: Bank) -> None:
    change_domain(bank, "kitchen")


def every_byte(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}
