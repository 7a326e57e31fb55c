"""Each prompt of ReasoningBank, sent to a loopback server, with wrong and weak answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.methods import change_settings
from deltamem_tui.memory.prompts import library
from deltamem_tui.memory.reasoningbank.definition import (
    FAILURE,
    LESSONS,
    SUCCESS,
    ReasoningBankSettings,
)
from deltamem_tui.memory.writers.model.writer import ModelExtractor
from tests.llm.fixtures import running, server
from tests.llm.server import ModelServer
from tests.llm.support import client
from tests.memory.writers.model.support import EPISODE, LOST

__all__ = ["running", "server"]


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return create_bank(
        tmp_path / "bank", domain="alfworld", embedder="hashing", method="reasoningbank"
    )


def item(content: str) -> dict[str, str]:
    said = f"Remember to {content} before all else."
    return {"description": f"when {content}", "title": f"on {content}", "content": said}


def items(*contents: str) -> str:
    return json.dumps({"items": [item(each) for each in contents]})


def contents(bank: Bank) -> list[str]:
    return [title(node) for node in bank.tree(LESSONS) if node.parent]


def title(node: Node) -> str:
    return node.payload["title"].removeprefix("on ")


@pytest.mark.parametrize(("episode", "prompt"), [(EPISODE, SUCCESS), (LOST, FAILURE)])
def test_up_to_three_lessons_are_taken_and_wrong_answers_asked_again(
    bank: Bank, server: ModelServer, episode: object, prompt: str
) -> None:
    asking = ModelExtractor(client(server))
    wrong = json.dumps({"items": [{"title": "t", "content": "c"}]})
    server.answer("look!", wrong, items("look", "look", "take", "put"))
    result = learn(bank, episode, asking).trees[LESSONS]  # type: ignore[arg-type]
    assert contents(bank) == ["look", "take"]
    assert (result.decision, result.calls[0].attempts) == ("entry", 3)
    assert result.calls[0].prompt == library.digest(library.find("alfworld", prompt))
    assert "put cup 2 in cabinet 1" in server.requests[0].prompt


def test_trials_of_one_task_are_compared_and_share_an_entry(
    bank: Bank, server: ModelServer
) -> None:
    change_settings(bank, "test", lambda _: ReasoningBankSettings(trials=3))
    asking = ModelExtractor(client(server))
    server.answer(items("look", "stay"))
    learn(bank, replace(LOST, steps=LOST.steps[:2]), asking)
    kept = {title(node): node for node in bank.tree(LESSONS) if node.parent}
    server.answer(items("Stay", "clean", "c", "d", "e"))
    result = learn(bank, EPISODE, asking).trees[LESSONS]
    assert result.decision == "contrast"
    asked = server.requests[0].prompt
    for text in (
        "In this trial the task was not solved.",
        "Done only where",
        "Do: Remember to stay",
    ):
        assert text in asked
    assert contents(bank) == ["stay", "clean", "c", "d", "e"]
    (entry,) = bank.tree(LESSONS).roots()
    assert (entry.label, len(entry.origin.episodes)) == ("success", 2)
    server.answer(items("Stay", "again"))
    third = replace(EPISODE, steps=EPISODE.steps[:3])
    learn(bank, third, asking)
    assert server.requests[0].prompt.count("In this trial") == 2
    assert contents(bank) == ["stay", "again"]
    assert bank.tree(LESSONS).node(kept["stay"].id) == kept["stay"]
    elsewhere = replace(EPISODE, environment="Another room with a cabinet 7.")
    server.answer(items("new"))
    assert learn(bank, elsewhere, asking).trees[LESSONS].decision == "entry"
