from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.limits import Limits
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers import read_logs
from deltamem_tui.trajectory.readers.verdicts import Score, verdict
from tests.trajectory.readers.log_files import (
    Json,
    archive,
    episode,
    episodes,
    lines,
    pretty,
    readings,
    refusals,
)
from tests.trajectory.readers.trace_logs import (
    INSPECT,
    INSPECT_ARCHIVE,
    LANGFUSE,
    LANGSMITH,
    OPENINFERENCE,
    OTLP,
)

STEPS = (Step("ls", "a.py", "Look first."), Step("Fixed."))


def inspect_episode(name: str, position: str, trial: str, *, success: bool) -> Trajectory:
    return Trajectory(
        task="Fix the parser.",
        environment="Answer briefly.",
        steps=STEPS,
        outcome=Outcome(success, None, "stated", "compared"),
        source=LogSource(name, position, "inspect-ai"),
        agent="some/model",
        metadata={"id": "calc-7", "trial": trial, "task_type": "calc"},
    )


def test_inspect_epochs_stay_apart(tmp_path: Path) -> None:
    assert readings(tmp_path, pretty(INSPECT)) == [
        inspect_episode("log.json", "record 1, sample 1", "1", success=True),
        inspect_episode("log.json", "record 1, sample 2", "2", success=False),
    ]


def test_inspect_archive_is_read_in_the_order_of_its_numbers(tmp_path: Path) -> None:
    assert readings(tmp_path, archive(INSPECT_ARCHIVE), "log.eval") == [
        inspect_episode("log.eval", "samples/calc-7_epoch_2.json", "1", success=True),
        inspect_episode("log.eval", "samples/calc-7_epoch_10.json", "2", success=False),
    ]


@pytest.mark.parametrize("odd", ["9" * 5000, "1²2", "²", "٣"])
def test_inspect_archive_with_odd_numbers_in_its_names(tmp_path: Path, odd: str) -> None:
    samples = [value for name, value in INSPECT_ARCHIVE.items() if name.startswith("samples/")]
    content = archive({**INSPECT_ARCHIVE, f"samples/{odd}.json": samples[0]})
    assert len(episodes(readings(tmp_path, content, "log.eval"))) == len(samples) + 1


def genai(start: str, operation: str, **attributes: object) -> Json:
    """A span of the GenAI conventions, whose names are given without their prefix."""
    given = {f"gen_ai.{name.replace('__', '.')}": value for name, value in attributes.items()}
    return {
        "name": operation,
        "context": {"trace_id": "t", "span_id": start},
        "parent_id": "" if start == "1" else "1",
        "start_time": start,
        "attributes": {"gen_ai.operation.name": operation, **given},
    }


def part(role: str, kind: str, **rest: object) -> Json:
    return {"role": role, "parts": [{"type": kind, **rest}]}


TRACED_ASK = part("user", "text", content="Fix it.")
TRACED_CALLS: Json = {
    "role": "assistant",
    "parts": [
        {"type": "tool_call", "id": f"c{number}", "name": "look", "arguments": {"n": number}}
        for number in (1, 2)
    ],
}


def executed(start: str, call_id: str, result: str) -> Json:
    return genai(
        start,
        "execute_tool",
        tool__name="look",
        tool__call__id=call_id,
        tool__call__arguments='{"n": 3}',
        tool__call__result=result,
    )


def test_a_tools_own_span_answers_the_call_of_a_chat(tmp_path: Path) -> None:
    chat = genai("1", "chat", input__messages=[TRACED_ASK], output__messages=[TRACED_CALLS])
    spans = [chat, executed("2", "c2", "second"), executed("3", "c1", "first")]
    (found,) = episodes(readings(tmp_path, pretty(spans)))
    assert found.steps == (Step("look(n=1)", "first"), Step("look(n=2)", "second"))


def test_an_answer_that_a_chat_repeats_counts_once(tmp_path: Path) -> None:
    repeated = part("tool", "tool_call_response", id="c1", response="first")
    done = part("assistant", "text", content="Done.")
    asked = [TRACED_ASK, TRACED_CALLS, repeated]
    chat = genai("1", "chat", input__messages=asked, output__messages=[done])
    (found,) = episodes(
        readings(tmp_path, pretty([chat, executed("2", "c1", "first"), executed("3", "c2", "2nd")]))
    )
    assert [step.observation for step in found.steps] == ["first", "2nd", ""]


