"""Small logs of coding agents and tracing tools, written for these tests, one or more a format."""

from __future__ import annotations

from tests.trajectory.readers.issue_logs import (
    ATIF,
    MINI,
    MINI_BARE,
    OPENHANDS_EVENTS,
    OPENHANDS_OLDEST,
    OPENHANDS_RUN,
    OPENHANDS_SDK,
    SWE_AGENT,
)
from tests.trajectory.readers.markdown_logs import AIDER, SPECSTORY
from tests.trajectory.readers.samples import archive, lines, pretty
from tests.trajectory.readers.session_logs import CLAUDE_CODE, CODEX, GEMINI, LETTA, OPENCLAW
from tests.trajectory.readers.trace_logs import (
    INSPECT,
    INSPECT_ARCHIVE,
    LANGFUSE,
    LANGSMITH,
    OPENINFERENCE,
    OTLP,
)

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
