"""Batch steps are part of the episode that makes them due, or wait; a restart loses nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
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
from deltamem_tui.memory.methods import method_of
from deltamem_tui.memory.runs.learning import consolidate
from deltamem_tui.memory.vectors.embedder import embedder_of
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.trajectory.model import Trajectory
from tests.memory.cdmem.support import ROOMS, TASKS, EchoWriter, episode, new_bank
from tests.memory.writers.model.learning import learnt_files

STREAM = [
    episode(TASKS[at % 3], ROOMS[at % 4], 1 + at % 3, success=at % 5 < 3, at=at) for at in range(20)
]


class Noting:
    """Notes what it is asked, and gives nothing to write."""

    name = "rules"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def write(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        self.asked.append(purpose)
        return Extraction(None, "asked ahead")


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


def test_equal_plans_of_equal_banks(bank: Bank) -> None:
    for each in STREAM[:9]:
        learn(bank, each, EchoWriter())
    method, embedder = method_of(bank), embedder_of(bank)
    plans = [method.plan(bank, STREAM[9], EchoWriter(), embedder) for _ in range(2)]
    assert repr(plans[0]) == repr(plans[1])
    noting = Noting()
    method.plan(bank, STREAM[9], noting, embedder)
    assert noting.asked == ["cdmem_expert"]  # what follows hangs on the answer


def test_a_batch_that_came_to_nothing_stays_due(bank: Bank, tmp_path: Path) -> None:
    broken = EchoWriter(broken={PLANS, MISTAKES, FUNCTIONS})
    decisions = {learn(bank, each, broken).trees[TASK_INSIGHTS].decision for each in STREAM}
    assert decisions == {"waiting", "postponed"}
    assert texts(bank) == set()
    assert len(bank.tree(SHORT)) > 20
    due = engine.due(bank)
    assert {each.collection for each in due} == {SHORT, ENVIRONMENTS}
    assert [each.root for each in consolidate(bank, broken)] == [None] * len(due)
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
