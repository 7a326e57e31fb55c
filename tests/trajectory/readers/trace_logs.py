"""Small logs of evaluations, and traces of what called what."""

from __future__ import annotations

import orjson

from tests.trajectory.readers.samples import Json

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
