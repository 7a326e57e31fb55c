"""Small logs of coding agents and tracing tools, written for these tests, one or more a format."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from pathlib import Path

import orjson

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers import read_logs
from deltamem_tui.trajectory.readers.reader import Reading

Json = dict[str, object]


def lines(*records: object) -> bytes:
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


def pretty(record: object) -> bytes:
    return orjson.dumps(record, option=orjson.OPT_INDENT_2)


def archive(members: dict[str, object], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as file:
        for name, value in members.items():
            file.writestr(name, orjson.dumps(value))
    return packed.getvalue()


def readings(tmp_path: Path, content: bytes, name: str = "log.json") -> list[Reading]:
    path = tmp_path / name
    path.write_bytes(content)
    return list(read_logs([path]))


def episode(tmp_path: Path, content: bytes, name: str = "log.json") -> Trajectory:
    (found,) = readings(tmp_path, content, name)
    assert isinstance(found, Trajectory), str(found)
    return found


def episodes(found: Iterable[Reading]) -> list[Trajectory]:
    return [item for item in found if isinstance(item, Trajectory)]


def refusals(found: Iterable[Reading]) -> list[RecordError]:
    return [item for item in found if isinstance(item, RecordError)]


SWE_AGENT: Json = {
    "environment": "main",
    "trajectory": [
        {
            "action": "ls\n",
            "observation": "parser.py\r\n",
            "response": "DISCUSSION\nLook first.\n```\nls\n```",
            "thought": "Look first.",
            "state": '{"working_dir": "/home/ada/calc"}',
        },
        {"action": "", "observation": "no command found", "response": "I am lost.", "thought": ""},
        {"action": "submit", "observation": "", "response": "submit", "thought": ""},
    ],
    "history": [
        {"role": "system", "content": "You are a programmer."},
        {"role": "user", "content": "A demonstration of another issue.", "is_demo": True},
        {"role": "user", "content": [{"type": "text", "text": "Fix the parser."}]},
    ],
    "info": {"exit_status": "submitted", "submission": "diff"},
    "replay_config": orjson.dumps(
        {
            "env": {"repo": {"github_url": "https://ada:pw@example.org/ada/calc.git"}},
            "agent": {"model": {"name": "some-model"}},
            "problem_statement": {"id": "ada__calc-7"},
        }
    ).decode(),
}

MINI: Json = {
    "trajectory_format": "mini-swe-agent-1",
    "instance_id": "ada__calc-7",
    "info": {
        "exit_status": "Submitted",
        "submission": "diff",
        "config": {"model": {"model_name": "some-model"}, "environment": {"cwd": "/testbed"}},
    },
    "messages": [
        {"role": "system", "content": "One bash block each time."},
        {"role": "user", "content": "Solve it.\n```bash\nexample\n```"},
        {"role": "assistant", "content": "THOUGHT: Look first.\n\n```bash\nls -la\n```"},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>\na.py\n</output>"},
        {"role": "assistant", "content": "I forgot the block."},
        {"role": "user", "content": "Give exactly one action."},
        {
            "role": "assistant",
            "content": "Done.",
            "tool_calls": [
                {"id": "c1", "function": {"name": "bash", "arguments": '{"command": "git diff"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "+x"},
        {"role": "exit", "content": "the patch again"},
    ],
}
MINI_BARE = [
    {"role": "system", "content": "Use ```mswea_bash_command blocks."},
    {"role": "user", "content": "Solve it."},
    {"role": "assistant", "content": "Look.\n```mswea_bash_command\nls\n```"},
    {"role": "user", "content": "<returncode>0</returncode>"},
]

OPENHANDS_EVENTS: list[Json] = [
    {
        "id": 0,
        "source": "agent",
        "action": "system",
        "args": {"content": "You are an agent.", "tools": [{"function": {"name": "execute_bash"}}]},
    },
    {"id": 1, "source": "user", "action": "message", "args": {"content": "Fix the parser."}},
    {"id": 2, "source": "user", "action": "recall", "args": {"query": "Fix the parser."}},
    {"id": 3, "source": "environment", "observation": "recall", "cause": 2, "content": "x"},
    {
        "id": 4,
        "source": "agent",
        "action": "run",
        "args": {"command": "ls", "thought": "Look first.", "is_input": False},
    },
    {
        "id": 5,
        "source": "agent",
        "action": "read",
        "args": {"path": "/w/b.py", "thought": "", "start": 0, "end": -1, "view_range": None},
    },
    {"id": 6, "source": "agent", "observation": "read", "cause": 5, "content": "x = 1"},
    {
        "id": 7,
        "source": "agent",
        "observation": "run",
        "cause": 4,
        "content": "a.py",
        "extras": {"metadata": {"working_dir": "/w"}},
    },
    {"id": 8, "source": "environment", "observation": "agent_state_changed", "content": ""},
    {"id": 9, "source": "agent", "action": "think", "args": {"thought": "It is the minus."}},
    {"id": 10, "source": "agent", "observation": "think", "cause": 9, "content": "logged"},
    {"id": 11, "source": "agent", "action": "finish", "args": {"final_thought": "Fixed."}},
]
OPENHANDS_RUN: Json = {
    "instance_id": "ada__calc-7",
    "instruction": "Fix the parser.",
    "history": OPENHANDS_EVENTS,
    "instance": {"repo": "ada/calc", "language": "c"},
    "metadata": {"llm_config": {"model": "some-model"}},
    "error": None,
}
OPENHANDS_OLDEST: Json = {
    "issue": {"owner": "ada", "repo": "calc", "number": 7},
    "instruction": "Fix the parser.",
    "history": [
        {"action": "message", "content": "Fix the parser.", "action_risk": None},
        {"action": "run", "command": "ls", "thought": "Look.", "action_risk": None},
        {"observation": "run", "content": "a.py", "exit_code": 0},
    ],
    "success": True,
    "result_explanation": "It looks solved.",
    "error": None,
}

OPENHANDS_SDK: list[Json] = [
    {"kind": "SystemPromptEvent", "tools": [{"title": "terminal"}, {"title": "think"}]},
    {"kind": "ConversationStateUpdateEvent", "key": "full_state", "value": {}},
    {
        "kind": "MessageEvent",
        "source": "user",
        "llm_message": {
            "role": "user",
            "content": [
                {"type": "text", "text": "Fix the parser."},
                {"type": "image", "image_urls": ["data:image/png;base64,AAAA"]},
            ],
        },
    },
    {
        "kind": "ActionEvent",
        "id": "a1",
        "thought": [{"type": "text", "text": "Look first."}],
        "tool_name": "terminal",
        "action": {"kind": "ExecuteBashAction", "command": "ls", "is_input": False},
    },
    {
        "kind": "ActionEvent",
        "id": "a2",
        "thought": [],
        "tool_name": "file_editor",
        "action": None,
        "tool_call": {"name": "file_editor", "arguments": '{"path": "a.py"}'},
    },
    {
        "kind": "ObservationEvent",
        "action_id": "a1",
        "tool_name": "terminal",
        "observation": {"kind": "O", "content": [{"type": "text", "text": "a.py"}]},
    },
    {"kind": "AgentErrorEvent", "tool_name": "file_editor", "error": "no command given"},
    {
        "kind": "ActionEvent",
        "id": "a3",
        "tool_name": "think",
        "action": {"kind": "ThinkAction", "thought": "It is the minus."},
    },
    {"kind": "ObservationEvent", "action_id": "a3", "tool_name": "think", "observation": {}},
    {
        "kind": "MessageEvent",
        "source": "agent",
        "llm_message": {"role": "assistant", "content": [{"type": "text", "text": "Fixed."}]},
    },
]


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


CLAUDE_CODE: list[Json] = [
    {"type": "summary", "summary": "Parser fixed", "leafUuid": "u9"},
    {"type": "file-history-snapshot", "messageId": "m0", "snapshot": {}},
    claude_line("user", "Caveat: The messages below were generated by the user while running "
                "local commands. DO NOT respond."),
    claude_line("user", "<command-name>/clear</command-name><command-args></command-args>"),
    claude_line("user", [{"type": "text", "text": "Be careful in this folder."}], isMeta=True),
    claude_line(
        "user",
        [
            {"type": "text", "text": "<ide_opened_file>open: a.py</ide_opened_file>"},
            {"type": "text", "text": "Fix the parser.<system-reminder>x</system-reminder>"},
            {"type": "image", "source": {"type": "base64", "data": "AAAA"}},
        ],
        uuid="u1",
    ),
    claude_line("user", "Fix the parser.", uuid="u1"),
    claude_line("assistant", [{"type": "thinking", "thinking": "Where?", "signature": "x"}]),
    claude_line("assistant", [{"type": "text", "text": "Look first."}]),
    claude_line(
        "assistant",
        [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}],
    ),
    claude_line(
        "assistant",
        [{"type": "tool_use", "id": "t2", "name": "Read", "input": {"file_path": "a.py"}}],
    ),
    claude_line("user", "Do a sub-task.", isSidechain=True),
    claude_line("assistant", [{"type": "text", "text": "Sub-task done."}], isSidechain=True),
    claude_line(
        "user",
        [{"type": "tool_result", "tool_use_id": "t2",
          "content": [{"type": "text", "text": "x = 1"},
                      {"type": "text", "text": "<system-reminder>todo</system-reminder>"}]}],
    ),
    claude_line("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}]),
    claude_line("user", "This session is being continued from a previous conversation.",
                isCompactSummary=True),
    claude_line("assistant", [{"type": "text", "text": "API Error"}], isApiErrorMessage=True),
    claude_line("assistant", [{"type": "text", "text": "Fixed."}]),
    claude_line("user", "Thanks, and the tests?"),
    {"type": "system", "subtype": "turn_duration", "uuid": "u8", "sessionId": "s1"},
]  # fmt: skip


def codex_item(**payload: object) -> Json:
    return {"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": payload}


def codex_event(**payload: object) -> Json:
    return {"timestamp": "2026-01-01T00:00:00Z", "type": "event_msg", "payload": payload}


CODEX: list[Json] = [
    {
        "timestamp": "2026-01-01T00:00:00Z",
        "type": "session_meta",
        "payload": {
            "id": "s1",
            "cwd": "/home/ada/calc",
            "git": {"repository_url": "git@example.org:ada/calc.git"},
        },
    },
    codex_item(
        type="message",
        role="user",
        content=[
            {
                "type": "input_text",
                "text": "<environment_context>\n<cwd>/home/ada/calc</cwd>\n"
                "<operating_system>linux</operating_system>\n</environment_context>",
            }
        ],
    ),
    codex_item(
        type="message",
        role="user",
        content=[{"type": "input_text", "text": "# AGENTS.md instructions for /home/ada\nx"}],
    ),
    codex_item(
        type="message", role="user", content=[{"type": "input_text", "text": "Fix the parser."}]
    ),
    codex_event(type="user_message", message="Fix the parser."),
    {"timestamp": "x", "type": "turn_context", "payload": {"model": "some-model"}},
    codex_event(type="agent_reasoning", text="Look first."),
    codex_item(
        type="reasoning",
        summary=[{"type": "summary_text", "text": "Look first."}],
        encrypted_content="gAAAA",
    ),
    codex_item(
        type="function_call",
        name="shell",
        arguments='{"command": ["bash", "-lc", "ls"], "workdir": "/home/ada"}',
        call_id="c1",
    ),
    codex_item(type="function_call", name="update_plan", arguments="{}", call_id="c2"),
    codex_item(type="function_call_output", call_id="c2", output="Plan updated"),
    codex_item(
        type="function_call_output",
        call_id="c1",
        output='{"output": "no such file\\n", "metadata": {"exit_code": 2}}',
    ),
    codex_item(type="custom_tool_call", name="apply_patch", input="*** Begin\n+x", call_id="c3"),
    codex_item(type="custom_tool_call_output", call_id="c3", output="Success"),
    codex_event(type="agent_message", message="Fixed."),
    codex_item(
        type="message", role="assistant", content=[{"type": "output_text", "text": "Fixed."}]
    ),
]

OPENCLAW: list[Json] = [
    {"type": "session", "id": "s1", "version": 3, "cwd": "/home/ada/calc"},
    {"type": "model_change", "id": "m0", "modelId": "some-model"},
    {
        "type": "message",
        "id": "m1",
        "message": {"role": "user", "content": [{"type": "text", "text": "Fix the parser."}]},
    },
    {
        "type": "message",
        "id": "m2",
        "parentId": "m1",
        "message": {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Look first."},
                {"type": "toolCall", "id": "t1", "name": "exec", "arguments": {"command": "ls"}},
                {"type": "toolCall", "id": "t2", "name": "read", "arguments": {"path": "a.py"}},
            ],
        },
    },
    {
        "type": "message",
        "id": "m3",
        "message": {
            "role": "toolResult",
            "toolCallId": "t2",
            "content": [{"type": "text", "text": "x = 1"}],
        },
    },
    {
        "type": "message",
        "id": "m4",
        "message": {
            "role": "toolResult",
            "toolCallId": "t1",
            "content": [{"type": "text", "text": "a.py"}, {"type": "image", "data": "AAAA"}],
        },
    },
    {
        "type": "message",
        "id": "m5",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "Fixed."}]},
    },
]

GEMINI: Json = {
    "sessionId": "s1",
    "projectHash": "0" * 8,
    "messages": [
        {"id": "1", "type": "info", "content": "Welcome."},
        {"id": "2", "type": "user", "content": [{"text": "Fix the parser."}]},
        {
            "id": "3",
            "type": "gemini",
            "content": "Looking.",
            "model": "some-model",
            "thoughts": [{"subject": "Search", "description": "Look first."}],
            "toolCalls": [
                {
                    "id": "c1",
                    "name": "run_shell_command",
                    "args": {"command": "ls"},
                    "status": "success",
                    "result": [{"functionResponse": {"response": {"output": "a.py"}}}],
                },
                {"id": "c2", "name": "read_file", "args": {"path": "b.py"}, "status": "error"},
            ],
        },
        {"id": "4", "type": "gemini", "content": "Fixed."},
    ],
}

ATIF: Json = {
    "schema_version": "ATIF-v1.5",
    "session_id": "s1",
    "agent": {
        "name": "some-agent",
        "model_name": "some-model",
        "tool_definitions": [{"type": "function", "function": {"name": "bash"}}],
    },
    "steps": [
        {"step_id": 1, "source": "system", "message": "You are an agent."},
        {"step_id": 2, "source": "user", "message": "Fix the parser."},
        {"step_id": 3, "source": "agent", "message": "Copied.", "is_copied_context": True},
        {
            "step_id": 4,
            "source": "agent",
            "message": "I look at both.",
            "reasoning_content": "Look first.",
            "tool_calls": [
                {"tool_call_id": "c1", "function_name": "bash", "arguments": {"command": "ls"}},
                {"tool_call_id": "c2", "function_name": "read", "arguments": {"path": "a.py"}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "c2", "content": "x = 1"},
                    {"source_call_id": "c1", "content": [{"type": "text", "text": "a.py"}]},
                    {"subagent_trajectory_ref": [{"session_id": "other"}]},
                ]
            },
        },
        {"step_id": 5, "source": "system", "message": "Reminder: hurry."},
        {"step_id": 6, "source": "agent", "message": "Fixed."},
    ],
}

INSPECT: Json = {
    "version": 2,
    "status": "success",
    "eval": {"task": "calc", "model": "some/model"},
    "samples": [
        {
            "id": "calc-7",
            "epoch": epoch,
            "input": "attachment://" + "a" * 32,
            "attachments": {"a" * 32: "Fix the parser."},
            "messages": [
                {"role": "system", "content": "Answer briefly."},
                {"role": "user", "content": "attachment://" + "a" * 32, "source": "input"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "reasoning", "reasoning": "Look first.", "text": "Look first."},
                        {"type": "text", "text": ""},
                    ],
                    "tool_calls": [{"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}}],
                },
                {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
                {"role": "assistant", "content": "Fixed."},
            ],
            "scores": {"match": {"value": value, "explanation": "compared"}},
        }
        for epoch, value in ((1, "C"), (2, "I"))
    ],
}
INSPECT_ARCHIVE: dict[str, object] = {
    "header.json": {"status": "success", "eval": INSPECT["eval"]},
    "summaries.json": [],
    **{
        f"samples/calc-7_epoch_{number}.json": sample
        for number, sample in ((10, INSPECT["samples"][1]), (2, INSPECT["samples"][0]))  # type: ignore[index]
    },
}

_ASKED: list[Json] = [
    {"role": "system", "content": "Answer briefly."},
    {"role": "user", "content": "Fix the parser."},
]
_CALLED: Json = {
    "role": "assistant",
    "content": "Look first.",
    "tool_calls": [{"id": "c1", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}],
}
_ANSWERED: Json = {"role": "tool", "tool_call_id": "c1", "content": "a.py"}

LANGFUSE: Json = {
    "trace": {
        "id": "t1",
        "name": "fix",
        "input": orjson.dumps(
            orjson.dumps({"messages": [{"type": "human", "content": "Fix the parser."}]}).decode()
        ).decode(),
        "scores": [
            {"name": "toxicity", "value": 0, "dataType": "NUMERIC", "source": "EVAL"},
            {
                "name": "Correctness",
                "value": 1,
                "dataType": "BOOLEAN",
                "source": "EVAL",
                "comment": "tests pass",
            },
        ],
    },
    "observations": [
        {
            "id": "o3",
            "type": "GENERATION",
            "startTime": "2026-01-01T00:00:03Z",
            "model": "some-model",
            "input": [
                *_ASKED,
                _CALLED,
                _ANSWERED,
                {"role": "tool", "content": {"type": "function", "function": {"name": "bash"}}},
            ],
            "output": {"role": "assistant", "content": "Fixed."},
        },
        {"id": "o0", "type": "SPAN", "startTime": "2026-01-01T00:00:00Z", "input": None},
        {
            "id": "o1",
            "type": "GENERATION",
            "startTime": "2026-01-01T00:00:01Z",
            "input": _ASKED,
            "output": _CALLED,
        },
    ],
}

LANGSMITH: list[Json] = [
    {
        "id": "r2",
        "trace_id": "r1",
        "parent_run_id": "r1",
        "dotted_order": "20260101Zr1.20260102Zr2",
        "run_type": "llm",
        "name": "ChatModel",
        "extra": {"metadata": {"ls_model_name": "some-model"}},
        "inputs": {
            "messages": [
                [
                    {
                        "lc": 1,
                        "type": "constructor",
                        "id": ["langchain", "schema", "messages", "HumanMessage"],
                        "kwargs": {"content": "Fix the parser."},
                    },
                    {
                        "lc": 1,
                        "type": "constructor",
                        "id": ["langchain", "schema", "messages", "AIMessage"],
                        "kwargs": {
                            "content": "",
                            "tool_calls": [{"name": "bash", "args": {"command": "ls"}, "id": "c1"}],
                        },
                    },
                    {
                        "lc": 1,
                        "type": "constructor",
                        "id": ["langchain", "schema", "messages", "ToolMessage"],
                        "kwargs": {"content": "a.py", "tool_call_id": "c1"},
                    },
                ]
            ]
        },
        "outputs": {
            "generations": [[{"text": "Fixed.", "message": {"type": "ai", "content": "Fixed."}}]]
        },
    },
    {
        "id": "r1",
        "trace_id": "r1",
        "dotted_order": "20260101Zr1",
        "run_type": "chain",
        "name": "agent",
        "inputs": {"input": "Fix the parser."},
        "outputs": {"output": "Fixed."},
        "feedback_stats": {"correctness": {"n": 2, "avg": 0.5}, "helpfulness": {"avg": 1.0}},
    },
]


def _openinference(messages: list[Json], side: str) -> Json:
    flat: Json = {}
    for index, message in enumerate(messages):
        prefix = f"llm.{side}_messages.{index}.message"
        flat[f"{prefix}.role"] = message["role"]
        if message.get("content"):
            flat[f"{prefix}.content"] = message["content"]
        if "tool_call_id" in message:
            flat[f"{prefix}.tool_call_id"] = message["tool_call_id"]
        calls: list[Json] = message.get("tool_calls", [])  # type: ignore[assignment]
        for number, call in enumerate(calls):
            inner = f"{prefix}.tool_calls.{number}.tool_call"
            flat[f"{inner}.id"] = call["id"]
            flat[f"{inner}.function.name"] = call["function"]["name"]  # type: ignore[index]
            flat[f"{inner}.function.arguments"] = call["function"]["arguments"]  # type: ignore[index]
    return flat


# Twelve messages, so that an order of names as text would put the tenth before the second.
LONG_TALK: list[Json] = list(_ASKED)
for _number in range(5):
    _look: Json = {"name": "look", "arguments": f'{{"n": {_number}}}'}
    _id = f"c{_number}"
    LONG_TALK.append({"role": "assistant", "tool_calls": [{"id": _id, "function": _look}]})
    LONG_TALK.append({"role": "tool", "tool_call_id": _id, "content": f"seen {_number}"})
OPENINFERENCE: list[Json] = [
    {
        "name": "chat",
        "context": {"trace_id": "t1", "span_id": "s2"},
        "parent_id": "s1",
        "span_kind": "LLM",
        "start_time": "2026-01-01T00:00:02Z",
        "attributes": {
            **dict(sorted(_openinference(LONG_TALK, "input").items())),
            **_openinference([{"role": "assistant", "content": "Fixed."}], "output"),
            "llm.model_name": "some-model",
        },
    },
    {
        "name": "turn",
        "context": {"trace_id": "t1", "span_id": "s1"},
        "parent_id": None,
        "span_kind": "AGENT",
        "start_time": "2026-01-01T00:00:01Z",
        "attributes": {"input.value": "Fix the parser."},
        "annotations": [
            {"name": "correctness", "annotator_kind": "HUMAN", "result": {"label": "correct"}}
        ],
    },
]


def otlp_attributes(values: Json) -> list[Json]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]


OTLP: Json = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {
                    "spans": [
                        {
                            "traceId": "t1",
                            "spanId": "s1",
                            "name": "chat",
                            "startTimeUnixNano": "1",
                            "attributes": otlp_attributes(
                                {
                                    "gen_ai.response.model": "some-model",
                                    "gen_ai.system_instructions": orjson.dumps(
                                        [{"type": "text", "content": "Answer briefly."}]
                                    ).decode(),
                                    "gen_ai.input.messages": orjson.dumps(
                                        [
                                            {
                                                "role": "user",
                                                "parts": [
                                                    {"type": "text", "content": "Fix the parser."}
                                                ],
                                            },
                                            {
                                                "role": "assistant",
                                                "parts": [
                                                    {"type": "reasoning", "content": "Look first."},
                                                    {
                                                        "type": "tool_call",
                                                        "id": "c1",
                                                        "name": "bash",
                                                        "arguments": {"command": "ls"},
                                                    },
                                                ],
                                            },
                                            {
                                                "role": "tool",
                                                "parts": [
                                                    {
                                                        "type": "tool_call_response",
                                                        "id": "c1",
                                                        "response": "a.py",
                                                    }
                                                ],
                                            },
                                        ]
                                    ).decode(),
                                    "gen_ai.output.messages": orjson.dumps(
                                        [
                                            {
                                                "role": "assistant",
                                                "parts": [{"type": "text", "content": "Fixed."}],
                                            }
                                        ]
                                    ).decode(),
                                }
                            ),
                            "events": [
                                {
                                    "name": "gen_ai.evaluation.result",
                                    "attributes": [
                                        {
                                            "key": "gen_ai.evaluation.name",
                                            "value": {"stringValue": "Correctness"},
                                        },
                                        {
                                            "key": "gen_ai.evaluation.score.value",
                                            "value": {"doubleValue": 0.25},
                                        },
                                    ],
                                }
                            ],
                        }
                    ]
                }
            ]
        }
    ]
}

LETTA: Json = {
    "agents": [
        {
            "name": "Aid",
            "agent_type": "letta_v1_agent",
            "llm_config": {"model": "some-model"},
            "tool_ids": ["tool-0"],
            "messages": [
                {"role": "system", "content": "You are Aid."},
                {"role": "user", "content": [{"type": "text", "text": '{"type": "login"}'}]},
                {"role": "user", "content": '{"type": "user_message", "message": "Fix it."}'},
                {
                    "role": "assistant",
                    "content": [],
                    "tool_calls": [
                        {
                            "id": "c1",
                            "function": {"name": "send_message", "arguments": '{"message": "Ok"}'},
                        }
                    ],
                },
                {"role": "tool", "tool_call_id": "c1", "content": '{"status": "OK"}'},
            ],
        },
        {"name": "New", "agent_type": "letta_v1_agent", "llm_config": {}, "messages": []},
    ],
    "tools": [{"id": "tool-0", "name": "send_message"}, {"id": "tool-1", "name": "other"}],
}

SPECSTORY = """<!-- Generated by SpecStory, Markdown v2.1.0 -->

