"""Batch steps are part of the episode that makes them due, or wait; a restart loses nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.cdmem.definition import (
    FUNCTIONS,
    INSIGHTS,
    MISTAKES,
    PLANS,
    TASK_INSIGHTS,
)
from deltamem_tui.memory.engine import learn
from tests.memory.cdmem.support import ROOMS, TASKS, EchoWriter, episode, new_bank, words
from tests.memory.writers.model.learning import learnt_files

STREAM = [
    episode(TASKS[at % 3], ROOMS[at % 4], 1 + at % 3, success=at % 5 < 3, at=at) for at in range(20)
]


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return new_bank(tmp_path / "bank", batch=2)


def texts(bank: Bank) -> set[str]:
    return {node.payload["text"] for name in INSIGHTS.values() for node in bank.tree(name)}


def test_a_restart_after_any_episode_changes_no_byte(bank: Bank, tmp_path: Path) -> None:
    for each in STREAM:
        learn(bank, each, EchoWriter())
    other = new_bank(tmp_path / "other", batch=2)
    for each in STREAM:
        other = Bank.open(other.path)
        learn(other, each, EchoWriter())
        learn(other, each, EchoWriter())  # and once
    assert learnt_files(other) == learnt_files(bank)


def test_a_batch_that_came_to_nothing_waits_for_the_next_memory(bank: Bank) -> None:
    broken = EchoWriter(broken={PLANS, MISTAKES, FUNCTIONS})
    decisions = {learn(bank, each, broken).trees[TASK_INSIGHTS].decision for each in STREAM}
    assert decisions == {"waiting", "postponed"}
    assert texts(bank) == set()
    writer = EchoWriter()
    made = learn(bank, episode(TASKS[0], ROOMS[0], at=20), writer).trees[TASK_INSIGHTS]
    assert made.decision == "insights"
    (batch,) = [batch for purpose, batch, _ in writer.batches if purpose == PLANS]
    oldest = [each for each in STREAM if each.outcome.success and each.task != TASKS[2]][:2]
    assert batch == tuple(f"go {words(each)}" for each in oldest)
