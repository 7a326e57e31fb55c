"""What a trace gave back as a whole, where no call of a model in it says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from deltamem_tui.trajectory.model import Outcome, Step
from deltamem_tui.trajectory.readers.verdicts import Score, verdict
from tests.trajectory.readers.samples import Json, episode, pretty, readings, refusals

_ASKED: Json = {"role": "user", "content": "Fix the parser."}
_CALLED: Json = {
    "role": "assistant",
    "content": "Look first.",
    "tool_calls": [{"id": "c1", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}],
}
_SAID: Json = {"role": "assistant", "content": "All done."}


def _flat(message: Json) -> Json:
    """A message in OpenInference's names."""
    flat = {f"message.{key}": message[key] for key in ("role", "content")}
    for call in message.get("tool_calls", ()):  # type: ignore[attr-defined]
        inner = "message.tool_calls.0.tool_call"
        flat |= {f"{inner}.id": call["id"], f"{inner}.function.name": call["function"]["name"]}
        flat[f"{inner}.function.arguments"] = call["function"]["arguments"]
    return flat


def _span(number: int, kind: str, **attributes: object) -> Json:
    return {
        "name": kind.lower(),
        "context": {"trace_id": "t", "span_id": str(number)},
        "parent_id": "1" if number > 1 else None,
        "span_kind": kind,
        "start_time": f"2026-01-01T00:00:0{number}Z",
        "attributes": {key.replace("__", "."): value for key, value in attributes.items()},
    }


def openinference(told: Json | None, ended: object) -> object:
    root = _span(1, "AGENT", input__value="Fix the parser.", output__value=_as_text(ended))
    tool = _span(
        3, "TOOL", tool__name="bash", input__value='{"command": "ls"}', output__value="a.py"
    )
    model = _span(2, "LLM")
    for side, message in (("input", _ASKED), ("output", told)):
        for key, value in _flat(message).items() if message else ():
            model["attributes"][f"llm.{side}_messages.0.{key}"] = value  # type: ignore[index]
    return [root, *([model] if told else []), tool]


def genai(told: Json | None, ended: object) -> object:
    """The conventions have messages for what an agent ends with, and for nothing else."""
    spans: list[Json] = openinference(told, None)  # type: ignore[assignment]
    root = spans[0]["attributes"]
    root["gen_ai.output.messages"] = [{"role": "assistant", "parts": [ended]}]  # type: ignore[index]
    return spans


def langfuse(told: Json | None, ended: object) -> object:
    tool: Json = {"type": "TOOL", "name": "bash", "input": {"command": "ls"}, "output": "a.py"}
    model: Json = {"type": "GENERATION", "input": [_ASKED], "output": told}
    found = [{**each, "id": "o"} for each in ([model, tool] if told else [tool])]
    observations = [{**each, "startTime": str(number)} for number, each in enumerate(found)]
    trace = {"id": "t", "input": "Fix the parser.", "output": ended}
    return {"trace": trace, "observations": observations}


def langsmith(told: Json | None, ended: object) -> object:
    outputs = {"output": ended} if isinstance(ended, str) else ended
    root = {"id": "r", "run_type": "chain", "inputs": {"input": "Fix the parser."}}
    tool = {"run_type": "tool", "name": "bash", "inputs": {"command": "ls"}}
    model = {"run_type": "llm", "inputs": {"messages": [_ASKED]}}
    below = [{**tool, "outputs": {"output": "a.py"}}]
    if told:
        below.insert(0, {**model, "outputs": {"generations": [[{"message": told}]]}})
    called = [{**run, "id": f"r{number}"} for number, run in enumerate(below)]
    return [{**root, "outputs": outputs, "child_runs": called}]


def _as_text(value: object) -> object:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


Tracer = Callable[[Json | None, object], object]
TRACERS = pytest.mark.parametrize("tracer", [openinference, genai, langfuse, langsmith])
CALL, LAST = Step("ls", "a.py"), Step("All done.")


@TRACERS
@pytest.mark.parametrize("told", [None, _CALLED])
def test_last_words_that_no_model_is_told_to_have_said_are_a_step(
    tmp_path: Path, tracer: Tracer, told: Json | None
) -> None:
    found = episode(tmp_path, pretty(tracer(told, "All done.")))
    called = Step("ls", "a.py", "Look first." if told else "")
    assert (found.task, found.steps) == ("Fix the parser.", (called, LAST))


@TRACERS
def test_last_words_that_a_model_said_are_told_once(tmp_path: Path, tracer: Tracer) -> None:
    found = episode(tmp_path, pretty(tracer(_SAID, "Result: all done.")))
    assert found.steps == (CALL, LAST)  # in the model's own words


