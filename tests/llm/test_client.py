"""The client against a server that answers, errs and misbehaves; litellm and HTTP are real."""

from __future__ import annotations

import json
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.config import StatedNumbers
from deltamem_tui.errors import (
    BudgetError,
    LanguageModelError,
    ModelUnavailableError,
    StorageError,
    UsageError,
)
from deltamem_tui.llm.answers import UnusableAnswer
from deltamem_tui.llm.cache import ResponseCache
from deltamem_tui.llm.call import TIMEOUT
from deltamem_tui.llm.client import Client, NoUsableAnswerError, open_client
from deltamem_tui.llm.cost import Budget, Price, QuestionCancelledError, Usage
from tests.llm.server import ModelServer, Reply, Request, payload
from tests.llm.support import CONTRACT, GOOD, KEY, client, complete

BLUE = ({"colour": "deep blue", "note": ""},)


def refused(status: int, message: str, code: str | None = None) -> Reply:
    return Reply(status=status, error=(message, code))


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Gladly! Here it is:\n\n{GOOD}\n\nAnything else?",
        f"<think>It could be {{red}} or {{'x': 1}}.</think>\n{GOOD}",
        f"{GOOD}\n{GOOD}",
        '{"skip": false, "colour": "deep blue", "note": ""}',
        '{"colour": "deep blue"}',
        '{"colour": "deep blue", "note": "x", "why": 1}',
        '{"colour": ["deep blue"], "note": null}',
        '{"skip": true, "quote": "", "colour": "deep blue"}',
        '{"skip": "false", "colour": "deep blue"}',
        '{"colour": "\\u001b[31mdeep blue\\u0007", "note": " "}',
    ],
)
def test_what_is_meant_is_read_wherever_it_stands(server: ModelServer, text: str) -> None:
    server.answer(text)
    answer = complete(client(server))
    assert answer.value == BLUE
    assert (answer.attempts, answer.flaw, len(server.requests)) == (1, "", 1)


def test_what_is_sent(server: ModelServer) -> None:
    server.answer(GOOD)
    complete(client(server))
    request = server.requests[0]
    assert request.path == "/v1/chat/completions"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "loopback-model",
        "messages": [{"role": "user", "content": "Which colour?"}],
        "temperature": 0,
        "max_tokens": CONTRACT.tokens,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": CONTRACT.schema(), "strict": True},
        },
    }


