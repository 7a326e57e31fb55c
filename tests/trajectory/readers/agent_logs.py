"""Small logs of agents and of tools that trace them, a file each, and what writes their lines."""

from __future__ import annotations

from tests.trajectory.readers.samples import (
    Json,
    archive,
    lines,
    pretty,
    record,
    records,
    sample_log,
)

SWE_AGENT: Json = record("swe_agent")

MINI: Json = record("mini")

MINI_BARE = records("mini_bare")

OPENHANDS_EVENTS: list[Json] = records("openhands_events")

OPENHANDS_RUN: Json = record("openhands_run")

OPENHANDS_OLDEST: Json = record("openhands_oldest")

OPENHANDS_SDK: list[Json] = records("openhands_sdk")

ATIF: Json = record("atif")


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


INSPECT: Json = record("inspect")

INSPECT_ARCHIVE: dict[str, object] = record("inspect_archive")

_ASKED: list[Json] = [
    {"role": "system", "content": "Answer briefly."},
    {"role": "user", "content": "Fix the parser."},
]

_CALLED: Json = {
    "role": "assistant",
    "content": "Look first.",
    "tool_calls": [{"id": "c1", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}],
}


LANGFUSE: Json = record("langfuse")

LANGSMITH: list[Json] = records("langsmith")


# Twelve messages, so that an order of names as text would put the tenth before the second.
LONG_TALK: list[Json] = list(_ASKED)

for _number in range(5):
    _look: Json = {"name": "look", "arguments": f'{{"n": {_number}}}'}
    _id = f"c{_number}"
    LONG_TALK.append({"role": "assistant", "tool_calls": [{"id": _id, "function": _look}]})
    LONG_TALK.append({"role": "tool", "tool_call_id": _id, "content": f"seen {_number}"})

OPENINFERENCE: list[Json] = records("openinference")


def otlp_attributes(values: Json) -> list[Json]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]


OTLP: Json = record("otlp")


SPECSTORY = sample_log("specstory.txt").decode()

# A ~ stands for the two spaces with which the program ends its lines.
AIDER = sample_log("aider.txt").decode()


SAMPLES: dict[str, list[tuple[str, bytes]]] = {
    "swe-agent": [("run.traj", pretty(SWE_AGENT))],
    "mini-swe-agent": [("x.traj.json", pretty(MINI)), ("y.traj.json", pretty(MINI_BARE))],
    "openhands": [
        ("output.jsonl", lines(OPENHANDS_RUN)),
        ("oldest.jsonl", lines(OPENHANDS_OLDEST)),
        ("events.json", pretty(OPENHANDS_EVENTS)),
        ("events.jsonl", lines(*OPENHANDS_EVENTS)),
    ],
    "openhands-sdk": [
        ("events.json", pretty(OPENHANDS_SDK)),
        ("events.jsonl", lines(*OPENHANDS_SDK)),
    ],
    "claude-code": [("session.jsonl", lines(*CLAUDE_CODE))],
    "codex": [("rollout.jsonl", lines(*CODEX))],
    "openclaw": [("session.jsonl", lines(*OPENCLAW))],
    "gemini-cli": [
        ("session.json", pretty(GEMINI)),
        (
            "session.jsonl",
            lines({"sessionId": "s1", "projectHash": "0"}, *GEMINI["messages"]),  # type: ignore[misc]
        ),
    ],
    "specstory": [("chat.md", SPECSTORY.encode())],
    "aider": [(".aider.chat.history.md", AIDER.encode())],
    "atif": [("trajectory.json", pretty(ATIF)), ("trajectory.jsonl", lines(ATIF, ATIF))],
    "inspect-ai": [("log.json", pretty(INSPECT)), ("log.eval", archive(INSPECT_ARCHIVE))],
    "langfuse": [("trace.json", pretty(LANGFUSE)), ("traces.json", pretty([LANGFUSE]))],
    "langsmith": [("runs.json", pretty(LANGSMITH)), ("runs.jsonl", lines(*LANGSMITH))],
    "otel": [
        ("spans.json", pretty(OPENINFERENCE)),
        ("spans.jsonl", lines(*OPENINFERENCE)),
        ("otlp.json", lines(OTLP)),
    ],
    "letta": [("agent.af", pretty(LETTA))],
}

"""Samples by the name of the format that reads them, each with a file name."""
