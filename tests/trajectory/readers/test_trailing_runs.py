"""What tools answered at the end of a trace, where no later call of a model repeats it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from deltamem_tui.trajectory.model import Step
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.spans import ModelCall, ToolCall, trace_episode
from tests.trajectory.readers.log_files import Json, episode, lines


def langsmith(given: Json, answer: str) -> bytes:
    call = {"name": "search", "args": given, "id": "q"}
    kwargs = {"content": "", "tool_calls": [call]}
    user = {"type": "constructor", "id": ["HumanMessage"], "kwargs": {"content": "Book it."}}
    ai = {"type": "constructor", "id": ["AIMessage"], "kwargs": kwargs}
    common = {"trace_id": "t", "parent_run_id": "t"}
    return lines(
        {"id": "t", "run_type": "chain", "name": "agent", "trace_id": "t", "inputs": {},
         "dotted_order": "1"},
        {**common, "id": "a", "run_type": "llm", "name": "llm", "dotted_order": "1.1",
         "inputs": {"messages": [[user]]},
         "outputs": {"generations": [[{"text": "", "message": ai}]]}},
        {**common, "id": "b", "run_type": "tool", "name": "search", "dotted_order": "1.2",
         "inputs": {"input": str(given)}, "outputs": {"output": answer}},
    )  # fmt: skip


def langfuse(given: Json, answer: str) -> bytes:
    call = {"id": "z", "function": {"name": "search", "arguments": json.dumps(given)}}
    told = {"role": "assistant", "content": None, "tool_calls": [call]}
    return lines(
        {
            "trace": {"id": "l", "input": "Book it."},
            "observations": [
                {"id": "3", "type": "TOOL", "name": "search", "startTime": "3", "input": given,
                 "output": answer},
                {"id": "2", "type": "GENERATION", "startTime": "2", "output": told,
                 "input": [{"role": "user", "content": "Book it."}]},
            ],
        }
    )  # fmt: skip


def openinference(given: Json, answer: str) -> bytes:
    out = "llm.output_messages.0.message"
    call = f"{out}.tool_calls.0.tool_call"
    common = {"context": {"trace_id": "t"}, "parent_id": "a"}
    return lines(
        {"name": "agent", "context": {"trace_id": "t"}, "parent_id": None, "start_time": "1",
         "attributes": {"openinference.span.kind": "AGENT", "input.value": "Book it."}},
        {**common, "name": "llm", "start_time": "2", "attributes": {
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Book it.",
            f"{out}.role": "assistant", f"{call}.id": "q", f"{call}.function.name": "search",
            f"{call}.function.arguments": json.dumps(given)}},
        {**common, "name": "search", "start_time": "3", "attributes": {
            "openinference.span.kind": "TOOL", "tool.name": "search",
            "input.value": json.dumps(given), "output.value": answer}},
    )  # fmt: skip


@pytest.mark.parametrize("write", [langsmith, langfuse, openinference])
def test_an_answer_that_only_the_tools_span_holds(
    tmp_path: Path, write: Callable[[Json, str], bytes]
) -> None:
    found = episode(tmp_path, write({"q": "flight"}, "LH123"))
    assert found.task == "Book it."
    assert found.steps == (Step('search(q="flight")', "LH123"),)


def call(name: str, call_id: str, **given: object) -> Json:
    return {"id": call_id, "function": {"name": name, "arguments": json.dumps(given)}}


def answers(
    told: list[Json], *runs: ToolCall, before: tuple[tuple[Json, str], ...] = ()
) -> list[str]:
    """The observations of a trace whose model first made the calls `before`, and then `told`."""
    asked: list[Json] = [{"role": "user", "content": "Book it."}]
    for made, answer in before:
        asked.append({"role": "assistant", "content": "", "tool_calls": [made]})
        asked.append({"role": "tool", "tool_call_id": made["id"], "content": answer})
    last = ModelCall(asked, [{"role": "assistant", "content": "", "tool_calls": told}])
    return [step.observation for step in trace_episode(Conversation(), [last], runs).steps]


def test_calls_made_at_once_are_told_apart_by_their_arguments() -> None:
    told = [call("look", "1", at="a"), call("look", "2", at="b")]
    runs = ToolCall("look", {"at": "b"}, "B"), ToolCall("look", "{'at': 'a'}", "A")
    assert answers(told, *runs) == ["A", "B"]


def test_the_same_call_made_again_has_the_later_answer() -> None:
    runs = ToolCall("look", {}, "old"), ToolCall("look", {}, "new")
    assert answers([call("look", "2")], *runs, before=((call("look", "1"), "old"),)) == [
        "old",
        "new",
    ]


def test_a_call_that_never_ran_has_no_answer_of_an_earlier_one() -> None:
    run = ToolCall("look", {"at": "a"}, "A")
    for made in (call("look", "2", at="a"), call("look", "2", at="b"), call("go", "2", at="a")):
        assert answers([made], run, before=((call("look", "1", at="a"), "A"),)) == ["A", ""]


def test_arguments_written_in_another_way_do_only_for_a_call_that_is_alone() -> None:
    odd = [ToolCall("look", "at a", "A"), ToolCall("look", "at b", "B")]
    assert answers([call("look", "1", at="a")], odd[0]) == ["A"]
    assert answers([call("look", "1", at="a"), call("look", "2", at="b")], *odd) == ["", ""]


def test_a_tool_that_failed_says_so() -> None:
    failed = ToolCall("look", {}, "no light", failed=True)
    assert answers([call("look", "1")], failed) == ["error: no light"]


def test_arguments_as_python_shows_them_are_never_run() -> None:
    hostile = "{'a': __import__('os').abort()}", "{'" + "[" * 9_000, "{'a': " * 1_600
    for given in hostile:
        assert answers([call("look", "1", a="b")], ToolCall("look", given, "A")) == ["A"]
