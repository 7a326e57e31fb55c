"""Small logs of sessions of agents that work for a person at a terminal."""

from __future__ import annotations

from tests.trajectory.readers.samples import Json, record, records


def claude_line(kind: str, content: object, **extra: object) -> Json:
    message: Json = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": "msg_1", "model": "some-model"}
    return {
        "type": kind,
        "sessionId": "s1",
        "cwd": "/Users/ada/calc",
        "message": message,
        "isSidechain": False,
        **extra,
    }


CLAUDE_CODE: list[Json] = records("claude_code")  # fmt: skip


def codex_item(**payload: object) -> Json:
    return {"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": payload}


def codex_event(**payload: object) -> Json:
    return {"timestamp": "2026-01-01T00:00:00Z", "type": "event_msg", "payload": payload}


CODEX: list[Json] = records("codex")

OPENCLAW: list[Json] = records("openclaw")

GEMINI: Json = record("gemini")

LETTA: Json = record("letta")
