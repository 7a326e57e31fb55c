"""Batch steps are part of the episode that makes them due, or wait; a restart loses nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory import engine
from deltamem_tui.memory.cdmem.definition import (
    ENVIRONMENTS,
    FUNCTIONS,
    INSIGHTS,
    MISTAKES,
    PLANS,
    TASK_INSIGHTS,
)
from deltamem_tui.memory.cdmem.definition import TASKS as SHORT
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.runs.learning import LearningRun
from deltamem_tui.memory.vectors.search import embedder_of
from tests.memory.cdmem.support import ROOMS, TASKS, EchoWriter, episode, new_bank
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
        assert engine.due(other) == []  # what is due is done with the episode
        learn(other, each, EchoWriter())
        learn(other, each, EchoWriter())  # and once
    assert learnt_files(other) == learnt_files(bank)


def test_a_batch_that_came_to_nothing_stays_due(bank: Bank, tmp_path: Path) -> None:
    broken = EchoWriter(broken={PLANS, MISTAKES, FUNCTIONS})
    decisions = {learn(bank, each, broken).trees[TASK_INSIGHTS].decision for each in STREAM}
    assert decisions == {"waiting", "postponed"}
    assert texts(bank) == set()
    assert len(bank.tree(SHORT)) > 20
    due = engine.due(bank)
    assert {each.collection for each in due} == {SHORT, ENVIRONMENTS}
    with LearningRun(bank, broken) as run:
        assert [each.root for each in run.consolidate()] == [None] * len(due)
    writer = EchoWriter()
    for _ in due:  # a process may end after any of them
        bank = Bank.open(bank.path)
        assert engine.maintain(bank, engine.due(bank)[0], writer, embedder_of(bank))
    assert engine.due(bank) == []
    assert {len(batch) for _, batch, _ in writer.batches} == {2}
    at_once = new_bank(tmp_path / "other", batch=2)
    for each in STREAM:
        learn(at_once, each, EchoWriter())
    assert texts(bank) == texts(at_once)
    assert engine.maintain(bank, due[0], writer, embedder_of(bank)) is None
