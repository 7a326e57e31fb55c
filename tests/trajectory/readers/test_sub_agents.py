"""Whose work a trace is: the root's own calls are the episode, those of sub-agents are told."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from deltamem_tui.trajectory.logs.notice import Notice
from deltamem_tui.trajectory.model import Step, Trajectory
from tests.trajectory.readers.samples import Json, only, readings

ASKED: list[Json] = [{"role": "user", "content": "Write a report."}]
CALL: Json = {
    "role": "assistant",
    "content": "",
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "research", "arguments": "{}"}}
    ],
}
ANSWER: Json = {"role": "tool", "tool_call_id": "c1", "content": "Three facts."}
LAST: Json = {"role": "assistant", "content": "The report."}
HELPER: list[Json] = [{"role": "user", "content": "Find facts."}]
HELPER += [{"role": "assistant", "content": str(n)} for n in range(9)]
STEPS = (Step("research()", "Three facts."), Step("The report."))

Part = tuple[str, str, str, object, object]
"""The name of a part, its caller's, its kind, and what went in and came out."""


def parts(task: str) -> list[Part]:
    return [
        ("root", "", "AGENT", task, LAST["content"]),
        ("m1", "root", "MODEL", ASKED, [CALL]),
        ("tool", "root", "TOOL", {}, ANSWER["content"]),
        ("helper", "tool", "AGENT", "Find facts.", "Three facts."),
        ("m2", "helper", "MODEL", HELPER, [{"role": "assistant", "content": "Three facts."}]),
        ("inner", "helper", "TOOL", {}, "deep"),
        ("m3", "root", "MODEL", [*ASKED, CALL, ANSWER], [LAST]),
    ]


def langfuse(told: list[Part]) -> Json:
    kinds = {"MODEL": "GENERATION"}
    observations = [
        {
            "id": name,
            "traceId": "t",
            "parentObservationId": parent or None,
            "type": kinds.get(kind, kind),
            "name": {"tool": "research"}.get(name, name),
            "startTime": f"2026-01-01T00:00:0{index}Z",
            "input": given,
            "output": answered,
        }
        for index, (name, parent, kind, given, answered) in enumerate(told)
    ]
    return {"trace": {"id": "t", "input": told[0][3]}, "observations": observations}


def otel(told: list[Part]) -> Json:
    def attributes(name: str, kind: str, given: object, answered: object) -> Json:
        if kind == "MODEL":
            told = {"gen_ai.input.messages": given, "gen_ai.output.messages": answered}
            return {key: orjson.dumps(value).decode() for key, value in told.items()}
        facts = {"input.value": given, "output.value": answered, "openinference.span.kind": kind}
        return facts | (
            {"tool.name": "research" if name == "tool" else name} if kind == "TOOL" else {}
        )

    spans = [
        {
            "name": name,
            "context": {"trace_id": "t", "span_id": name},
            "parent_id": parent or None,
            "start_time": f"2026-01-01T00:00:0{index}Z",
            "attributes": attributes(name, kind, given, answered),
        }
        for index, (name, parent, kind, given, answered) in enumerate(told)
    ]
    return {"spans": spans}


def langsmith(told: list[Part]) -> Json:
    kinds = {"MODEL": "llm", "AGENT": "chain", "TOOL": "tool"}
    runs = [
        {
            "id": name,
            "trace_id": "root",
            "parent_run_id": parent or None,
            "run_type": kinds[kind],
            "name": {"tool": "research"}.get(name, name),
            "start_time": f"2026-01-01T00:00:0{index}Z",
            "inputs": {"messages": given} if kind == "MODEL" else {"input": given},
            "outputs": {"messages": answered} if kind == "MODEL" else {"output": answered},
        }
        for index, (name, parent, kind, given, answered) in enumerate(told)
    ]
    return {"runs": runs}


@pytest.mark.parametrize("write", [langfuse, otel, langsmith])
@pytest.mark.parametrize("task", ["Write a report.", ""])
def test_the_roots_own_calls_are_the_episode(tmp_path: Path, write: object, task: str) -> None:
    assert callable(write)
    found, *told = readings(tmp_path, orjson.dumps(write(parts(task))))
    assert isinstance(found, Trajectory)
    assert (found.task, found.steps) == ("Write a report.", STEPS)
    assert ["model call" in each.message for each in told if isinstance(each, Notice)] == [True]


@pytest.mark.parametrize("write", [langfuse, otel, langsmith])
def test_a_conversation_beside_the_episode_is_told(tmp_path: Path, write: object) -> None:
    assert callable(write)
    judge: Part = ("m9", "root", "MODEL", HELPER[:1], [{"role": "assistant", "content": "Good."}])
    told = [each for each in parts("Write a report.") if each[1] in ("", "root")]
    found, notice = readings(tmp_path, orjson.dumps(write([*told, judge])))
    assert isinstance(found, Trajectory)
    assert isinstance(notice, Notice)
    assert found.steps == STEPS
    assert notice.message == "1 model call is left out: of another conversation"


@pytest.mark.parametrize("write", [langfuse, otel])
def test_calls_that_are_given_only_what_is_new(tmp_path: Path, write: object) -> None:
    assert callable(write)
    told = [each for each in parts("Write a report.") if each[1] in ("", "root")]
    told[-1] = ("m3", "root", "MODEL", [CALL, ANSWER], [LAST])
    found = only(readings(tmp_path, orjson.dumps(write(told))))
    assert (found.task, found.steps) == ("Write a report.", STEPS)


def test_tools_that_a_server_calls_spans(tmp_path: Path) -> None:
    log = langfuse([each for each in parts("Write a report.") if each[1] in ("", "root")][:3])
    observations = log["observations"]
    assert isinstance(observations, list)
    about = {"gen_ai.tool.name": "research", "gen_ai.tool.call.id": "c1"}
    observations[2] |= {"type": "SPAN", "name": "execute", "metadata": {"attributes": about}}
    found = only(readings(tmp_path, orjson.dumps(log)))
    assert found.steps[0] == STEPS[0]


@pytest.mark.parametrize("given", ["system: Be kind.\nuser: Say hi.", {"contents": "Say hi."}])
def test_a_model_that_is_asked_in_one_text(tmp_path: Path, given: object) -> None:
    told: list[Part] = [
        ("root", "", "AGENT", "Say hi.", "Hi!"),
        ("m", "root", "MODEL", given, "Hi!"),
    ]
    found = only(readings(tmp_path, orjson.dumps(langfuse(told))))
    assert (found.task, found.steps) == ("Say hi.", (Step("Hi!"),))
