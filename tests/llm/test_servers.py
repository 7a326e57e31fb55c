"""A model's server that fails, refuses, and takes less than others; litellm and HTTP are real."""

from __future__ import annotations

import json
import logging
import threading
import traceback
from concurrent.futures import wait
from pathlib import Path
from typing import Literal

import pytest

from deltamem_tui.errors import (
    LanguageModelError,
    ModelUnavailableError,
    PromptTooLongError,
)
from deltamem_tui.llm.cache import ResponseCache
from deltamem_tui.llm.call import ChatRequest, Message, RequestOptions, Server, call
from deltamem_tui.llm.call import Reply as Answered
from deltamem_tui.llm.client import Client, NoUsableAnswerError
from deltamem_tui.llm.models import look_up
from tests.llm.server import Body, ModelServer, Reply, serving
from tests.llm.support import CONTRACT, GOOD, KEY, MODEL, Waits, client, complete

BLUE = ({"colour": "deep blue", "note": ""},)


def refused(status: int, message: str, code: str | None = None) -> Reply:
    return Reply(status=status, error=(message, code))


PASSING = {
    "too many requests": refused(429, "slow down"),
    "server error": refused(500, "oops"),
    "bad gateway": refused(502, "oops"),
    "overloaded": refused(529, "overloaded"),
    "dropped connection": Reply(GOOD, manner="drop"),
    "no choices": Reply(raw=b'{"id": "x", "choices": []}'),
}


@pytest.mark.parametrize("kind", PASSING)
def test_a_passing_failure_is_tried_again(server: ModelServer, kind: str) -> None:
    server.script(PASSING[kind], PASSING[kind], Reply(GOOD))
    waits = Waits()
    answer = complete(client(server, sleep=waits))
    assert answer.value == BLUE
    assert answer.usage.calls == 1
    assert waits.seconds == [1.0, 2.0]
    assert len(server.requests) == 3


@pytest.mark.parametrize("manner", ["hang", "drip"])
def test_no_answer_ends_at_the_timeout(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, manner: Literal["hang", "drip"]
) -> None:
    server.script(Reply(manner=manner), Reply(GOOD))
    waits, timeouts = Waits(), iter([0.1])  # the second call has all the time that it needs
    monkeypatch.setattr(
        "deltamem_tui.llm.call.wait", lambda calls, timeout: wait(calls, next(timeouts, timeout))
    )
    answer = complete(client(server, sleep=waits))
    assert answer.value == BLUE
    assert waits.seconds == [1.0]


@pytest.mark.parametrize(
    ("asked", "waited"), [("7", 7.0), ("0.5", 1.0), ("soon", 1.0), ("inf", 1.0)]
)
def test_retry_after_is_honoured_if_it_makes_sense(
    server: ModelServer, asked: str, waited: float
) -> None:
    server.script(Reply(status=429, headers=(("Retry-After", asked),)), Reply(GOOD))
    waits = Waits()
    complete(client(server, sleep=waits))
    assert waits.seconds == [waited]


def test_patience_ends(server: ModelServer) -> None:
    server.script(Reply(status=429, headers=(("Retry-After", "3600"),)))
    with pytest.raises(ModelUnavailableError, match=r"too many requests .*asks to wait 3,600 s"):
        complete(client(server))
    assert len(server.requests) == 1
    server.script(refused(500, "oops"))
    waits = Waits()
    with pytest.raises(ModelUnavailableError, match=r"oops \(500\) \(4 tries\)"):
        complete(client(server, sleep=waits, retries=3))
    assert waits.seconds == [1.0, 2.0, 4.0]
    server.script(Reply(status=502, raw=b"<html><h1>Bad gateway</h1></html>"))
    with pytest.raises(
        ModelUnavailableError, match=r"not answer: a page, not JSON \(502\) \(1 try"
    ):
        complete(client(server, retries=0))