def test_an_agents_span_and_its_tools_are_an_episode(tmp_path: Path) -> None:
    done = part("assistant", "text", content="Done.")
    agent = genai("1", "invoke_agent", input__messages=[TRACED_ASK], output__messages=[done])
    (found,) = episodes(readings(tmp_path, pretty([agent, executed("2", "c1", "seen")])))
    assert found.task == "Fix it."
    assert found.steps == (Step("look(n=3)", "seen"), Step("Done."))


@pytest.mark.parametrize(
    ("scores", "outcome"),
    [
        ({"match": {"value": 0.75}}, Outcome(False, 0.75, "stated")),
        ({"match": {"value": "1.0"}}, Outcome(True, 1.0, "stated")),
        ({"match": {"value": True}}, Outcome(True, None, "stated")),
        ({"match": {"value": "N"}}, Outcome(False, None, "stated")),
        ({"match": {"value": "P"}}, Outcome(False, 0.5, "stated")),
        (
            {"match": {"value": 7}},
            Outcome(reason="`match` says 7, neither a verdict nor a reward"),
        ),
        ({"a": {"value": "C"}, "b": {"value": "C"}}, Outcome(True, None, "stated")),
        (
            {"a": {"value": "C"}, "b": {"value": "I"}},
            Outcome(reason="its scores disagree: a C, b I"),
        ),
        ({"a": {"value": {"x": 1, "y": 1}}}, Outcome(True, 1.0, "stated")),
        ({}, Outcome()),
        (None, Outcome()),
    ],
)  # fmt: skip
def test_inspect_scores(tmp_path: Path, scores: object, outcome: Outcome) -> None:
    sample: Json = {**INSPECT["samples"][0], "scores": scores}  # type: ignore[index]
    assert episode(tmp_path, pretty({**INSPECT, "samples": [sample]})).outcome == outcome


def test_inspect_sample_that_broke_down_has_no_verdict(tmp_path: Path) -> None:
    sample: Json = {**INSPECT["samples"][0], "scores": {}, "error": {"message": "timed out"}}  # type: ignore[index]
    found = episode(tmp_path, pretty({**INSPECT, "samples": [sample]}))
    assert found.outcome == Outcome(reason="timed out")


@pytest.mark.parametrize(
    "score",
    [
        {"model_graded_qa": {"value": "C"}},
        {"inspect_ai/model_graded_fact": {"value": "C"}},
        {"my_grader": {"value": "C", "metadata": {"grading": [{"role": "user", "content": "?"}]}}},
    ],
)
def test_inspect_grade_of_a_model_is_a_judgement(tmp_path: Path, score: Json) -> None:
    sample: Json = {**INSPECT["samples"][0], "scores": score}  # type: ignore[index]
    judged = episode(tmp_path, pretty({**INSPECT, "samples": [sample]}))
    assert judged.outcome == Outcome(True, None, "judge")
    checked = {**sample, "scores": {**score, "match": {"value": "I"}}}
    found = episode(tmp_path, pretty({**INSPECT, "samples": [checked]}))
    assert found.outcome == Outcome(False, None, "stated")


def test_inspect_attachments_do_not_multiply_beyond_what_a_record_may_hold(tmp_path: Path) -> None:
    name = "b" * 32
    content = f"attachment://{name} " * 50
    sample: Json = {
        "id": 1,
        "input": "Fix it.",
        "attachments": {name: "x" * 1000},
        "messages": [
            {"role": "user", "content": "Fix it."},
            {"role": "assistant", "content": content},
        ],
    }
    path = tmp_path / "log.json"
    path.write_bytes(pretty({**INSPECT, "samples": [sample]}))
    (whole,) = read_logs([path], limits=Limits(record_bytes=50_000))
    assert isinstance(whole, Trajectory)
    assert len(whole.steps[0].action) == 50 * 1001 - 1
    (told,) = read_logs([path], limits=Limits(record_bytes=49_999))
    assert isinstance(told, RecordError)
    assert "a sample with all its attachments in their places of more than" in told.message
    assert told.position == "record 1, sample 1"


