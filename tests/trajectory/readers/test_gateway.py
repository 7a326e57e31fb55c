"""Requests and responses: the calls of one conversation are one episode, its actions answered."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from deltamem_tui.trajectory.model import Step, Trajectory
from tests.trajectory.readers.samples import Json, lines, only, readings

ASKED: list[Json] = [
    {"role": "system", "content": "You are a shell."},
    {"role": "user", "content": "Count the files."},
]
LS = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command":"ls"}'}}
FIRST: Json = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"index": 0, **LS}],
    "reasoning_content": "Look first.",
    "refusal": None,
}
REPEATED: list[Json] = [
    *ASKED,
    {"role": "assistant", "content": "", "tool_calls": [LS]},
    {"role": "tool", "tool_call_id": "c1", "content": "a.py b.py"},
]
LAST: Json = {"role": "assistant", "content": "Two.", "annotations": []}
STEPS = (Step("ls", "a.py b.py", "Look first."), Step("Two."))


def choices(message: Json) -> Json:
    return {"id": "chatcmpl-1", "model": "model-a", "choices": [{"index": 0, "message": message}]}


def litellm(asked: list[Json], answer: Json) -> Json:
    about = {"id": str(len(asked)), "call_type": "acompletion", "status": "success"}
    return {**about, "model": "model-a", "messages": asked, "response": choices(answer)}


def proxied(asked: list[Json], answer: Json) -> Json:
    request = {"method": "POST", "body": {"model": "model-a", "messages": asked}}
    return {"request": request, "response": {"status": 200, "body": choices(answer)}}


def written(asked: list[Json], answer: Json) -> Json:
    request = orjson.dumps({"model": "model-a", "messages": asked}).decode()
    return {"request_body": request, "response_body": orjson.dumps(choices(answer)).decode()}


@pytest.mark.parametrize("logged", [litellm, proxied, written])
def test_calls_of_one_conversation_are_one_episode(tmp_path: Path, logged: object) -> None:
    assert callable(logged)
    log = lines(logged(ASKED, FIRST), logged(REPEATED, LAST))
    found = only(readings(tmp_path, log, "log.jsonl"))
    assert (found.task, found.environment) == ("Count the files.", "You are a shell.")
    assert (found.steps, found.agent, found.source.format) == (STEPS, "model-a", "gateway")
    assert not found.outcome.known


def test_calls_that_stand_mixed_are_told_apart(tmp_path: Path) -> None:
    other: list[Json] = [{"role": "user", "content": "Say hi."}]
    log = lines(litellm(ASKED, FIRST), litellm(other, LAST), litellm(REPEATED, LAST))
    found = readings(tmp_path, log, "log.jsonl")
    assert [each.task for each in found if isinstance(each, Trajectory)] == [
        "Count the files.",
        "Say hi.",
    ]


def test_other_providers(tmp_path: Path) -> None:
    use = {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}}
    anthropic = {
        "request": {"model": "m", "system": "A shell.", "messages": [ASKED[1]]},
        "response": {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "Look."}, use],
        },
    }
    gemini = {
        "request": {"contents": [{"role": "user", "parts": [{"text": "Count the files."}]}]},
        "response": {
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [{"functionCall": {"name": "ls", "args": {}}}],
                    }
                }
            ]
        },
    }
    responses = {
        "request": {"model": "m", "instructions": "A shell.", "input": "Count the files."},
        "response": {
            "output": [
                {
                    "type": "function_call",
                    "call_id": "c",
                    "name": "bash",
                    "arguments": '{"command":"ls"}',
                }
            ]
        },
    }
    expected = (
        (anthropic, Step("ls", "", "Look.")),
        (gemini, Step("ls()")),
        (responses, Step("ls")),
    )
    for record, step in expected:
        found = only(readings(tmp_path, orjson.dumps(record)))
        assert (found.task, found.steps) == ("Count the files.", (step,))
        assert found.environment == ("" if record is gemini else "A shell.")