@TRACERS
def test_what_a_tool_said_is_no_last_word(tmp_path: Path, tracer: Tracer) -> None:
    assert episode(tmp_path, pretty(tracer(None, "a.py"))).steps == (CALL,)


@pytest.mark.parametrize(
    ("ended", "steps"),
    [
        ({"output": "All done."}, (CALL, LAST)),
        ({"answer": "All done.", "sources": ["a.py"]}, (CALL, LAST)),
        ({"messages": [_ASKED, _CALLED, _SAID]}, (CALL, LAST)),
        ([_ASKED, _SAID], (CALL, LAST)),
        ("{'output': 'All done.', 'steps': 1}", (CALL, LAST)),
        ({"messages": [_ASKED, _CALLED]}, (CALL,)),
        ({"messages": [_SAID, _ASKED]}, (CALL,)),
        ({"tokens": 120, "state": {"done": True}}, (CALL,)),
        ({"output": {"rows": [1, 2]}}, (CALL,)),
        ({"result": "success"}, (CALL,)),
        ({"status": "ok", "content": "text/html"}, (CALL,)),
        ({"output": "Success!"}, (CALL,)),
        ({"output": "error: no such parser"}, (CALL,)),
        ({"output": "Fix the parser."}, (CALL,)),
        ('"true"', (CALL,)),
        ("None", (CALL,)),
        ([1, 2], (CALL,)),
        ("", (CALL,)),
        (None, (CALL,)),
    ],
)
@pytest.mark.parametrize("tracer", [openinference, langfuse])
def test_only_what_is_clearly_said_is_a_last_word(
    tmp_path: Path, tracer: Tracer, ended: object, steps: tuple[Step, ...]
) -> None:
    assert episode(tmp_path, pretty(tracer(None, ended))).steps == steps


@pytest.mark.parametrize("result", [None, "", "Paris", '"Paris"', '{"answer": "Paris"}'])
@pytest.mark.parametrize("answer", ["Paris", 'Paris, "the" city'])
def test_an_answer_that_is_given_in_a_call_is_told_once(
    tmp_path: Path, answer: str, result: str | None
) -> None:
    root = _span(1, "AGENT", input__value="Where?", output__value=answer)
    given = orjson.dumps({"answer": answer}).decode()
    tool = _span(2, "TOOL", tool__name="final_answer", input__value=given, output__value=result)
    (step,) = episode(tmp_path, pretty([root, tool])).steps
    assert step.action.startswith("final_answer(")


@pytest.mark.parametrize(
    "result", ["Paris", '"Paris"', '{"answer": "Paris"}', "{'output': 'Paris'}"]
)
def test_an_answer_that_a_tool_gave_is_told_once(tmp_path: Path, result: str) -> None:
    root = _span(1, "AGENT", input__value="Where?", output__value="Paris")
    tool = _span(2, "TOOL", tool__name="ask", input__value="{}", output__value=result)
    (step,) = episode(tmp_path, pretty([root, tool])).steps
    assert step.action.startswith("ask(")


def test_a_trace_that_broke_down_has_no_last_words(tmp_path: Path) -> None:
    spans = openinference(None, "All done.")
    spans[0]["status"] = {"code": 2}  # type: ignore[index]
    assert episode(tmp_path, pretty(spans)).steps == (CALL,)
    root: Json = langsmith(None, "All done.")[0]  # type: ignore[index]
    root["error"] = "Boom()"
    assert episode(tmp_path, pretty([root])).steps == (CALL,)


def test_a_trace_that_is_one_call_of_a_tool_has_no_last_words(tmp_path: Path) -> None:
    root = _span(1, "TOOL", tool__name="ask", input__value="Where?", output__value="All done.")
    tool = _span(2, "TOOL", tool__name="bash", input__value="ls", output__value="a.py")
    assert episode(tmp_path, pretty([root, tool])).steps[-1].action != "All done."
    run: Json = langsmith(None, "All done.")[0]  # type: ignore[index]
    run["run_type"] = "tool"
    assert LAST not in episode(tmp_path, pretty([run])).steps


def test_a_trace_that_gave_something_back_and_did_nothing_is_no_episode(tmp_path: Path) -> None:
    root = _span(1, "CHAIN", input__value="Fix the parser.", output__value="All done.")
    (refused,) = refusals(readings(tmp_path, pretty([root])))
    assert "the agent did nothing" in refused.message