def test_inspect_without_samples_is_refused(tmp_path: Path) -> None:
    (told,) = refusals(readings(tmp_path, pretty({**INSPECT, "samples": []})))
    assert "an evaluation without samples" in str(told)


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


def test_openinference_helper_that_talks_longest_is_not_the_episode(tmp_path: Path) -> None:
    def span(number: int, asked: list[Json], **attributes: object) -> Json:
        for index, message in enumerate(asked):
            name = f"llm.input_messages.{index}.message"
            attributes |= {f"{name}.{key}": value for key, value in message.items()}
        context: Json = {"trace_id": "t", "span_id": str(number)}
        rest: Json = {"parent_id": "0"} if number else {}
        return {
            "name": "x",
            "context": context,
            "start_time": number,
            "attributes": attributes,
            **rest,
        }

    helper = [_said("user", "Sum it up."), _said("assistant", "What?"), _said("user", "Page 3.")]
    own = [_said("user", "Book a flight."), _said("assistant", "Booked.")]
    root = span(0, [], **{"input.value": "Book a flight."})
    found = episode(tmp_path, lines(root, span(1, own), span(2, helper)))
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


def test_openinference_sorts_its_messages_by_number(tmp_path: Path) -> None:
    assert episode(tmp_path, pretty(OPENINFERENCE)) == Trajectory(
        task="Fix the parser.",
        environment="Answer briefly.",
        steps=(
            *(Step(f"look(n={number})", f"seen {number}") for number in range(5)),
            Step("Fixed."),
        ),
        outcome=Outcome(True, None, "stated"),
        source=LogSource("log.json", "record 1", "otel"),
        agent="some-model",
        metadata={"id": "t1", "name": "turn"},
    )


def test_openinference_numbers_of_any_length_are_in_order(tmp_path: Path) -> None:
    huge = "9" * 5000
    said = {"2": ("user", "Fix it."), huge: ("assistant", "Last."), "10": ("assistant", "First.")}
    attributes: Json = {"openinference.span.kind": "LLM"}
    for number, (role, content) in said.items():
        name = f"llm.input_messages.{number}.message"
        attributes |= {f"{name}.role": role, f"{name}.content": content}
    span = {"name": "llm", "trace_id": "t", "span_id": "s", "attributes": attributes}
    found = episode(tmp_path, lines(span))
    assert found.task == "Fix it."
    assert [step.action for step in found.steps] == ["First.\n\nLast."]


def test_otlp(tmp_path: Path) -> None:
    assert episode(tmp_path, lines(OTLP)) == Trajectory(
        task="Fix the parser.",
        environment="Answer briefly.",
        steps=STEPS,
        outcome=Outcome(False, 0.25, "stated"),
        source=LogSource("log.json", "line 1", "otel"),
        agent="some-model",
        metadata={"id": "t1", "name": "chat"},
    )


def test_otel_tools_alone_and_older_events(tmp_path: Path) -> None:
    def span(name: str, start: str, **rest: object) -> Json:
        context = {"trace_id": name, "span_id": start}
        return {"name": name, "context": context, "start_time": start, "attributes": {}, **rest}

    root = span("a", "1", attributes={"input.value": "Fix it."})
    tool: Json = {
        "gen_ai.tool.name": "bash",
        "gen_ai.tool.call.arguments": '{"command": "ls"}',
        "gen_ai.tool.call.result": "a.py",
    }
    events = [
        {"name": "gen_ai.user.message", "attributes": {"content": "Fix that."}},
        {"name": "gen_ai.choice", "attributes": {"message": '{"content": "Fixed."}'}},
    ]
    found = readings(
        tmp_path,
        pretty(
            [root, span("a", "2", parent_id="1", attributes=tool), span("b", "3", events=events)]
        ),
    )
    first, second = episodes(found)
    assert (first.task, first.steps) == ("Fix it.", (Step("ls", "a.py"),))
    assert (second.task, second.steps) == ("Fix that.", (Step("Fixed."),))


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