BAD: dict[str, tuple[Reply | str, str]] = {
    "prose": ("It is blue.", "no complete JSON object"),
    "cut off": (GOOD[:-4], "no complete JSON object"),
    "nothing": ("", "the answer is empty"),
    "nothing but thoughts": ("<think>blue</think>", "the answer is empty"),
    "a field missing": ('{"note": ""}', "these fields are missing: colour"),
    "not text": ('{"colour": {"is": "blue"}}', '"colour" must be text, not an object'),
    "empty field": ('{"colour": " ", "note": ""}', '"colour" must not be empty'),
    "too long": ('{"colour": "' + "blue " * 11 + '", "note": ""}', '"colour" has 11 words'),
    "skip as text": ('{"skip": "yes"}', "these fields are missing: colour"),
    "two answers": ('{"colour": "blue", "note": ""} {"colour": "red", "note": ""}', "2 different"),
    "braces": ("{" * 100_000, "no complete JSON object"),
    "huge": (f'{{"colour": "{"b" * 3_000_000}", "note": ""}}', "longer than 200,000"),
    "a number": ("42", "no complete JSON object"),
    "all spent on thinking": (Reply("", finish="length"), "perhaps all of it spent on thinking"),
    "cut off by the server": (Reply(GOOD[:9], finish="length"), "cut off: be much shorter"),
    "a loop": ("digits " * 60 + "{" + "1234567890" * 300, "no complete JSON object"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_answer_is_asked_for_again_with_the_reason(server: ModelServer, kind: str) -> None:
    bad, reason = BAD[kind]
    server.script(bad if isinstance(bad, Reply) else Reply(bad), Reply(GOOD))
    answer = complete(client(server))
    assert answer.value == BLUE
    assert (answer.attempts, answer.usage.calls) == (2, 2)
    (message,) = server.requests[1].body["messages"]
    assert message["content"].startswith("Which colour?")
    assert reason in message["content"]
    assert len(message["content"]) < 400  # a bad answer is not shown: it would be given again
    sent, again = (request.body for request in server.requests)
    assert again["temperature"] != sent["temperature"]


def test_no_provider_is_said_before_any_call_and_no_key_at_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(LanguageModelError, match="no provider has a model called 'nonsense'"):
        Client("nonsense")
    for provider in ("anthropic", "openai"):
        monkeypatch.delenv(f"{provider.upper()}_API_KEY", raising=False)
        with pytest.raises(LanguageModelError, match=f"set {provider.upper()}_API_KEY"):
            complete(Client(f"{provider}/of-no-account"))


def test_an_answer_is_paid_once(server: ModelServer, tmp_path: Path) -> None:
    server.answer("not yet", GOOD)
    first = complete(client(server, cache=ResponseCache(tmp_path)))
    assert (first.usage.calls, first.usage.cached) == (2, 0)
    again = client(server, cache=ResponseCache(tmp_path))
    second = complete(again)
    assert second.value == first.value
    assert second.usage == again.usage == Usage(cached=2)
    assert len(server.requests) == 2
    assert again.estimate("Which colour?", CONTRACT, 9) == Usage(cached=1)
    assert again.estimate("Which shape?", CONTRACT, 9).calls == 1


def test_a_cache_that_cannot_be_written_is_still_read_and_said_once(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = ResponseCache(tmp_path)
    server.answer(GOOD)
    complete(client(server, cache=cache), "Kept?")

    def full(*_args: object) -> None:
        raise StorageError("cannot keep an answer: No space left on device")

    monkeypatch.setattr(cache, "put", full)
    said: list[str] = []
    asking = client(server, cache=cache, notify=said.append)
    for number in range(3):
        complete(asking, f"New {number}?")
    assert complete(asking, "Kept?").usage == Usage(cached=1)
    assert len(said) == 1
    assert "No space left on device" in said[0]


def test_every_payment_is_told_before_the_answer_is_kept(
    server: ModelServer, tmp_path: Path
) -> None:
    cache = ResponseCache(tmp_path / "cache")
    asking = client(server, cache=cache, price=Price(1e-6, 2e-6))
    told: list[tuple[Usage, int]] = []

    def on_answer(usage: Usage) -> None:
        told.append((usage, cache.size()[0]))

    server.answer("nonsense", GOOD)
    answer = asking.ask("What colour?", CONTRACT.read, CONTRACT, on_answer)
    assert [kept for _, kept in told] == [0, 1]
    assert sum((usage for usage, _ in told), Usage()) == answer.usage
    asking.ask("What colour?", CONTRACT.read, CONTRACT, on_answer)  # out of the cache
    assert [usage for usage, _ in told[2:]] == [Usage(cached=1)] * 2


def test_a_list_that_is_cut_off_is_not_taken_for_the_whole(server: ModelServer) -> None:
    contract = type(CONTRACT)(CONTRACT.fields, items=3)
    whole = '{"items": [{"colour": "red"}, {"colour": "blue"}]}'
    server.script(Reply(whole[:-10], finish="length"), Reply(whole))
    answer = complete(client(server), contract=contract)
    assert answer.value == ({"colour": "red", "note": ""}, {"colour": "blue", "note": ""})
    assert [request.body["max_tokens"] for request in server.requests] == [contract.tokens, 8000]


def test_an_answer_in_a_tool_call_and_thoughts_without_a_beginning_are_read(
    server: ModelServer,
) -> None:
    server.script(Reply(tool_arguments=(GOOD,), finish="tool_calls"))
    assert complete(client(server)).value == BLUE
    server.answer('So {"colour": "red"} or not?</think>' + GOOD)
    assert complete(client(server)).value == BLUE


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(None, finish="content_filter"), "content filter"),
        (Reply(None, refusal="I will not."), "declined to answer: “I will not.”"),
        (Reply(tool_arguments=("{}", GOOD), finish="tool_calls"), "calls tools in place of an"),
    ],
)
def test_a_model_that_will_not_answer_is_paid_once(
    server: ModelServer, reply: Reply, reason: str
) -> None:
    server.script(reply)
    with pytest.raises(NoUsableAnswerError, match=reason) as caught:
        complete(client(server))
    assert len(server.requests) == caught.value.usage.calls == 1


def test_what_a_provider_had_in_its_cache_costs_less(server: ModelServer) -> None:
    body = json.loads(payload(Reply(GOOD), {"model": "m", "messages": []}, server))
    details = {"prompt_tokens_details": {"cached_tokens": 8_000}}
    body["usage"] = {"prompt_tokens": 10_000, "completion_tokens": 100, "total_tokens": 1} | details
    server.script(Reply(raw=json.dumps(body).encode()))
    cost = complete(client(server, "openai/gpt-4o-mini")).usage.cost
    assert cost == pytest.approx(2_000 * 1.5e-7 + 8_000 * 7.5e-8 + 100 * 6e-7)


def test_cancelling_ends_the_repeats_and_what_was_paid_is_known(server: ModelServer) -> None:
    asking, paid = client(server), list[Usage]()

    def read(_text: str) -> str:
        asking.cancel()
        raise UnusableAnswer("no")

    server.answer("useless", GOOD)
    with pytest.raises(QuestionCancelledError):
        asking.ask("Which colour?", read, on_answer=paid.append)
    assert len(server.requests) == len(paid) == asking.usage.calls == 1


