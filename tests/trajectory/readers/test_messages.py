"""Parts of messages as each provider writes them: calls, results, and files that are no text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import Step
from deltamem_tui.trajectory.readers.chat import spoken
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import (
    add_message,
    content_text,
    is_message,
    role_of,
    speaker,
)
from tests.trajectory.readers.samples import Json, episode, lines, only, readings, refusal
from tests.trajectory.readers.test_branches import claude
from tests.trajectory.readers.writers import CHATS

BYTES = "iVBORw0KGgo" * 100


def bedrock(*parts: Json, role: str = "assistant") -> Json:
    return {"role": role, "content": list(parts)}


def use(name: str, call_id: str, **given: object) -> Json:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": given}}


def result(call_id: str, *content: Json, **marks: object) -> Json:
    return {"toolResult": {"toolUseId": call_id, "content": list(content), **marks}}


def test_bedrock_calls_and_results_are_steps(tmp_path: Path) -> None:
    log = {
        "system": [{"text": "A shell."}],
        "messages": [
            bedrock({"text": "Delete old logs."}, {"cachePoint": {"type": "default"}}, role="user"),
            bedrock({"text": "I list."}, use("bash", "x", command="ls")),
            bedrock(result("x", {"text": "a.log"}), role="user"),
            bedrock(
                {"reasoningContent": {"reasoningText": {"text": "One.", "signature": "s"}}},
                use("rm", "y", path="a.log"),
                use("look", "z"),
            ),
            bedrock(
                result("z", {"json": {"left": 0}}),
                result("y", {"text": "denied"}, status="error"),
                role="user",
            ),
            bedrock({"text": "Done."}),
        ],
    }
    found = episode(tmp_path, lines(log))
    assert found.task == "Delete old logs."
    assert found.environment == "A shell."
    assert found.steps == (
        Step("ls", "a.log", "I list."),
        Step('rm(path="a.log")', "error: denied", "One."),
        Step("look()", '{"left":0}'),
        Step("Done."),
    )


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ({"inlineData": {"mimeType": "image/png", "data": BYTES}}, "[image]"),
        ({"inline_data": {"mime_type": "application/pdf", "data": BYTES}}, "[document]"),
        ({"inlineData": {"mimeType": "audio/wav", "data": BYTES}}, "[audio]"),
        ({"inlineData": {"data": BYTES}}, "[image]"),
        ({"type": "document", "source": {"type": "base64", "data": BYTES}}, "[document]"),
        ({"type": "document", "source": {"type": "text", "data": "Words."}}, "Words."),
        ({"document": {"name": "a", "source": {"bytes": BYTES}}}, "[document]"),
        ({"image": {"format": "png", "source": {"bytes": BYTES}}}, "[image]"),
        ({"video": {"format": "mp4", "source": {"bytes": BYTES}}}, "[video]"),
        ({"type": "file", "file": {"file_data": BYTES}}, "[document]"),
        ({"type": "input_file", "file_data": BYTES}, "[document]"),
        ({"type": "input_audio", "input_audio": {"data": BYTES}}, "[audio]"),
        (f"see data:application/pdf;base64,{BYTES} here", "see [document] here"),
        (f"see data:image/png;base64,{BYTES} here", "see [image] here"),
        (f"data:text/plain;base64,{BYTES}", f"data:text/plain;base64,{BYTES}"),
        ({"file": {"name": "a.py"}}, '{"file":{"name":"a.py"}}'),
        ({"document": "words"}, '{"document":"words"}'),
        ({"type": "text", "value": "Words."}, "Words."),
        ({"type": "text", "text": {"value": "Words.", "annotations": []}}, "Words."),
    ],
)
def test_files_in_messages_leave_a_note(part: object, told: str) -> None:
    assert content_text(part) == told
    assert content_text([{"text": "a"}, part]) == f"a\n{told}"


def test_gemini_files_are_notes_in_task_and_answer(tmp_path: Path) -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": BYTES}}
    log = {
        "sessionId": "g",
        "messages": [
            {"type": "user", "content": [{"text": "What is this?"}, picture]},
            {
                "type": "gemini",
                "content": "",
                "toolCalls": [{"id": "c", "name": "read", "args": {}, "result": [picture]}],
            },
        ],
    }
    found = episode(tmp_path, lines(log))
    assert found.task == "What is this?\n[image]"
    assert found.steps == (Step("read()", "[image]"),)


def served(tmp_path: Path, *parts: Json) -> tuple[Step, ...]:
    log = lines(claude("u1", None, "Find it."), claude("a1", "u1", [*parts]))
    return episode(tmp_path, log).steps


def test_claude_tools_of_the_service_are_steps(tmp_path: Path) -> None:
    call: Json = {
        "type": "server_tool_use",
        "id": "s",
        "name": "web_search",
        "input": {"query": "q"},
    }
    page: Json = {
        "type": "web_search_result",
        "title": "T",
        "url": "http://t",
        "encrypted_content": "x",
    }
    answer: Json = {"type": "web_search_tool_result", "tool_use_id": "s", "content": [page, page]}
    said: Json = {"type": "text", "text": "It is T."}
    assert served(tmp_path, call, answer, said) == (
        Step('web_search(query="q")', "T\nhttp://t\nT\nhttp://t"),
        Step("It is T."),
    )


def test_a_tool_of_the_service_that_failed_says_so(tmp_path: Path) -> None:
    call: Json = {"type": "server_tool_use", "id": "s", "name": "web_fetch", "input": {"url": "u"}}
    refusal: Json = {"type": "web_fetch_tool_result_error", "error_code": "unavailable"}
    answer: Json = {"type": "web_fetch_tool_result", "tool_use_id": "s", "content": refusal}
    (step,) = served(tmp_path, call, answer)
    assert "error" in step.observation
    assert "unavailable" in step.observation


def test_anthropic_messages_of_the_service_alone_are_its_own(tmp_path: Path) -> None:
    call: Json = {
        "type": "server_tool_use",
        "id": "s",
        "name": "web_search",
        "input": {"query": "q"},
    }
    answer: Json = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    messages = [
        {"role": "user", "content": "Find it."},
        {"role": "assistant", "content": [call, answer]},
    ]
    found = episode(tmp_path, lines({"messages": messages}))
    assert found.source.format == "anthropic"
    assert found.steps == (Step('web_search(query="q")'),)


@pytest.mark.parametrize(
    ("names", "role"),
    [
        (("system", "developer", "SystemMessage"), "system"),
        (("user", "human", "HumanMessage", "USER"), "user"),
        (("assistant", "ai", "agent", "gpt", "model", "bot", "AIMessage", "Assistant"), "agent"),
        (("tool", "function", "toolResult", "tool_result", "ToolMessage", "observation"), "tool"),
        (("environment", "function_response", "tool_response", "ipython"), "tool"),
        (("critic", "", "bashExecution", None, 3), None),
    ],
)
def test_both_ways_into_a_conversation_know_the_same_names(
    names: tuple[object, ...], role: str | None
) -> None:
    for name in names:
        assert speaker(name) == role
        message = {"role": name, "content": "words"}
        assert role_of(message) == role
        if role:
            assert spoken(message)["role"] == role


@pytest.mark.parametrize("message", [{"role": "critic", "content": "x"}, {"content": "x"}, {}, 3])
def test_words_of_nobody_are_refused_either_way(message: object) -> None:
    with pytest.raises(RecordError, match=r"unknown role critic|without a role"):
        add_message(Conversation(), message)
    with pytest.raises(RecordError, match=r"unknown role critic|without a role"):
        spoken(message)


USER: Json = {"role": "user", "content": "Fix it."}
DID: Json = {"role": "assistant", "content": "Done."}
CRITIC: Json = {"role": "critic", "content": "Bad."}


def _atif(messages: Sequence[Json]) -> Json:
    words = {"assistant": "agent"}
    steps = [
        {"source": words.get(str(each["role"]), each["role"]), "message": each["content"]}
        for each in messages
    ]
    return {"schema_version": "ATIF-v1.4", "steps": steps}


SAID: dict[str, Callable[[Sequence[Json]], Json]] = {
    **CHATS,
    "atif": _atif,
    "swe-agent": lambda messages: {
        "history": [{"action": "", "thought": "", **each} for each in messages]
    },
    "mini-swe-agent": lambda messages: {
        "trajectory_format": "mini-swe-agent-1", "info": {}, "messages": messages
    },
}  # fmt: skip


@pytest.mark.parametrize("name", [*SAID, "codex"])
def test_a_stranger_in_any_format(tmp_path: Path, name: str) -> None:
    def log(*messages: Json) -> bytes:
        if name == "codex":
            items = ({"type": "message", **each} for each in messages)
            return lines(*({"type": "response_item", "payload": item} for item in items))
        return lines(SAID[name](messages))

    assert only(readings(tmp_path, log(USER, DID))).source.format == name
    told = refusal(readings(tmp_path, log(USER, DID, CRITIC), format=name))
    assert told.message == "a message of unknown role critic"
    assert told.position


@pytest.mark.parametrize("source", ["environment", "hook"])
def test_what_the_program_says_in_between_is_heard_and_not_said(
    tmp_path: Path, source: str
) -> None:
    spoken_by = (("user", "Fix it."), ("agent", "Done."), (source, "It fails."), ("agent", "Now."))
    new = [
        {"kind": "MessageEvent", "source": who, "llm_message": {"content": text}}
        for who, text in spoken_by
    ]
    old = [
        {"id": number, "source": who, "action": "message", "args": {"content": text}}
        for number, (who, text) in enumerate(spoken_by)
    ]
    for log in (new, old):
        found = only(readings(tmp_path, lines(*log)))
        assert found.steps == (Step("Done.", "It fails."), Step("Now."))


def test_items_of_a_response_have_a_kind_in_place_of_a_role() -> None:
    conversation = Conversation()
    conversation.user("Fix it.")
    call = {"type": "function_call", "name": "look", "arguments": "{}", "call_id": "c"}
    for item in (
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Where?"}]},
        call,
        {"type": "function_call_output", "call_id": "c", "output": "here"},
        {"type": "item_reference", "id": "x"},
    ):
        add_message(conversation, item)
    (step,) = conversation.episode().steps
    assert (step.thought, step.action, step.observation) == ("Where?", "look()", "here")


def test_a_message_of_an_unknown_role_is_a_message_and_not_passed_over() -> None:
    assert is_message({"role": "critic", "content": "x"})
    assert not is_message({"role": "critic"})
    assert not is_message({"content": "x"})


@pytest.mark.parametrize("names", [["langchain", "ChatMessage"], ["langchain", "HumanMessage"]])
def test_a_serialised_message_of_langchain_says_who_speaks(names: list[str]) -> None:
    conversation = Conversation()
    add_message(conversation, {"id": names, "kwargs": {"role": "user", "content": "Fix it."}})
    assert conversation.task == "Fix it."