def test_a_part_of_a_trace_has_no_last_words_for_the_whole(tmp_path: Path) -> None:
    spans = openinference(None, "All done.")
    spans[0]["parent_id"] = "0"  # type: ignore[index]  # which the log does not hold
    assert episode(tmp_path, pretty(spans)).steps == (CALL,)


@pytest.mark.parametrize(
    ("scores", "outcome"),
    [
        ([Score("toxicity", 1), Score("latency", 0.2)], Outcome()),
        ([Score("toxicity", 85), Score("latency", "slow")], Outcome()),
        ([Score("score", None), Score("reward", "")], Outcome()),
        (
            [Score("score", 85), Score("reward", "good")],
            Outcome(reason="`score` says 85, neither a verdict nor a reward"),
        ),
        ([Score("score", "good"), Score("passed", 0, "judge")], Outcome(False, 0.0, "judge")),
        # One that passed beside four that failed is a count of tests.
        (
            [Score("passed", 1), Score("Failed", 4)],
            Outcome(reason="`passed` says 1, a count beside others and no verdict"),
        ),
        (
            [Score("passed", 1), Score("failed", 4), Score("score", 0.2)],
            Outcome(None, 0.2, "stated"),
        ),
        # What is no count makes none of others, and what was one thing says the same either way.
        ([Score("success", 1), Score("total", 0.9)], Outcome(True, 1.0, "stated")),
        ([Score("success", 1), Score("failed", 0)], Outcome(True, 1.0, "stated")),
        ([Score("passed", 0), Score("failed", 1)], Outcome(False, 0.0, "stated")),
        ([Score("success", 0.7), Score("failed", 0)], Outcome(None, 0.7, "stated")),
        (
            [Score("passed", 1), Score("total", 1), Score("failed", 0)],
            Outcome(reason="`passed` says 1, a count beside others and no verdict"),
        ),
        (
            [Score("passed", 0), Score("failed", 0)],
            Outcome(reason="`passed` says 0, a count beside others and no verdict"),
        ),
        (
            [Score("Task Success", 7)],
            Outcome(reason="`Task Success` says 7, neither a verdict nor a reward"),
        ),
        ([Score("passed", True), Score("failed", 4)], Outcome(True, None, "stated")),
        ([Score("Task Success", True)], Outcome(True, None, "stated")),
        ([Score("isCorrect", "false")], Outcome(False, None, "stated")),
        ([Score("score", -100)], Outcome(None, 0.0, "stated")),
        ([Score("success", 1, "judge"), Score("reward", 1)], Outcome(None, 1.0, "stated")),
        ([Score("correctness", 0.2, "judge", "weak")], Outcome(None, 0.2, "judge", "weak")),
        ([Score("success", True), Score("reward", 1.0)], Outcome(True, 1.0, "stated")),
        ([Score("reward", 1.0), Score("passed", "yes", "judge")], Outcome(None, 1.0, "stated")),
        ([Score("success", "no"), Score("reward", 0.4)], Outcome(False, 0.4, "stated")),
        ([Score("success", False), Score("solved", True, "judge")], Outcome(False, None, "stated")),
        (
            [Score("success", True, "judge", "fine"), Score("score", 1, "judge")],
            Outcome(True, 1.0, "judge", "fine"),
        ),
        # Both agree for those who call 0.4 a success, and a verdict says more than a reward.
        ([Score("success", True), Score("reward", 0.4)], Outcome(True, 0.4, "stated")),
        ([Score("success", 1), Score("reward", 0.4)], Outcome(True, 0.4, "stated")),
        ([Score("passed", "0"), Score("score", 0.9)], Outcome(False, 0.9, "stated")),
        ([Score("success", 0.7)], Outcome(None, 0.7, "stated")),
        ([Score("correctness", 1)], Outcome(None, 1.0, "stated")),
        # Nobody calls nothing a success, or all of it a failure.
        (
            [Score("success", True), Score("reward", 0)],
            Outcome(reason="its scores disagree: success True, reward 0"),
        ),
        (
            [Score("success", 0), Score("reward", 1.0)],
            Outcome(reason="its scores disagree: success 0, reward 1.0"),
        ),
        (
            [Score("reward", 0.2), Score("score", 0.4)],
            Outcome(reason="its scores disagree: reward 0.2, score 0.4"),
        ),
        (
            [Score("success", 1), Score("correctness", 0)],
            Outcome(reason="its scores disagree: success 1, correctness 0"),
        ),
    ],
)
def test_only_scores_about_the_task_count(scores: list[Score], outcome: Outcome) -> None:
    assert verdict(scores) == outcome