def test_a_span_without_a_trace_is_told(tmp_path: Path) -> None:
    def span(number: int, trace: object) -> Json:
        said = [{"role": "user", "content": f"task {number}"}]
        told = [{"role": "assistant", "content": f"answer {number}"}]
        messages = {"gen_ai.input.messages": said, "gen_ai.output.messages": told}
        return {"name": "chat", "trace_id": trace, "start_time": "1", "attributes": messages}

    given = [span(1, "t"), span(2, None), span(3, ""), {"spans": [span(4, "u"), span(5, None)]}]
    found = readings(tmp_path, lines(*given))
    assert [each.task for each in episodes(found)] == ["task 1", "task 4"]
    assert [told.position for told in refusals(found)] == ["line 2", "line 3", "line 4"]
    assert "a span without a trace id" in refusals(found)[0].message


EVALUATED = {
    "gen_ai.evaluation.name": "correctness",
    "gen_ai.evaluation.score.value": 1.0,
}


@pytest.mark.parametrize(
    ("events", "outcome"),
    [
        (["1"], Outcome(True, 1.0, "stated")),
        (["2"], Outcome(reason="`correctness` is a score of a part of the trace")),
        ([], Outcome()),
    ],
)
def test_a_score_of_a_span_in_a_trace_says_nothing_of_the_task(
    tmp_path: Path, events: list[str], outcome: Outcome
) -> None:
    chat = genai("1", "chat", input__messages=[TRACED_ASK], output__messages=[TRACED_CALLS])
    spans = [chat, executed("2", "c1", "seen")]
    for span in spans:
        if span["start_time"] in events:
            span["events"] = [{"name": "gen_ai.evaluation.result", "attributes": EVALUATED}]
    assert episode(tmp_path, lines(*spans)).outcome == outcome


@pytest.mark.parametrize("parents", [("9", "9"), ("", "")])
def test_scores_of_spans_none_of_which_is_the_whole_trace(
    tmp_path: Path, parents: tuple[str, str]
) -> None:
    chat = genai("1", "chat", input__messages=[TRACED_ASK], output__messages=[TRACED_CALLS])
    tool = executed("2", "c1", "seen")
    tool["attributes"] |= EVALUATED  # type: ignore[operator]
    spans = [
        {**span, "parent_id": parent} for span, parent in zip([chat, tool], parents, strict=True)
    ]
    found = episode(tmp_path, lines(*spans))
    assert found.outcome == Outcome(reason="`correctness` is a score of a part of the trace")


def test_a_span_that_is_told_twice_is_one(tmp_path: Path) -> None:
    chat = genai("1", "chat", input__messages=[TRACED_ASK], output__messages=[TRACED_CALLS])
    chat["attributes"] |= EVALUATED  # type: ignore[operator]
    assert episode(tmp_path, lines(chat, chat)).outcome == Outcome(True, 1.0, "stated")


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
    (found,) = readings(tmp_path, pretty([root]))
    assert isinstance(found, Trajectory)
    assert [step.action for step in found.steps] == [f"look(n={n})" for n in range(3)]


@pytest.mark.parametrize(
    "times",
    [
        (9, 10, 100),
        ("9", "10", "100"),
        (1767225600000000001, 1767225600000000002, 1767225600000000010),
        (9.5, 10, 10.25),
        ("2026-01-01T00:00:10Z", "2026-01-01T00:00:10.25Z", "2026-01-01T00:00:10.5Z"),
        ("2026-01-01T09:00:00+09:00", "2026-01-01T00:00:01", "2026-01-01T00:00:02Z"),
        (None, "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"),
        (None, "later", "latest"),
    ],
)
def test_spans_are_in_order_of_time_however_it_is_written(
    tmp_path: Path, times: tuple[object, ...]
) -> None:
    root = genai("1", "agent", input__messages=[TRACED_ASK])
    spans = [root]
    for number, time in enumerate(times):
        spans.append({**executed("2", f"c{number}", str(number)), "start_time": time})
    root["start_time"] = times[0]
    found = episode(tmp_path, lines(*reversed(spans)))
    assert [step.observation for step in found.steps] == ["0", "1", "2"]
