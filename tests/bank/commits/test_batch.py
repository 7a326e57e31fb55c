"""What a batch gathers can be committed, and what it commits can be read again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank import journal
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.journal import COUNTER_LIMIT, Commit, Extent, parse
from deltamem_tui.bank.tree import Counts
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import BankError, StorageError
from tests.bank.fragile import NEVER, FragileOS
from tests.bank.support import change_domain, learn_one, learnt, mark_first
from tests.effort import in_turn

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


def add(bank: Bank) -> None:
    learn_one(bank, 4)


def change(bank: Bank) -> None:
    change_domain(bank, "kitchen")


@pytest.mark.parametrize("operation", [add, change, mark_first])
def test_what_a_full_disk_refuses_leaves_the_files_as_they_were(
    bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation: Callable[[Bank], None]
) -> None:
    """Whatever effect is refused: nothing grows, no draft stays, and the same handle goes on."""
    monkeypatch.setattr(journal, "now", lambda: "2026-01-01T00:00:00Z")
    path = tmp_path / "copy"

    def copied() -> Bank:
        shutil.rmtree(path, ignore_errors=True)
        return Bank.open(shutil.copytree(bank.path, path))

    with FragileOS(NEVER).at_work() as counting:
        operation(copied())
    settle(Bank.open(path))
    undisturbed, before = every_byte(path), every_byte(bank.path)
    for last in in_turn(len(counting.names), apart=2):
        handle = copied()
        try:
            with FragileOS(last, "disk full").at_work():
                operation(handle)
        except StorageError:
            assert every_byte(path) == before, f"effect {last}"
            operation(handle)
        # A refusal after the commit is made good by the next writer and not reported.
        settle(handle)
        assert every_byte(path) == undisturbed, f"effect {last}"


def settle(bank: Bank) -> None:
    """Become the next writer, who makes good what the last one left undone."""
    with bank.writing():
        pass


def every_byte(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}