# 2026-01-01 00:00:00Z

<!-- Claude Code Session 0000-s1 (2026-01-01 00:00:00Z) -->

_**User (2026-01-01 00:00:00Z)**_

<command-name>/clear</command-name>

_**User (2026-01-01 00:00:01Z)**_

Fix the parser.

---

And quickly.

---

_**Agent (some-model 2026-01-01 00:00:02Z)**_

<think><details><summary>Thought Process</summary>
Look first.
</details></think>

_**Agent (some-model 2026-01-01 00:00:03Z)**_

<tool-use data-tool-type="shell" data-tool-name="Bash"><details>
<summary>Tool use: **Bash**</summary>
List the files

`ls`

```text
a.py
```
</details></tool-use>

_**Agent (some-model 2026-01-01 00:00:04Z)**_

<tool-use data-tool-type="read" data-tool-name="Read"><details>
<summary>Tool use: **Read**</summary>
 `a.py`

```text
1→</details></tool-use>
```
2→_**User**_ is not a turn
```
</details></tool-use>

Fixed.

---

_**User (2026-01-01 00:00:05Z)**_

Thanks.
"""

# A ~ stands for the two spaces with which the program ends its lines.
AIDER = """
# aider chat started at 2026-01-01 00:00:00

> aider --model some-model~
> Aider v0.50.0~
> Model: some-model with diff edit format~
> Added a.py to the chat.~

#### /drop b.py~

> Dropped b.py~

#### Fix the parser.~
#### Quickly.~

I change the sign.

#### A heading of mine
> and a quotation

a.py
```
<<<<<<< SEARCH
-x
```

> Tokens: 1k sent, 1k received.~
> Applied edit to a.py~

#### /ask and the tests?~

They pass.

# aider chat started at 2026-01-02 00:00:00

> Aider v0.50.0~
""".replace("~", "  ")

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
