"""Spans of OpenTelemetry and OpenInference."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from tests.trajectory.readers.agent_logs import OPENINFERENCE, OTLP
from tests.trajectory.readers.samples import (
    Json,
    episode,
    episodes,
    lines,
    pretty,
    readings,
    refusals,
)

STEPS = (Step("ls", "a.py", "Look first."), Step("Fixed."))


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


def _said(role: str, content: str) -> Json:
    return {"role": role, "content": content}


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


def test_a_span_without_a_trace_is_told(tmp_path: Path) -> None:
    def span(number: int, trace: object) -> Json:
        said = [{"role": "user", "content": f"task {number}"}]
        told = [{"role": "assistant", "content": f"answer {number}"}]
        messages = {"gen_ai.input.messages": said, "gen_ai.output.messages": told}
        return {"name": "chat", "trace_id": trace, "start_time": "1", "attributes": messages}

    given = [span(1, "t"), span(2, None), span(3, ""), {"spans": [span(4, "u"), span(5, None)]}]
    found = readings(tmp_path, lines(*given))
    assert [each.task for each in episodes(found)] == ["task 1", "task 4"]
    assert [remark.position for remark in refusals(found)] == ["line 2", "line 3", "line 4"]
    assert "a span without a trace id" in refusals(found)[0].message


EVALUATED = {"gen_ai.evaluation.name": "correctness", "gen_ai.evaluation.score.value": 1.0}


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