LASTING = {
    "bad key": (refused(401, f"Incorrect API key provided: {KEY}"), LanguageModelError),
    "no right": (refused(403, "region not supported"), LanguageModelError),
    "unknown model": (refused(404, "The model does not exist"), LanguageModelError),
    "unknown model, as 400": (refused(400, "Model Not Exist"), LanguageModelError),
    "no quota": (refused(429, "You exceeded your current quota"), ModelUnavailableError),
    "no money": (refused(402, "pay"), ModelUnavailableError),
    "odd request": (refused(400, "messages.0 is odd"), LanguageModelError),
    "too long": (
        refused(
            400, "This model's maximum context length is 4096 tokens", "context_length_exceeded"
        ),
        PromptTooLongError,
    ),
    "policy": (refused(400, "Blocked by our content policy"), NoUsableAnswerError),
}


@pytest.mark.parametrize("kind", LASTING)
def test_a_lasting_failure_ends_at_once_in_one_line(server: ModelServer, kind: str) -> None:
    reply, error = LASTING[kind]
    server.script(reply)
    waits = Waits()
    with pytest.raises(LanguageModelError) as caught:
        complete(client(server, sleep=waits))
    assert type(caught.value) is error
    assert len(server.requests) == 1
    assert waits.seconds == []
    assert "\n" not in str(caught.value)
    assert "litellm" not in str(caught.value).lower()
    assert server.base in str(caught.value)


def test_no_server_at_the_address(server: ModelServer) -> None:
    asking = Client(
        MODEL, server=Server("http://user:hunter22@127.0.0.1:9/v1?key=abc"), sleep=Waits()
    )
    with pytest.raises(ModelUnavailableError, match=r"Connection error \(6 tries\)") as caught:
        complete(asking)
    assert caught.value.source == "http://[hidden]@127.0.0.1:9/v1"


def test_a_server_that_knows_no_json_mode_is_asked_without(server: ModelServer) -> None:
    complaints = (
        refused(400, "'response_format' of type json_schema is not supported"),
        refused(400, "response_format is unknown"),
        refused(422, "temperature: extra fields not permitted"),
    )
    server.script(*complaints, Reply(GOOD))
    asking = client(server, "openai/gpt-4o-mini")
    assert complete(asking).value == BLUE
    bodies = [request.body for request in server.requests]
    assert [body.get("response_format", {}).get("type") for body in bodies] == [
        "json_schema",
        "json_object",
        None,
        None,
    ]
    assert "temperature" not in bodies[3]
    server.script(Reply(GOOD))
    complete(asking, "And now?")
    assert "response_format" not in server.requests[0].body


def test_keys_show_nowhere(
    server: ModelServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    other = "gsk_another-secret-of-this-machine"
    monkeypatch.setenv("GROQ_API_KEY", other)
    caplog.set_level(logging.DEBUG)
    shown = []
    echo = f"{KEY} and {other} and Bearer abcdef123456"
    for reply in (refused(401, echo), refused(500, echo), refused(400, echo), refused(429, echo)):
        server.script(reply)
        with pytest.raises(LanguageModelError) as caught:
            complete(client(server))
        shown.append("".join(traceback.format_exception(caught.value)))
        assert caught.value.__context__ is None
    server.answer(GOOD)
    cache = ResponseCache(tmp_path)
    complete(client(server, cache=cache))
    shown += [path.read_text() for path in tmp_path.rglob("*.json")]
    shown += [caplog.text, *capfd.readouterr()]
    assert len(shown) == 8
    for text in shown:
        for secret in (KEY, other, "abcdef123456"):
            assert secret not in text


def test_the_window_that_a_server_states_is_kept_to(server: ModelServer) -> None:
    said = "This model's maximum context length is 700 tokens, you asked for 8,020"
    contract = type(CONTRACT)((*CONTRACT.fields, type(CONTRACT.fields[0])("more", 900, True)))
    server.script(refused(400, said), Reply(GOOD))
    assert complete(client(server), contract=contract).attempts == 1
    first, second = (request.body["max_tokens"] for request in server.requests)
    assert first == contract.tokens > 700 > second
    server.script(refused(400, said))
    with pytest.raises(PromptTooLongError, match="700 tokens by its server"):
        complete(client(server), "word " * 2_000)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "page", [b"<!DOCTYPE html><html>Hello</html>", b'data: {"id": "x"}\n\ndata: [DONE]\n\n']
)
def test_a_page_or_a_stream_is_no_passing_failure(server: ModelServer, page: bytes) -> None:
    server.script(Reply(raw=page))
    waits = Waits()
    with pytest.raises(LanguageModelError, match="page or a stream"):
        complete(client(server, sleep=waits))
    assert len(server.requests) == 1


