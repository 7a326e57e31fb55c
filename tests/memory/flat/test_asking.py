"""Flat methods ask a model: their prompts, wrong and weak answers, over a loopback server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.flat.definitions import (
    FAILURE,
    LESSONS,
    PROCEDURES,
    SUCCESS,
    WORKFLOWS,
    ReasoningBankSettings,
)
from deltamem_tui.memory.method import change_settings
from deltamem_tui.memory.prompts import library
from deltamem_tui.memory.writers.model.writer import ModelExtractor
from deltamem_tui.trajectory.model import Trajectory
from tests.llm.fixtures import running, server
from tests.llm.server import ModelServer
from tests.llm.support import client
from tests.memory.flat import awm
from tests.memory.flat.memp import facts, records
from tests.memory.writers.model.support import EPISODE, LOST
from tests.places import PROMPTS

__all__ = ["running", "server"]


def new_bank(path: Path, method: str) -> Bank:
    return create_bank(path / "bank", embedder="hashing", domain="alfworld", method=method)


def asking(server: ModelServer, method: str, domain: str = "alfworld") -> ModelExtractor:
    found = ModelExtractor(client(server), domain, [PROMPTS], method=method)
    found.check()
    return found


def items(*said: dict[str, str]) -> str:
    return json.dumps({"items": said})


# MemP

SCRIPT = json.dumps({"script": "Find a cup, rinse it, put it away."})
REPAIR = json.dumps({"diagnosis": "It was never rinsed.", "script": "Rinse the cup first."})


def said(*pairs: tuple[str, str]) -> str:
    return items(*({"name": name, "value": value} for name, value in pairs))


FACTS = said(("do", "put"), ("state", "clean"), ("object", "cup"), ("receptacle", "cabinet"))


def test_a_success_is_a_script_with_facts_and_a_failure_repairs_it(
    tmp_path: Path, server: ModelServer
) -> None:
    server.answer(SCRIPT, FACTS, REPAIR)
    bank, writer = new_bank(tmp_path, "memp"), asking(server, "memp")
    first = learn(bank, EPISODE, writer).trees[PROCEDURES]
    (record,) = records(bank)
    assert record.payload["script"] == json.loads(SCRIPT)["script"]
    assert record.payload["trajectory"].count("Action: ") == len(EPISODE.steps)
    assert facts(bank, record)["receptacle"] == "cabinet"
    assert (record.origin.extractor, len(first.calls)) == ("model", 2)
    lost = replace(LOST, task="put a clean cup in a cabinet.")
    lost = Trajectory(lost.task, steps=lost.steps[1:], outcome=lost.outcome, domain="alfworld")
    repaired = learn(bank, lost, writer).trees[PROCEDURES]
    (record,) = records(bank)
    assert (repaired.decision, repaired.reason) == ("repair", "It was never rinsed.")
    assert record.payload["script"] == "Rinse the cup first."
    assert record.origin.episodes == (EPISODE.id, lost.id)
    assert facts(bank, record)["object"] == "cup"
    assert [name in server.requests[-1].prompt for name in ("rinse it", "not solved")] == [True] * 2
    assert "Step 4" not in server.requests[1].prompt
    assert "receptacle, tool" in server.requests[1].prompt


def test_weak_answers_are_asked_again_and_unknown_facts_left_out(
    tmp_path: Path, server: ModelServer
) -> None:
    long = json.dumps({"script": "word " * 900})
    many = said(("object", "word " * 20))
    odd = said(("Object", "cup"), ("object", "mug"), ("colour", "red"), ("state", "clean"))
    server.answer(long, '{"text": ""}', SCRIPT, many, odd)
    bank = new_bank(tmp_path, "memp")
    result = learn(bank, EPISODE, asking(server, "memp")).trees[PROCEDURES]
    assert [call.attempts for call in result.calls] == [3, 2]
    (record,) = records(bank)
    assert facts(bank, record) == {"object": "cup", "state": "clean"}


# AWM

WAY = "1. take [object] from [place]\n   It was found.\n2. clean [object] with sinkbasin"


def workflows(*steps: str) -> str:
    return items(*({"title": "Clean it", "steps": each} for each in steps))


@pytest.mark.parametrize("domain", ["alfworld", "scienceworld", "webshop", "generic"])
def test_workflows_are_induced_from_all_solved_tasks_of_the_kind(
    tmp_path: Path, server: ModelServer, domain: str
) -> None:
    bank = awm.new_bank(tmp_path / "bank", domain=domain)
    server.answer("nonsense", workflows(WAY), workflows(WAY, WAY, "nothing but prose"))
    writer = asking(server, "awm", domain)
    cup = awm.attempt("a cup", "wash it", "dry it").with_facts(domain="home")
    pan = awm.attempt("a pan", "sell it", "pay", number=1).with_facts(domain="home")
    first = learn(bank, cup, writer).trees[WORKFLOWS]
    assert (first.decision, first.calls[-1].purpose, first.calls[-1].attempts) == (
        "induce",
        "induce",
        2,
    )
    again = learn(bank, pan, writer).trees[WORKFLOWS]
    assert again.decision == "keep"
    assert len(bank.tree(WORKFLOWS)) == 1
    prompt = server.requests[-1].prompt
    for text in ("chores", "a cup", "wash it", "a pan", "sell it", "It was found."):
        assert text in prompt
    assert (PROMPTS / domain / "_awm_example.md").read_text("utf-8").strip() in prompt


# ReasoningBank


def item(content: str) -> dict[str, str]:
    said = f"Remember to {content} before all else."
    return {"description": f"when {content}", "title": f"on {content}", "content": said}


def lessons(*contents: str) -> str:
    return items(*map(item, contents))


def contents(bank: Bank) -> list[str]:
    return [title(node) for node in bank.tree(LESSONS) if node.parent]


def title(node: Node) -> str:
    return node.payload["title"].removeprefix("on ")


@pytest.mark.parametrize(("episode", "prompt"), [(EPISODE, SUCCESS), (LOST, FAILURE)])
def test_up_to_three_lessons_are_taken_and_wrong_answers_asked_again(
    tmp_path: Path, server: ModelServer, episode: Trajectory, prompt: str
) -> None:
    bank, writer = new_bank(tmp_path, "reasoningbank"), asking(server, "reasoningbank")
    wrong = json.dumps({"items": [{"title": "t", "content": "c"}]})
    server.answer("look!", wrong, lessons("look", "look", "take", "put"))
    result = learn(bank, episode, writer).trees[LESSONS]
    assert contents(bank) == ["look", "take"]
    assert (result.decision, result.calls[0].attempts) == ("entry", 3)
    assert result.calls[0].prompt == library.find("alfworld", prompt).digest
    assert "put cup 2 in cabinet 1" in server.requests[0].prompt


def test_trials_of_one_task_are_compared_and_share_an_entry(
    tmp_path: Path, server: ModelServer
) -> None:
    bank, writer = new_bank(tmp_path, "reasoningbank"), asking(server, "reasoningbank")
    change_settings(bank, "test", lambda _: ReasoningBankSettings(trials=3))
    server.answer(lessons("look", "stay"))
    learn(bank, replace(LOST, steps=LOST.steps[:2]), writer)
    server.answer(lessons("Stay", "clean", "c", "d", "e"))
    result = learn(bank, EPISODE, writer).trees[LESSONS]
    assert result.decision == "contrast"
    asked = server.requests[0].prompt
    for text in (
        "In this trial the task was not solved.",
        "Do: Remember to stay",
    ):
        assert text in asked
    assert contents(bank) == ["Stay", "clean", "c", "d", "e"]
    (entry,) = bank.tree(LESSONS).roots()
    assert (entry.label, len(entry.origin.episodes)) == ("success", 2)
    server.answer(lessons("Stay", "again"))
    third = replace(EPISODE, steps=EPISODE.steps[:3])
    learn(bank, third, writer)
    assert server.requests[0].prompt.count("In this trial") == 2
    assert contents(bank) == ["Stay", "again"]
    elsewhere = replace(EPISODE, environment="Another room with a cabinet 7.")
    server.answer(lessons("new"))
    assert learn(bank, elsewhere, writer).trees[LESSONS].decision == "entry"
