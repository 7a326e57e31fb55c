"""Langfuse: a trace with its observations, as the exports hold them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import OutcomeSource, Trajectory
from deltamem_tui.trajectory.outcome_keys import Score, verdict_of_whole
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import each_conversation, json_reader
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text, unfolded
from deltamem_tui.trajectory.readers.spans import (
    ModelCall,
    ToolCall,
    depths,
    last_message,
    messages_in,
    moment,
    task_in,
    trace_episode,
    unquoted,
)

# How deep JSON text inside JSON text is looked into: exports write it twice.
_NESTED_TEXTS = 3


def _episode(conversation: Conversation, value: object) -> Trajectory:
    record = as_mapping(value)
    trace = _trace_of(record)
    observations = sorted(
        map(as_mapping, as_list(record.get("observations") or trace.get("observations"))),
        key=lambda observation: moment(observation.get("startTime")),
    )
    if not observations:
        raise RecordError("a trace without observations", hint="export the trace with them")
    scores = [as_mapping(score) for score in as_list(trace.get("scores") or record.get("scores"))]
    return trace_episode(
        conversation,
        list(_model_calls(observations)),
        list(_tool_calls(observations)),
        task=task_in(_unfolded(trace.get("input"))),
        ended=last_message(_unfolded(trace.get("output"))),
        outcome=verdict_of_whole(
            _scores(score for score in scores if not score.get("observationId")),
            _scores(score for score in scores if score.get("observationId")),
        ),
        metadata={"id": as_text(trace.get("id")), "name": as_text(trace.get("name"))},
    )


def _trace_of(record: Json) -> Json:
    several = as_list(record.get("traces"))
    return as_mapping(record.get("trace") or (several[0] if len(several) == 1 else None)) or record


def _attributes(observation: Json) -> Json:
    """Return what OpenTelemetry told of it: older servers call every such part a span."""
    return as_mapping(as_mapping(unfolded(observation.get("metadata"))).get("attributes"))


def _is_tool(observation: Json) -> bool:
    return observation.get("type") == "TOOL" or "gen_ai.tool.name" in _attributes(observation)


def _depths(observations: list[Json]) -> dict[str, int]:
    return depths(
        (
            as_text(each.get("id")),
            as_text(each.get("parentObservationId")),
            each.get("type") == "AGENT" or _is_tool(each),
        )
        for each in observations
    )


def _model_calls(observations: list[Json]) -> Iterator[ModelCall]:
    depth = _depths(observations)
    for observation in observations:
        if observation.get("type") == "GENERATION":
            given = _unfolded(observation.get("input"))
            prompt = task_in(given)  # where it was asked in one text
            asked = messages_in(given) or [{"role": "user", "content": prompt}][: bool(prompt)]
            answered = messages_in(_unfolded(observation.get("output")), answer=True)
            within = depth.get(as_text(observation.get("id")), 0)
            yield ModelCall(asked, answered, as_text(observation.get("model")), within)


def _tool_calls(observations: list[Json]) -> Iterator[ToolCall]:
    depth = _depths(observations)
    for observation in observations:
        if _is_tool(observation):
            told = _attributes(observation)
            given, answer = (_unfolded(observation.get(key)) for key in ("input", "output"))
            failed = observation.get("level") == "ERROR"
            if failed and not answer:
                answer = observation.get("statusMessage")
            name = as_text(told.get("gen_ai.tool.name") or observation.get("name")) or "tool"
            call_id = as_text(told.get("gen_ai.tool.call.id"))
            within = depth.get(as_text(observation.get("id")), 0)
            yield ToolCall(name, given, answer, call_id, failed, within)


def _scores(scores: Iterable[Json]) -> Iterator[Score]:
    for score in scores:
        value = score.get("value")
        kind = score.get("dataType")
        if kind == "BOOLEAN" and value in (0, 1):
            value = value == 1
        elif kind == "CATEGORICAL":
            value = score.get("stringValue") or value
        source: OutcomeSource = "judge" if score.get("source") == "EVAL" else "stated"
        yield Score(as_text(score.get("name")), value, source, as_text(score.get("comment")))


def _unfolded(value: object) -> object:
    """Return a value out of the JSON text that holds it, as a text inside a text too."""
    for _ in range(_NESTED_TEXTS):
        inner = unfolded(unquoted(value))
        if inner is value:
            break
        value = inner
    return value


def _is_trace(value: object) -> bool:
    record = as_mapping(value)
    trace = _trace_of(record)
    observations = as_list(record.get("observations") or trace.get("observations"))
    first = as_mapping(observations[0]) if observations else {}
    return "id" in trace and "type" in first and ("startTime" in first or "traceId" in first)


READER = json_reader(
    name="langfuse",
    description="Langfuse: traces with observations and scores",
    is_own=_is_trace,
    read=each_conversation(_episode),
)
