"""Every prompt of CDMem asked of a model at the loopback: right, weak and wrong answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.cdmem.definition import (
    ENVIRONMENTS,
    TASK_INSIGHTS,
)
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.writers.model.writer import ModelExtractor
from deltamem_tui.trajectory.model import Trajectory
from tests.llm.fixtures import running, server
from tests.llm.server import ModelServer
from tests.llm.support import client
from tests.memory.cdmem.support import new_bank
from tests.memory.writers.model.support import EPISODE, LOST

__all__ = ["running", "server"]

EXPERT = {
    "locations": "cup 2: cabinet 1",
    "functions": "sinkbasin: cleans",
    "actions": "take cup 2",
}
WAY = {"actions": "take cup 2 from countertop 1", "plan": "take [object] from countertop"}
WHY = {
    "env_memory": "cup 2: countertop 1",
    "failure": "Operation",
    "reflection": "The cup was dry.",
    "next_plan": "Clean it first.",
}
SCENE = EPISODE.environment


def items(*texts: str) -> str:
    return json.dumps({"items": [{"insight": text} for text in texts]})


def said(*answers: dict[str, str] | str) -> list[str]:
    return [each if isinstance(each, str) else json.dumps(each) for each in answers]


def again(trajectory: Trajectory, at: int) -> Trajectory:
    return replace(trajectory, metadata={"max_steps": str(at)}, steps=trajectory.steps[at:])


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return new_bank(tmp_path / "bank", batch=2)


@pytest.fixture
def writer(server: ModelServer) -> ModelExtractor:
    return ModelExtractor(client(server), "alfworld", method="cdmem")


def texts(bank: Bank, name: str) -> list[str]:
    return [node.payload["text"] for node in bank.tree(name)]


def test_each_prompt_is_asked_and_its_answer_kept(
    bank: Bank, server: ModelServer, writer: ModelExtractor
) -> None:
    writer.check()
    plan = "take, clean, put"
    server.answer(
        *said(EXPERT, WAY),
        *said(EXPERT, WAY, items(plan), items("sinkbasins clean it", "cabinets hold it")),
        *said(EXPERT, WHY),
        *said(EXPERT | {"functions": "None."}, WHY, items("When dry: clean it.")),
    )
    learn(bank, EPISODE, writer)
    result = learn(bank, again(EPISODE, 1), writer)
    assert {call.purpose for call in result.calls} == {"extract", "induce"}
    assert plan in texts(bank, TASK_INSIGHTS)
    learn(bank, again(LOST, 2), writer)
    learn(bank, again(LOST, 3), writer)
    asked = [each.prompt for each in server.requests]
    assert len(asked) == 11
    assert "take [object] from countertop" in asked[-2]  # earlier tries
    assert "cup 2: cabinet 1" in asked[-2]  # where things are
    assert "operation: The cup was dry." in asked[-1]
    shown = recall(bank, EPISODE.task, SCENE).context
    order = [
        *("### Example of this task, here", "countertop 1: cup 2", "sinkbasins clean"),
        *("1. take, clean, put", "1. When dry: clean it.", "- operation: The cup was dry."),
    ]
    assert [shown.find(each) for each in order] == sorted(shown.find(each) for each in order)
    assert min(map(shown.find, order)) > 0
    assert len([text for text in texts(bank, ENVIRONMENTS) if text == "sinkbasin: cleans"]) == 3
