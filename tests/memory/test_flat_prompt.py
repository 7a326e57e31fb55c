"""A method of another package asks a model: with inputs of its own, and for a list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import PromptTooLongError
from deltamem_tui.llm.answers import Contract, Field, UnusableAnswer
from deltamem_tui.llm.cost import NOTHING, Budget
from deltamem_tui.memory import method as methods
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.prompts import library as check
from deltamem_tui.memory.runs.questions import estimate_learning
from deltamem_tui.memory.vectors.search import embedder_of
from deltamem_tui.memory.writers.model.request import fitted
from deltamem_tui.memory.writers.model.writer import ModelExtractor
from tests.llm.fixtures import running, server
from tests.llm.server import ModelServer
from tests.llm.support import client
from tests.memory import flat_method
from tests.memory.flat_method import ASKED, NOTES
from tests.memory.writers.model.support import EPISODE, LOST
from tests.places import PROMPTS

__all__ = ["running", "server"]

FOLDERS = [Path(__file__).parent / "flat_prompts", PROMPTS]


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bank:
    monkeypatch.setattr(methods, "PLACES", {**methods.PLACES})
    flat_method.register()
    return create_bank(tmp_path / "bank", embedder="hashing", method="flat")


def items(*advice: object) -> str:
    return json.dumps({"items": [{"advice": each} for each in advice]})


def test_a_list_of_notes_is_written_from_what_is_known(bank: Bank, server: ModelServer) -> None:
    asking = ModelExtractor(client(server), folders=FOLDERS, method="flat")
    asking.check()
    server.answer("look!", items("look for it", "take it there"), items())
    (result,) = learn(bank, EPISODE, asking).trees.values()
    assert [node.payload["advice"] for node in bank.tree(NOTES)] == ["look for it", "take it there"]
    assert result.calls[0].attempts == 2
    again = learn(bank, replace(EPISODE, task="put a clean cup in a cabinet."), asking)
    assert again.trees[NOTES].decision == "skip"
    assert "look" in server.requests[-1].prompt
    assert "Step 4" in server.requests[-1].prompt
    assert learn(bank, replace(LOST, task="fail"), asking).trees[NOTES].node is None


def test_it_is_checked_and_estimated_unsent(bank: Bank, server: ModelServer) -> None:
    uses = methods.prompt_uses()
    for path in check.files(FOLDERS[0]):
        assert check.flaws(path, FOLDERS[0], FOLDERS, uses) == []
    learn(bank, EPISODE)
    frugal = ModelExtractor(client(server, budget=Budget(NOTHING)), folders=FOLDERS)
    other = replace(EPISODE, task="put a clean cup in a cabinet.")
    usage = estimate_learning(bank, [other], frugal, embedder_of(bank))
    assert (usage.calls, len(server.requests)) == (1, 0)
    assert usage.prompt_tokens > len(other.text.split())


@pytest.mark.parametrize(
    ("matter", "flaw"),
    [("items = 4", "from 1 to 3"), ("", "from 1 to 3"), ("items = true", "Expected `int`")],
)
def test_a_file_asks_for_no_more_than_the_method_takes(
    bank: Bank, tmp_path: Path, matter: str, flaw: str
) -> None:
    text = (FOLDERS[0] / "generic" / f"{ASKED}.md").read_text().replace("items = 3", matter)
    path = tmp_path / "prompts" / "generic" / f"{ASKED}.md"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    found = check.flaws(path, tmp_path / "prompts", FOLDERS, methods.prompt_uses())
    assert any(flaw in each.message for each in found)


LISTED = Contract((Field("advice", 5),), items=3)


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        (items("a", "b"), ["a", "b"]),
        (items(*"abcd"), ["a", "b", "c"]),
        (items(1), ["1"]),
        ('{"items": [{"advice": ["a", "b"], "more": "c"}], "skip": false}', ["a\nb"]),
        ('{"advice": "a"}', ["a"]),
    ],
)
def test_a_list_is_read_as_it_is_meant(text: str, texts: list[str]) -> None:
    read = LISTED.read(text)
    assert isinstance(read, tuple)
    assert [each["advice"] for each in read] == texts


@pytest.mark.parametrize(
    "text", [items(""), items(), '{"items": {"advice": "a"}}', '{"items": ["a"]}', '{"more": "b"}']
)
def test_a_list_of_no_use_is_refused(text: str) -> None:
    with pytest.raises(UnusableAnswer):
        LISTED.read(text)


def test_as_many_texts_are_shown_as_fit_one_of_each_list_in_turn() -> None:
    lists = {"won": ("a", "b", "c"), "lost": ("x",)}

    def shown(room: int) -> list[int]:
        return [len(each) for each in fitted(lists, room, lambda _: 1).values()]

    assert [shown(room) for room in (1, 2, 3, 4, 9)] == [[1, 0], [1, 1], [2, 1], [3, 1], [3, 1]]
    with pytest.raises(PromptTooLongError):
        shown(0)
