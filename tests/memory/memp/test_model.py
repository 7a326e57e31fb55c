"""MemP asks a model: a script, facts, a repair; wrong and weak answers; prompts of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.memp.definition import PROCEDURES
from deltamem_tui.memory.plan import CollectionResult
from deltamem_tui.memory.writers.model.writer import ModelExtractor
from deltamem_tui.trajectory.model import Trajectory
from tests.llm.fixtures import running, server
from tests.llm.server import ModelServer
from tests.llm.support import client
from tests.memory.memp.support import facts, records
from tests.memory.writers.model.support import EPISODE, LOST
from tests.places import PROMPTS as SHIPPED

__all__ = ["running", "server"]

SCRIPT = json.dumps({"script": "Find a cup, rinse it, put it away."})
REPAIR = json.dumps({"diagnosis": "It was never rinsed.", "script": "Rinse the cup first."})


def said(*pairs: tuple[str, str]) -> str:
    return json.dumps({"items": [{"name": name, "value": value} for name, value in pairs]})


FACTS = said(("do", "put"), ("state", "clean"), ("object", "cup"), ("receptacle", "cabinet"))


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return create_bank(tmp_path / "bank", embedder="hashing", domain="alfworld", method="memp")


def asking(server: ModelServer, *more: Path) -> ModelExtractor:
    found = ModelExtractor(client(server), folders=[*more, SHIPPED], method="memp")
    found.check()
    return found


def teach(bank: Bank, episode: Trajectory, writer: ModelExtractor) -> CollectionResult:
    return learn(bank, episode, writer).trees[PROCEDURES]


def test_a_success_is_a_script_with_facts_and_a_failure_repairs_it(
    bank: Bank, server: ModelServer
) -> None:
    server.answer(SCRIPT, FACTS, REPAIR)
    writer = asking(server)
    first = teach(bank, EPISODE, writer)
    (record,) = records(bank)
    assert record.payload["script"] == json.loads(SCRIPT)["script"]
    assert record.payload["trajectory"].count("Action: ") == len(EPISODE.steps)
    assert facts(bank, record)["receptacle"] == "cabinet"
    assert (record.origin.extractor, len(first.calls)) == ("model", 2)
    lost = replace(LOST, task="put a clean cup in a cabinet.")
    lost = Trajectory(lost.task, steps=lost.steps[1:], outcome=lost.outcome, domain="alfworld")
    repaired = teach(bank, lost, writer)
    (record,) = records(bank)
    assert (repaired.decision, repaired.reason) == ("repair", "It was never rinsed.")
    assert record.payload["script"] == "Rinse the cup first."
    assert record.origin.episodes == (EPISODE.id, lost.id)
    assert facts(bank, record)["object"] == "cup"
    assert [name in server.requests[-1].prompt for name in ("rinse it", "not solved")] == [True] * 2
    assert "Step 4" not in server.requests[1].prompt
    assert "receptacle, tool" in server.requests[1].prompt


def test_weak_answers_are_asked_again_and_unknown_facts_left_out(
    bank: Bank, server: ModelServer
) -> None:
    long = json.dumps({"script": "word " * 900})
    many = said(("object", "word " * 20))
    odd = said(("Object", "cup"), ("object", "mug"), ("colour", "red"), ("state", "clean"))
    server.answer(long, '{"text": ""}', SCRIPT, many, odd)
    result = teach(bank, EPISODE, asking(server))
    assert [call.attempts for call in result.calls] == [3, 2]
    (record,) = records(bank)
    assert facts(bank, record) == {"object": "cup", "state": "clean"}
