"""AWM asks a model for workflows; wrong and weak answers; a prompt of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from deltamem_tui.memory.awm.definition import WORKFLOWS
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.writers.model.writer import ModelExtractor
from tests.llm.fixtures import running, server
from tests.llm.server import ModelServer
from tests.llm.support import client
from tests.memory.awm.support import attempt, new_bank
from tests.memory.writers.model.support import EPISODE
from tests.places import PROMPTS

__all__ = ["running", "server"]

WAY = "1. take [object] from [place]\n   It was found.\n2. clean [object] with sinkbasin"


def said(*steps: str) -> str:
    return json.dumps({"items": [{"title": "Clean it", "steps": each} for each in steps]})


def asking(server: ModelServer, *more: Path, domain: str = "generic") -> ModelExtractor:
    found = ModelExtractor(client(server), domain, [*more, PROMPTS], method="awm")
    found.check()
    return found


@pytest.mark.parametrize("domain", ["alfworld", "scienceworld", "webshop", "generic"])
def test_workflows_are_induced_from_all_solved_tasks_of_the_kind(
    tmp_path: Path, server: ModelServer, domain: str
) -> None:
    bank = new_bank(tmp_path / "bank", domain=domain)
    server.answer("nonsense", said(WAY), said(WAY, WAY, "only prose"))
    writer = asking(server, domain=domain)
    cup = attempt("a cup", "wash it", "dry it").with_facts(domain="home")
    pan = attempt("a pan", "sell it", "pay", number=1).with_facts(domain="home")
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


def test_a_kind_is_asked_for_where_the_rules_know_none(tmp_path: Path, server: ModelServer) -> None:
    bank = new_bank(tmp_path / "bank")
    server.answer('{"kind": "clean dishes"}', said(WAY))
    episode = replace(EPISODE, domain="generic", task="Do the dishes, please.")
    calls = learn(bank, episode, asking(server)).calls
    assert [call.purpose for call in calls] == ["classify", "induce"]
    assert next(iter(bank.tree(WORKFLOWS))).payload["group"] == "clean dishes"