@pytest.mark.parametrize("name", ["ollama/llama3", "ollama_chat/llama3"])
def test_ollama_is_told_the_window_that_it_needs(server: ModelServer, name: str) -> None:
    server.script(Reply(raw=b"{}"))  # the loopback does not speak its protocol
    with pytest.raises(LanguageModelError):
        complete(client(server, name, retries=0))
    sent = server.requests[0].body
    assert sent["options"]["num_ctx"] > sent["options"]["num_predict"] == CONTRACT.tokens
    assert sent["format"] == CONTRACT.schema()


@pytest.mark.parametrize(
    "name", ["openai/own", "hosted_vllm/own", "llamafile/own", "lm_studio/own", "azure/own"]
)
def test_the_schema_and_the_answers_length_go_to_every_server(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("AZURE_API_VERSION", "2024-10-21")
    server.answer(GOOD)
    assert complete(client(server, name)).value == BLUE
    sent = server.requests[0].body
    assert sent["response_format"]["json_schema"]["schema"] == CONTRACT.schema()
    assert sent["max_tokens"] == CONTRACT.tokens


def test_a_model_that_thinks_has_room_for_its_thoughts(server: ModelServer) -> None:
    server.answer(GOOD)
    asking = client(server, "openai/gpt-5-mini")
    complete(asking)
    assert server.requests[0].body["max_completion_tokens"] == asking.info.answer_tokens


def test_rules_go_into_a_system_message_where_the_server_takes_one(server: ModelServer) -> None:
    server.script(refused(400, "System role not supported"), Reply(GOOD))
    asking = client(server)
    asking.ask("Which colour?", CONTRACT.read, CONTRACT, system="Be brief.")
    first, second = (request.body["messages"] for request in server.requests)
    assert [each["role"] for each in first] == ["system", "user"]
    assert second == [{"role": "user", "content": "Be brief.\n\nWhich colour?"}]


def test_anthropic_is_told_up_to_where_a_prompt_may_be_cached_and_what_that_costs() -> None:
    info, cancelled = look_up("anthropic/claude-sonnet-4-5"), threading.Event()
    usage = {"input_tokens": 100, "output_tokens": 10}
    usage |= {"cache_creation_input_tokens": 2_000, "cache_read_input_tokens": 3_000}
    answer: Body = {"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5"}
    answer |= {"content": [{"type": "text", "text": GOOD}], "stop_reason": "end_turn"}
    with serving() as server:
        server.script(Reply(raw=json.dumps(answer | {"usage": usage}).encode()))
        messages: list[Message] = [{"role": "user", "content": "The log. What of it?"}]
        request = ChatRequest("k", messages, None, 9, cancelled, print, shared=8)
        found = call(info, Server(server.base), RequestOptions("text"), request)
        (message,) = server.requests[0].body["messages"]
    log, question = message["content"]
    assert (log["text"], question["text"]) == ("The log.", " What of it?")
    assert "cache_control" in log
    assert "cache_control" not in question
    assert isinstance(found, Answered)
    assert found.prompt_tokens == 5_100
    millionths = 100 * 3 + 2_000 * 3.75 + 3_000 * 0.3 + 10 * 15
    assert found.cost == pytest.approx(millionths / 1e6)