def test_cancelling_ends_the_pause_before_a_try(server: ModelServer) -> None:
    server.script(Reply(status=429, headers=(("Retry-After", "250"),)))
    noticed = threading.Event()
    asking = client(server, sleep=None, notify=lambda _: noticed.set())
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(complete, asking)
        assert noticed.wait(20.0)
        asking.cancel()
        with pytest.raises(QuestionCancelledError):
            waiting.result(20.0)


@pytest.mark.parametrize("threads", [1, 8])
def test_calls_in_flight_do_not_end_what_the_limit_allows(
    server: ModelServer, threads: int
) -> None:
    """Each may cost 30 and costs 5: side by side as many are made as one after another."""
    server.script(Reply(GOOD, delay=0.02, counts=(9, 5)))
    asking = client(server, price=Price(0.0, 1.0), answer_tokens=30, budget=Budget(100.0))

    def ask(number: int) -> bool:
        try:
            complete(asking, f"Question {number}?")
        except BudgetError:
            return False
        return True

    with ThreadPoolExecutor(threads) as pool:
        made = list(pool.map(ask, range(30)))
    assert sum(made) == len(server.requests) == 15
    assert asking.usage.cost == 75.0


@pytest.mark.parametrize("own", [True, False])
def test_a_slow_server_of_ones_own_is_waited_for_and_asked_once(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, own: bool
) -> None:
    """Asking it again would let it work twice; a provider is asked again."""
    asked, ready = threading.Semaphore(0), threading.Event()

    def replies(_request: Request) -> Reply:
        asked.release()
        return Reply(GOOD, after=ready)

    def waited(calls: list[Future[Any]], timeout: float) -> Any:
        """Let a provider's time run out before its first answer, and any other answer come."""
        assert asked.acquire(timeout=20.0)
        if timeout <= TIMEOUT and len(server.requests) == 1:
            return wait(calls, timeout=0.0)
        ready.set()
        return wait(calls, timeout=20.0)

    server.replies = replies
    monkeypatch.setattr("deltamem_tui.llm.call.wait", waited)
    monkeypatch.setattr("deltamem_tui.llm.client._FIRST_WAIT", 0.0)
    monkeypatch.setenv("OPENAI_API_BASE", server.base)
    address = server.base if own else None
    asking = open_client("openai/own", notify=print, address=address, cached=False)
    assert complete(asking).value == BLUE
    assert len(server.requests) == (1 if own else 2)


def test_a_prompt_that_its_server_cuts_is_marked_and_said_once(
    server: ModelServer, tmp_path: Path
) -> None:
    """As Ollama does beyond its `num_ctx`, without a word."""
    said: list[str] = []
    server.script(Reply(GOOD, counts=(2_048, 9)))
    for _ in range(2):  # also where the answer was kept
        asking = client(server, cache=ResponseCache(tmp_path), notify=said.append)
        for number in range(2):
            answer = complete(asking, f"{number} " + "word " * 6_000)
            assert answer.flaw.startswith("the server read 2,048 of some 6,0")
    assert len(server.requests) == len(said) == 2
    assert "state its window (`--window N`)" in said[0]
    server.script(Reply(GOOD, counts=(5_000, 9)))  # by another vocabulary
    assert complete(client(server), "word " * 6_000).flaw == ""


def test_a_client_for_a_named_model() -> None:
    told: list[str] = []
    frugal = open_client("openai/gpt-4o-mini", notify=told.append, cached=False, asks=False)
    with pytest.raises(BudgetError, match="nothing may be sent for an estimate"):
        complete(frugal)
    with pytest.raises(BudgetError, match="price of openai/of-my-own is not known"):
        open_client("openai/of-my-own", notify=told.append, address="http://x/v1", max_cost=1.0)
    stated = StatedNumbers(4_000, price=(1e-6, 2e-6))
    own = open_client("openai/of-my-own", notify=told.append, max_cost=1.0, stated=stated)
    assert (own.info.window, own.info.answer_tokens, own.info.price) == (
        4_000,
        1_000,
        Price(1e-6, 2e-6),
    )
    with pytest.raises(UsageError, match="begins with http"):
        open_client("openai/of-my-own", notify=told.append, address="me:word@host/v1")


@pytest.mark.parametrize(
    ("reply", "paid"), [(Reply(GOOD, manner="drop"), True), (Reply(status=503), False)]
)
def test_only_a_call_that_was_lost_may_have_been_paid(
    server: ModelServer, reply: Reply, paid: bool
) -> None:
    server.script(reply)
    asking = client(server, price=Price(0.0, 1.0), answer_tokens=30, budget=Budget(100.0))
    with pytest.raises(BudgetError if paid else ModelUnavailableError):
        complete(asking)
    assert len(server.requests) == (3 if paid else 6)
