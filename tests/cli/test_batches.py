"""`--batch` and `--answers`: rounds of a batch end in the bank that asking directly gives."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.llm.cache import BatchCaller
from deltamem_tui.llm.call import Reply as KeptReply
from deltamem_tui.memory.episodes.outcomes import known_episode
from deltamem_tui.memory.runs.learning import LearningRun
from deltamem_tui.memory.writers.model.writer import ModelExtractor
from deltamem_tui.trajectory.readers.native import to_line
from tests.cli.support import Program
from tests.llm.server import ModelServer, Reply, Request
from tests.llm.support import client
from tests.memory.writers.model import sensible
from tests.memory.writers.model.generated import generated
from tests.memory.writers.model.learning import payments

EPISODES = generated(9)
MODEL = "openai/loopback-model"
REFUSED, STUBBORN, SHY = (each.task for each in EPISODES[1:4])


def answer(request: Request) -> Reply:
    """A model that refuses one task, never answers another, and a third only when asked again."""
    if REFUSED in request.prompt:
        return Reply(status=400, error=("against our content_policy", None))
    again = len(request.body["messages"]) > 2
    if STUBBORN in request.prompt or (SHY in request.prompt and not again):
        return Reply("I would rather not.")
    return sensible.reply(request)


def result(line: str) -> dict[str, Any]:
    """What a batch service says to one request."""
    asked = json.loads(line)
    assert (asked["method"], asked["url"]) == ("POST", "/v1/chat/completions")
    assert asked["body"]["temperature"] == 0
    given = answer(Request("", {}, asked["body"]))
    body: dict[str, Any] = {"error": {"message": given.error[0]}}
    if given.status == 200:
        message = {"role": "assistant", "content": given.text}
        usage = {"prompt_tokens": 300, "completion_tokens": 30}
        body = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
    response = {"status_code": given.status, "body": body}
    return {"custom_id": asked["custom_id"], "response": response, "error": None}


@pytest.fixture
def house(empty: Program, monkeypatch: pytest.MonkeyPatch) -> Program:
    """The program with twins in which the same episodes wait, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty.folder / "cache"))
    (empty.folder / "log.jsonl").write_bytes(b"".join(map(to_line, EPISODES)))
    for name in ("kitchen", "direct"):
        assert empty("init", name, "--embedder", "hashing", "--domain", "alfworld").code == 0
        assert empty("import", name, "log.jsonl").code == 0
    return empty


def one_round(house: Program, *more: str) -> Any:
    answered = house.json("extract", "kitchen", "--model", MODEL, "--batch", "asked.jsonl", *more)
    return answered.document


def requests(house: Program) -> list[str]:
    return (house.folder / "asked.jsonl").read_text().splitlines()


def write_results(house: Program) -> Path:
    path = house.folder / "results.jsonl"
    path.write_text("".join(json.dumps(result(each)) + "\n" for each in requests(house)))
    return path


def rounds(house: Program, call: Callable[[str], Any]) -> Iterator[dict[str, Any]]:
    """Rounds until nothing is asked."""
    one_round(house)
    for _ in range(40):
        if not requests(house):
            return
        yield call(str(write_results(house)))


def killed_at(monkeypatch: pytest.MonkeyPatch, last: int) -> None:
    """End a round at the answer of this number, when it is on the bill and not kept yet."""
    numbers, keep = count(), BatchCaller.keep

    def mortal(self: BatchCaller, key: str, reply: KeptReply) -> None:
        if next(numbers) == last:
            raise KeyboardInterrupt
        keep(self, key, reply)

    monkeypatch.setattr(BatchCaller, "keep", mortal)


def test_rounds_give_the_bank_that_asking_directly_gives(
    house: Program, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_at(monkeypatch, 3)

    def call(results: str) -> Any:
        house("extract", "kitchen", "--model", MODEL, "--batch", "killed", "--answers", results)
        return one_round(house, "--answers", results)

    seen = list(rounds(house, call))
    assert 2 <= len(seen) <= len(EPISODES)
    assert server.requests == []

    server.replies = answer
    monkeypatch.setenv("XDG_CACHE_HOME", str(house.folder / "another"))
    one, other = (Bank.open(house.bank.parent / name) for name in ("kitchen", "direct"))
    order = [each.detail["trajectory"] for each in one.journal.commits() if each.event == "learn"]
    found = [known_episode(other, each) for each in order]
    with LearningRun(other, ModelExtractor(client(server), "alfworld")) as run:
        assert len([*run.learn(found)]) == len(order)
    assert one.episodes.waiting() == other.episodes.waiting()
    for name in one.trees:
        assert [*one.tree(name)] == [*other.tree(name)]


def test_only_what_was_asked_is_taken_and_paid_once(house: Program) -> None:
    one_round(house)
    good = [json.dumps(result(each)) for each in requests(house) if REFUSED not in each]
    unasked = json.dumps({**json.loads(good[0]), "custom_id": "0" * 64})
    path = json.dumps({**json.loads(good[0]), "custom_id": "../../bank"})
    expired = json.dumps({**json.loads(good[1]), "response": None, "error": {"message": "expired"}})
    odd = json.dumps({**json.loads(good[1]), "response": {"status_code": 200, "body": {}}})
    lines = [good[0], unasked, path, expired, odd, "[1]", "null", good[0], good[1][:-9]]
    (house.folder / "results.jsonl").write_text("\n".join(lines))
    done = one_round(house, "--answers", "results.jsonl")
    places = [(each["source"], each["position"]) for each in done["errors"]]
    assert places == [("results.jsonl", f"line {number}") for number in (2, 3, 4, 5, 6, 7, 9)]
    assert done["status"] == "partial"
    batch = done["data"]["batch"]
    assert (batch["answers_taken"], batch["answers_before"]) == (1, 1)
    (paid,) = payments(Bank.open(house.bank))
    assert paid["prompt_tokens"] == 300
    assert json.loads(good[0])["custom_id"] not in "".join(requests(house))
    assert json.loads(good[1])["custom_id"] in "".join(requests(house))

    house("init", "other", "--embedder", "hashing")
    call = ("extract", "other", "--model", MODEL, "--batch", "b", "--answers", "results.jsonl")
    assert house.json(*call).data["batch"]["answers_taken"] == 0
    assert not payments(Bank.open(house.bank.parent / "other"))


@pytest.mark.parametrize(
    "options",
    [
        ["--answers", "results.jsonl"],
        ["--batch", "b", "--max-cost", "1"],
        ["--batch", "b", "--dry-run"],
        ["--batch", "b", "--no-cache"],
        ["--batch", "b", "--extractor", "rules"],
    ],
)
def test_what_does_not_go_together(house: Program, options: list[str]) -> None:
    assert house.json("extract", "kitchen", "--model", MODEL, *options).code == 2
