"""Parts of messages as each provider writes them: calls, results, and files that are no text."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.trajectory.model import Step
from deltamem_tui.trajectory.readers.messages import content_text
from tests.trajectory.readers.log_files import Json, episode, lines
from tests.trajectory.readers.test_branches import claude

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
