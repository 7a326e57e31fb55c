"""What tools answer: errors that say so, and answers to calls that the log does not hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from deltamem_tui.trajectory.model import Step, Trajectory
from tests.trajectory.readers.samples import Json, episodes, lines, notices, readings, refusals
from tests.trajectory.readers.test_branches import HEADER, claude, openclaw, use
from tests.trajectory.readers.writers import CHATS

CHAT_CALL = {
    "id": "c",
    "type": "function",
    "function": {"name": "bash", "arguments": '{"cmd":"x"}'},
}


def chat(call_id: str, text: str, **marks: object) -> list[Json]:
    return [
        {"role": "user", "content": "Fix it."},
        {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]},
        {"role": "tool", "tool_call_id": call_id, "content": text, **marks},
    ]


def openai(call_id: str, text: str, failed: bool) -> bytes:
    return lines({"messages": chat(call_id, text, **({"is_error": True} if failed else {}))})


def langchain(call_id: str, text: str, failed: bool) -> bytes:
    return lines({"messages": chat(call_id, text, status="error" if failed else "success")})


def anthropic(call_id: str, text: str, failed: bool) -> bytes:
    result = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": failed}
    messages = [
        {"role": "user", "content": "Fix it."},
        {"role": "assistant", "content": use("c", "x")},
        {"role": "user", "content": [result]},
    ]
    return lines({"messages": messages})


def claude_code(call_id: str, text: str, failed: bool) -> bytes:
    result = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": failed}
    return lines(
        claude("u1", None, "Fix it."),
        claude("a1", "u1", use("c", "x")),
        claude("u2", "a1", [result]),
    )


def openclaw_log(call_id: str, text: str, failed: bool) -> bytes:
    call = {"type": "toolCall", "id": "c", "name": "exec", "arguments": {"command": "x"}}
    marks: Json = {"role": "toolResult", "toolCallId": call_id, "isError": failed}
    return lines(
        HEADER,
        openclaw("u1", None, "Fix it."),
        openclaw("a1", "u1", [call]),
        openclaw("r1", "a1", text, **marks),
    )


def codex(call_id: str, text: str, failed: bool) -> bytes:
    call = {"type": "function_call", "name": "shell", "arguments": '{"command":"x"}'}
    answer = {"type": "function_call_output", "output": {"content": text, "success": not failed}}
    return lines(
        {"type": "session_meta", "payload": {"id": "s"}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "Fix it."}},
        {"type": "response_item", "payload": {**call, "call_id": "c"}},
        {"type": "response_item", "payload": {**answer, "call_id": call_id}},
    )


def openhands(call_id: str, text: str, failed: bool) -> bytes:
    kind = "error" if failed else "run"
    cause = 1 if call_id == "c" else 7
    events = [
        {"id": 0, "action": "message", "source": "user", "args": {"content": "Fix it."}},
        {"id": 1, "action": "run", "source": "agent", "args": {"command": "x"}},
        {"id": 2, "observation": kind, "content": text, "cause": cause, "extras": {}},
    ]
    return lines({"history": events})


def openhands_sdk(call_id: str, text: str, failed: bool) -> bytes:
    seen = {"content": [{"type": "text", "text": text}], "is_error": failed}
    action: Json = {"tool_name": "bash", "action": {"command": "x"}}
    return lines(
        {"kind": "MessageEvent", "source": "user", "llm_message": {"content": "Fix it."}},
        {"kind": "ActionEvent", "id": "c", **action},
        {"kind": "ObservationEvent", "action_id": call_id, "observation": seen},
    )


def letta(call_id: str, text: str, failed: bool) -> bytes:
    returns = [{"tool_call_id": call_id, "status": "error" if failed else "success"}]
    messages = chat(call_id, text, tool_returns=returns)
    return lines({"agent_type": "a", "llm_config": {}, "name": "n", "messages": messages})


def inspect(call_id: str, text: str, failed: bool) -> bytes:
    error = {"type": "unknown", "message": text}
    task, call, answer = chat(call_id, text)
    answer = {**answer, "content": "", "error": error} if failed else answer
    inner = {"id": "c", "function": "bash", "arguments": {"cmd": "x"}}
    return lines(CHATS["inspect-ai"]([task, {**call, "tool_calls": [inner]}, answer]))


LOGS: dict[str, Callable[[str, str, bool], bytes]] = {
    "openai-chat": openai,
    "openai-chat from LangChain": langchain,
    "anthropic": anthropic,
    "claude-code": claude_code,
    "openclaw": openclaw_log,
    "codex": codex,
    "openhands": openhands,
    "openhands-sdk": openhands_sdk,
    "letta": letta,
    "inspect-ai": inspect,
}


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("call_id", ["c", "another"])
@pytest.mark.parametrize("failed", [True, False])
def test_an_error_says_so_and_an_odd_answer_is_the_last_steps(
    tmp_path: Path, name: str, call_id: str, failed: bool
) -> None:
    found = readings(tmp_path, LOGS[name](call_id, "no x", failed))
    (only,) = episodes(found)
    assert len(found) == 1
    assert only.source.format == name.partition(" ")[0]
    assert only.steps == (Step("x", "error: no x" if failed else "no x"),)


def test_a_call_of_gemini_cli_that_failed(tmp_path: Path) -> None:
    call = {"id": "c", "name": "run_shell_command", "args": {"command": "x"}, "status": "error",
            "result": [{"functionResponse": {"response": {"output": "no x"}}}]}  # fmt: skip
    messages = [
        {"type": "user", "content": "Fix it."},
        {"type": "gemini", "content": "", "toolCalls": [call]},
    ]
    session = {"sessionId": "s", "projectHash": "h", "messages": messages}
    (only,) = episodes(readings(tmp_path, lines(session)))
    assert only.steps == (Step("x", "error: no x"),)


def langsmith(failed: bool) -> Json:
    tool = {"id": "2", "trace_id": "1", "parent_run_id": "1", "run_type": "tool", "name": "bash",
            "inputs": {"cmd": "x"}, "outputs": None if failed else {"output": "no x"},
            "error": "no x" if failed else None}  # fmt: skip
    return {"id": "1", "trace_id": "1", "run_type": "chain", "inputs": {"input": "Fix it."},
            "child_runs": [tool]}  # fmt: skip


def langfuse(failed: bool) -> Json:
    told: Json = {"level": "ERROR", "statusMessage": "no x"} if failed else {"output": "no x"}
    tool = {"type": "TOOL", "name": "bash", "input": {"cmd": "x"}, "startTime": "1", **told}
    return {"trace": {"id": "1", "input": "Fix it."}, "observations": [tool]}


def otel(failed: bool) -> Json:
    attributes = {"openinference.span.kind": "TOOL", "tool.name": "bash",
                  "input.value": '{"cmd": "x"}', "output.value": "no x"}  # fmt: skip
    status = {"status_code": "ERROR" if failed else "OK"}
    root = {"name": "run", "context": {"trace_id": "1", "span_id": "1"},
            "attributes": {"input.value": "Fix it."}}  # fmt: skip
    tool = {"name": "bash", "context": {"trace_id": "1", "span_id": "2"}, "parent_id": "1",
            "attributes": attributes, "status": status}  # fmt: skip
    return {"spans": [root, tool]}


@pytest.mark.parametrize("name", ["langsmith", "langfuse", "otel"])
@pytest.mark.parametrize("failed", [True, False])
def test_a_traced_call_that_failed(tmp_path: Path, name: str, failed: bool) -> None:
    log = {"langsmith": langsmith, "langfuse": langfuse, "otel": otel}[name](failed)
    (only,) = episodes(readings(tmp_path, lines(log)))
    assert only.source.format == name
    assert only.steps == (Step("x", "error: no x" if failed else "no x"),)


def test_tau2_bench_marks_errors_too(tmp_path: Path) -> None:
    run = CHATS["tau2-bench"](chat("c", "no x", error=True))
    (only,) = episodes(readings(tmp_path, lines(run)))
    assert only.source.format == "tau2-bench"
    assert only.steps == (Step("x", "error: no x"),)


@pytest.mark.parametrize("name", ["openai-chat", "anthropic", "claude-code", "openclaw", "codex"])
def test_an_answer_before_the_first_call_is_told(tmp_path: Path, name: str) -> None:
    written = LOGS[name]("another", "no x", False).splitlines(keepends=True)
    if name in ("openai-chat", "anthropic"):
        task, call, answer = json.loads(written[0])["messages"]
        log = lines({"messages": [task, answer, call]})
    else:
        *before, call, answer = written
        log = b"".join([*before, answer, call])
    found = readings(tmp_path, log)
    (only,) = episodes(found)
    assert only.steps == (Step("x"),)
    (told,) = refusals(found)
    assert told.position == "line 1"
    assert told.message.startswith("1 tool result is left out")
    assert told.format == name


def atif(messages: Sequence[Json]) -> Json:
    task, answer, _ = messages
    call = {"tool_call_id": "c", "function_name": "bash", "arguments": {"cmd": "x"}}
    return {
        "schema_version": "ATIF-v1.4",
        "steps": [
            {"source": "user", "message": task["content"]},
            {"source": "agent", "observation": {"results": [{"content": answer["content"]}]}},
            {"source": "agent", "tool_calls": [call]},
        ],
    }


RUNS = {**CHATS, "atif": atif}
RUNS_IN_PARTS = {"tau2-bench": "", "fireact": ", key 0", "inspect-ai": ", sample 1"}


@pytest.mark.parametrize("name", RUNS)
def test_an_answer_before_the_first_call_is_told_of_whole_runs_too(
    tmp_path: Path, name: str
) -> None:
    task, call, answer = chat("another", "no x")
    found = readings(tmp_path, lines(RUNS[name]([task, answer, call])))
    (only,) = episodes(found)
    position = f"line 1{RUNS_IN_PARTS.get(name, '')}"
    assert only.source.position == position
    assert only.steps == (Step("x"),)
    (told,) = refusals(found)
    assert told.message.startswith("1 tool result is left out")
    assert (told.source, told.position, told.format) == ("log.json", position, name)


# Where they are parts of the calls there is nothing to tell.
@pytest.mark.parametrize("name", CHATS)
def test_a_whole_run_that_keeps_all_its_answers_tells_nothing(tmp_path: Path, name: str) -> None:
    (only,) = readings(tmp_path, lines(CHATS[name](chat("c", "no x"))))
    assert isinstance(only, Trajectory)
    assert only.steps == (Step("x", "no x"),)


def protocol(*content: Json) -> bytes:
    return lines({"id": "1", "content": [*content], "details": {}})


ASKED: Json = {"class_": "text_observation", "source": "user", "content": "Fix it."}
SEEN: Json = {"class_": "text_observation", "source": "environment", "content": "a room"}
DONE: Json = {"class_": "api_action", "function": "bash", "kwargs": {"cmd": "x"}}


@pytest.mark.parametrize("before", [(ASKED, SEEN), (SEEN, ASKED)])
def test_what_the_protocol_shows_before_the_first_action_is_the_environment(
    tmp_path: Path, before: tuple[Json, Json]
) -> None:
    (only,) = readings(tmp_path, protocol(*before, DONE))
    assert isinstance(only, Trajectory)
    assert (only.task, only.environment) == ("Fix it.", "a room")
    assert only.steps == (Step("x"),)


@pytest.mark.parametrize("name", ["anthropic", "openai-chat"])
def test_a_result_that_begins_a_log_is_not_its_task(tmp_path: Path, name: str) -> None:
    log = json.loads(LOGS[name]("c", "no x", False))
    task, call, answer = log["messages"]
    log["messages"] = [answer, task, call]
    found = readings(tmp_path, lines(log))
    (only,), (told,) = episodes(found), refusals(found)
    assert (only.task, only.steps) == ("Fix it.", (Step("x"),))
    assert told.message.startswith("1 tool result is left out")


def test_a_result_beside_the_task_is_told_and_no_part_of_it(tmp_path: Path) -> None:
    result = {"type": "tool_result", "tool_use_id": "lost", "content": "no x"}
    messages = [
        {"role": "user", "content": [result, {"type": "text", "text": "Fix it."}]},
        {"role": "assistant", "content": use("c", "x")},
    ]
    found = readings(tmp_path, lines({"messages": messages}))
    (only,), (told,) = episodes(found), refusals(found)
    assert (only.task, only.steps) == ("Fix it.", (Step("x"),))
    assert told.message.startswith("1 tool result is left out")


LABELLED = "Question: Who?\nObservation 1: lost\nThought 1: I ask.\nAction 1: Search[x]\n"


def test_labelled_text_tells_empty_actions_and_thoughts_that_led_to_none(tmp_path: Path) -> None:
    text = "Question: Who?\nAction 1:\nThought 2: I ask.\nAction 2: Search[x]\nThought 3: Hm.\n"
    found = readings(tmp_path, lines({"0": {"traj": text, "em": True}}))
    (episode,) = episodes(found)
    assert episode.steps == (Step("Search[x]", "", "I ask."),)
    assert [remark.message for remark in notices(found)] == [
        "1 action is left out: nothing is written there",
        "1 thought is left out: no action follows it",
    ]


def test_labelled_text_tells_an_observation_before_the_first_action(tmp_path: Path) -> None:
    found = readings(tmp_path, lines({"0": {"traj": LABELLED, "em": True}}))
    (only,), (told,) = episodes(found), refusals(found)
    assert only.steps == (Step("Search[x]", "", "I ask."),)
    assert told.message.startswith("1 tool result is left out")
    assert told.position == "line 1, key 0"


def test_reflexion_tells_an_observation_before_the_first_action(tmp_path: Path) -> None:
    text = f"BEGIN TRIAL 0\n--- BEGIN CORRECT AGENTS ---\n{LABELLED}Observation 2: y\n"
    found = readings(tmp_path, text.encode(), "log.txt")
    (only,), (told,) = episodes(found), refusals(found)
    assert only.steps == (Step("Search[x]", "y", "I ask."),)
    assert told.position == only.source.position == "line 3"


def test_a_trial_of_reflexion_without_a_verdict_has_none_of_the_trial_before(
    tmp_path: Path,
) -> None:
    question = "Question: Who?\nThought 1: I ask.\nAction 1: Search[x]\n"
    text = f"BEGIN TRIAL 0\n--- BEGIN CORRECT AGENTS ---\n{question}BEGIN TRIAL 1\n{question}"
    found = episodes(readings(tmp_path, text.encode(), "log.txt"))
    assert [each.outcome.success for each in found] == [True, None]


def test_labels_are_in_plain_letters(tmp_path: Path) -> None:
    # The long s and the sign for kelvin are the same letters as s and k in another case.
    text = f"{LABELLED}Ob\u017fervation 2: y\nObservation 2: z\n".replace("Observation 1", "Note")
    (only,) = readings(tmp_path, lines({"0": {"traj": text, "em": True}}))
    assert isinstance(only, Trajectory)
    assert only.steps == (Step("Search[x]\nOb\u017fervation 2: y", "z", "I ask."),)
