"""Traces that platforms export: Langfuse's observations and LangSmith's runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from tests.trajectory.readers.agent_logs import LANGFUSE, LANGSMITH
from tests.trajectory.readers.samples import Json, episode, episodes, lines, only, pretty, readings

STEPS = (Step("ls", "a.py", "Look first."), Step("Fixed."))


def test_langfuse(tmp_path: Path) -> None:
    assert episode(tmp_path, pretty(LANGFUSE)) == Trajectory(
        task="Fix the parser.",
        environment="Answer briefly.",
        steps=STEPS,
        outcome=Outcome(True, None, "judge", "tests pass"),
        source=LogSource("log.json", "record 1", "langfuse"),
        agent="some-model",
        metadata={"id": "t1", "name": "fix"},
    )


def _said(role: str, content: str) -> Json:
    return {"role": role, "content": content}


def test_langfuse_helper_that_talks_longest_is_not_the_episode(tmp_path: Path) -> None:
    def generation(number: int, asked: list[Json], told: str) -> Json:
        answer = _said("assistant", told)
        facts: Json = {"id": str(number), "type": "GENERATION", "startTime": str(number)}
        return {**facts, "input": asked, "output": answer}

    helper = [_said("user", "Sum it up."), _said("assistant", "What?"), _said("user", "Page 3.")]
    trace: Json = {
        "trace": {"id": "t", "input": "Book a flight."},
        "observations": [
            generation(1, [_said("user", "Book a flight.")], "Booked."),
            generation(2, helper, "It is short."),
        ],
    }
    found = episode(tmp_path, pretty(trace))
    assert (found.task, [step.action for step in found.steps]) == ("Book a flight.", ["Booked."])


def test_langfuse_tools_alone(tmp_path: Path) -> None:
    trace = {"id": "t1", "input": '{"question": "Fix it."}'}
    read = {"id": "b", "name": "read", "startTime": "2", "input": '{"p": 1}', "output": "x"}
    bash = {"id": "a", "name": "bash", "startTime": "1", "input": {"cmd": "ls"}, "output": "a"}
    calls = [{"type": "TOOL", **call} for call in (read, bash)]
    found = episode(tmp_path, pretty({"trace": trace, "observations": calls}))
    assert found.steps == (Step("ls", "a"), Step("read(p=1)", "x"))
    assert (found.task, found.outcome) == ("Fix it.", Outcome())


@pytest.mark.parametrize(
    "generation",
    [
        {  # OpenAI's response items
            "input": [
                {"role": "user", "content": "Fix the parser."},
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look first."}]},
                {"type": "function_call", "call_id": "c1", "name": "bash",
                 "arguments": '{"cmd": "ls"}'},
                {"type": "function_call_output", "call_id": "c1", "output": "a.py"},
            ],
            "output": {"output": [
                {"type": "message", "role": "assistant",
                 "content": [{"type": "output_text", "text": "Fixed."}]}]},
        },
        {  # Google's contents
            "input": {
                "config": {"system_instruction": "Answer briefly."},
                "contents": [
                    {"role": "user", "parts": [{"text": "Fix the parser."}]},
                    {"role": "model", "parts": [
                        {"text": "Look first.", "thought": True},
                        {"function_call": {"name": "bash", "args": {"command": "ls"}}}]},
                    {"role": "user", "parts": [
                        {"function_response": {"name": "bash", "response": "a.py"}}]},
                ],
            },
            "output": {"content": {"role": "model", "parts": [{"text": "Fixed."}]}},
        },
        {  # Anthropic's blocks
            "input": [
                {"role": "user", "content": "Fix the parser."},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "Look first."},
                    {"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "ls"}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "a.py"}]},
            ],
            "output": "Fixed.",
        },
    ],
    ids=["responses", "google", "anthropic"],
)  # fmt: skip
def test_dialects_of_messages_say_the_same(tmp_path: Path, generation: Json) -> None:
    record = {
        "trace": {"id": "t1", "input": None},
        "observations": [{"id": "o", "type": "GENERATION", "startTime": "1", **generation}],
    }
    found = episode(tmp_path, pretty(record))
    assert (found.task, found.steps) == ("Fix the parser.", STEPS)


def test_langsmith(tmp_path: Path) -> None:
    steps = (Step("ls", "a.py"), Step("Fixed."))
    assert episode(tmp_path, lines(*LANGSMITH)) == Trajectory(
        task="Fix the parser.",
        steps=steps,
        outcome=Outcome(False, 0.5, "stated"),
        source=LogSource("log.json", "line 1", "langsmith"),
        agent="some-model",
        metadata={"id": "r1", "name": "agent"},
    )


def test_langsmith_runs_in_one_object(tmp_path: Path) -> None:
    found = episode(tmp_path, pretty({"runs": LANGSMITH}))
    assert (found.source.format, len(found.steps)) == ("langsmith", 2)


def test_langsmith_tree_of_runs_and_an_error(tmp_path: Path) -> None:
    model, root = LANGSMITH
    child = {key: value for key, value in model.items() if "id" not in key or key == "id"}
    tree = {**root, "child_runs": [child], "feedback_stats": None, "error": "Timeout"}
    found = episode(tmp_path, pretty([tree]))
    assert found.steps == (Step("ls", "a.py"), Step("Fixed."))
    assert found.outcome == Outcome(reason="Timeout")


def test_langsmith_traces_stay_apart(tmp_path: Path) -> None:
    other = [
        {**run, "id": f"x{run['id']}", "trace_id": "xr1", "parent_run_id": run.get("parent_run_id")}
        for run in LANGSMITH
    ]
    found = episodes(readings(tmp_path, pretty([*LANGSMITH, *other])))
    assert [item.metadata["id"] for item in found] == ["r1", "xr1"]


def test_a_score_of_a_langfuse_observation_says_nothing_of_the_task(tmp_path: Path) -> None:
    score = {"name": "correctness", "value": 1, "dataType": "NUMERIC", "source": "API"}
    of_part = {**score, "observationId": "o3"}
    trace: Json = {**LANGFUSE["trace"], "scores": [of_part]}  # type: ignore[dict-item]
    found = episode(tmp_path, pretty({**LANGFUSE, "trace": trace}))
    assert found.outcome == Outcome(reason="`correctness` is a score of a part of the trace")
    own = {**score, "value": 0, "observationId": None}
    trace["scores"] = [of_part, own]
    found = episode(tmp_path, pretty({**LANGFUSE, "trace": trace}))
    assert found.outcome == Outcome(False, 0.0, "stated")


def test_feedback_to_a_run_that_another_called_says_nothing_of_the_task(tmp_path: Path) -> None:
    model, root = LANGSMITH
    runs = [{**model, "feedback_stats": {"correctness": 1}}, {**root, "feedback_stats": None}]
    found = episode(tmp_path, lines(*runs))
    assert found.outcome == Outcome(reason="`correctness` is a score of a part of the trace")


CALLED: list[Json] = [
    {"id": f"c{number}", "run_type": "tool", "name": "look", "inputs": {"n": number}}
    for number in range(3)
]


@pytest.mark.parametrize("said", [{}, {"trace_id": None}, {"trace_id": "r", "parent_run_id": None}])
def test_langsmith_runs_without_times_are_in_the_order_of_the_log(
    tmp_path: Path, said: Json
) -> None:
    root: Json = {
        "id": "r",
        "trace_id": "r",
        "run_type": "chain",
        "inputs": {"input": "Fix it."},
        "child_runs": [{**run, **said} for run in CALLED],
    }
    found = only(readings(tmp_path, pretty([root])))
    assert [step.action for step in found.steps] == [f"look(n={n})" for n in range(3)]
