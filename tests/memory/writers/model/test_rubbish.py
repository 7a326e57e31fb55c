"""Answers in the right form that say nothing: the kinds that a real model of 135M gave."""

from __future__ import annotations

import json

import pytest

from deltamem_tui.memory.writers.extraction import Extraction
from deltamem_tui.memory.writers.model import ModelExtractor
from tests.llm.server import ModelServer
from tests.llm.support import client
from tests.memory.writers.model.support import EPISODE, SKILL

PLACEHOLDERS = {
    "activation_condition": "for which tasks this helps, at most 40 words",
    "execution_procedure": SKILL["execution_procedure"],
    "termination_condition": SKILL["termination_condition"],
}


def extract(server: ModelServer) -> Extraction:
    return ModelExtractor(client(server), "alfworld").write("task_root_success", EPISODE, ())


@pytest.mark.parametrize(
    ("rubbish", "reason"),
    [
        (PLACEHOLDERS, "copied from these instructions"),
        ({**SKILL, "activation_condition": "."}, "says nothing"),
        ({**SKILL, "termination_condition": SKILL["execution_procedure"]}, "says the same as"),
        ({**SKILL, "execution_procedure": "Do it."}, "fewer than 3 words"),
    ],
)
def test_rubbish_is_asked_for_again_with_the_reason(
    server: ModelServer, rubbish: dict[str, str], reason: str
) -> None:
    server.answer(json.dumps(rubbish), json.dumps(SKILL))
    extraction = extract(server)
    assert extraction.payload == SKILL
    assert extraction.attempts == 2
    assert reason in server.requests[1].body["messages"][-1]["content"]


def test_a_skill_that_names_no_action_of_its_log_is_marked(server: ModelServer) -> None:
    foreign = {**SKILL, "execution_procedure": "Compile sources, link objects, ship binaries."}
    server.answer(json.dumps(foreign))
    extraction = extract(server)
    assert extraction.payload == foreign
    assert "taken with a flaw" in extraction.reason
