"""Traces as OpenTelemetry and OpenInference export them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.outcomes import Score, verdict_of_whole
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import json_reader
from deltamem_tui.trajectory.readers.sessions import stray
from deltamem_tui.trajectory.readers.shapes import (
    Json,
    as_list,
    as_mapping,
    as_text,
    natural_key,
    unfolded,
)
from deltamem_tui.trajectory.readers.traces import (
    MOST_NAME,
    Span,
    as_name,
    each_trace,
    moment,
    task_in,
    trace_episode,
)

# Dotted names, typed values and JSON in JSON that go deeper are nothing that a span is read for.
_DEEPEST = 20
_EVENT_MESSAGES = {
    **{f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")},
    "gen_ai.choice": "assistant",
}


def _first(record: Json, *keys: str) -> object:
    return next((record[key] for key in keys if record.get(key)), None)


@dataclass(slots=True, eq=False)
class _OtelSpan(Span):
    """A span whoever exported it: attributes by dotted names, of its events too."""

    title: str = ""
    attributes: dict[str, object] = field(default_factory=dict)
    events: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    annotations: list[Json] = field(default_factory=list)


def _otel_parts(value: object) -> Iterator[tuple[str, Json] | RecordError]:
    for span in _otel_spans(as_mapping(value)):
        trace = as_mapping(span.get("context")).get("trace_id")
        if name := as_name(trace or _first(span, "traceId", "trace_id")):
            yield name, span
        else:
            yield stray(f"a span without a trace id of up to {MOST_NAME} characters")


def _otel_spans(record: Json) -> Iterator[Json]:
    if not isinstance(record.get("resourceSpans"), list):
        yield from map(as_mapping, as_list(record.get("spans")) or [record])
        return
    for resource in map(as_mapping, as_list(record["resourceSpans"])):
        for scope in map(as_mapping, as_list(resource.get("scopeSpans"))):
            yield from map(as_mapping, as_list(scope.get("spans")))


def _otel_span(item: Json) -> _OtelSpan:
    given = _attributes(item.get("attributes"))
    kind = given.get("openinference.span.kind") or item.get("span_kind")
    is_tool = kind == "TOOL" or "gen_ai.tool.name" in given or "tool.name" in given
    context, name = as_mapping(item.get("context")), as_text(item.get("name"))
    status = as_mapping(item.get("status"))
    code = status.get("code", status.get("status_code", item.get("status_code")))
    span = _OtelSpan(
        id=as_text(context.get("span_id") or _first(item, "spanId", "span_id")),
        parent=as_text(_first(item, "parent_id", "parentSpanId", "parent_span_id")),
        name=as_text(_first(given, "gen_ai.tool.name", "tool.name") or name) if is_tool else name,
        start=moment(_first(item, "start_time", "startTimeUnixNano", "startTime")),
        is_tool=is_tool,
        model=as_text(
            _first(given, "gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
        ),
        given=unfolded(given.get("gen_ai.tool.call.arguments", given.get("input.value"))),
        answer=given.get("gen_ai.tool.call.result", given.get("output.value")),
        call_id=as_text(given.get("gen_ai.tool.call.id")),
        failed=code == 2 or as_text(code).upper().endswith("ERROR"),
        title=name,
        attributes=given,
        events=[
            (as_text(event.get("name")), _attributes(event.get("attributes")))
            for event in map(as_mapping, as_list(item.get("events")))
        ],
        annotations=[as_mapping(note) for note in as_list(item.get("annotations"))],
    )
    span.asked, span.answered = _otel_messages(span)
    return span


def _attributes(value: object) -> dict[str, object]:
    """Attributes as a flat object; the protocol's JSON keeps them as a list of typed values."""
    if isinstance(value, list):
        pairs = map(as_mapping, value)
        return {as_text(pair.get("key")): _any_value(pair.get("value")) for pair in pairs}
    flat: dict[str, object] = {}
    waiting = [("", as_mapping(value))]
    while waiting:
        prefix, level = waiting.pop()
        for key, inner in level.items():
            if isinstance(inner, dict) and inner and len(prefix) + len(key) < MOST_NAME:
                waiting.append((f"{prefix}{key}.", inner))
            else:
                flat[f"{prefix}{key}"] = inner
    return flat


def _any_value(value: object, depth: int = 0) -> object:
    typed = as_mapping(value)
    if depth > _DEEPEST:
        return None
    if "arrayValue" in typed:
        values = as_list(as_mapping(typed["arrayValue"]).get("values"))
        return [_any_value(item, depth + 1) for item in values]
    if "kvlistValue" in typed:
        pairs = map(as_mapping, as_list(as_mapping(typed["kvlistValue"]).get("values")))
        return {
            as_text(each.get("key")): _any_value(each.get("value"), depth + 1) for each in pairs
        }
    return next(iter(typed.values()), None)


def _otel_messages(span: _OtelSpan) -> tuple[list[object], list[object]]:
    given = span.attributes
    asked = as_list(unfolded(given.get("gen_ai.input.messages")))
    if asked or "gen_ai.output.messages" in given:
        rules = unfolded(given.get("gen_ai.system_instructions"))
        system: list[object] = [{"role": "system", "content": rules}] if rules else []
        return system + asked, as_list(unfolded(given.get("gen_ai.output.messages")))
    if tree := as_mapping(_tree(given).get("llm")):
        asked = _openinference(tree.get("input_messages"))
        return asked or list(_event_messages(span)), _openinference(tree.get("output_messages"))
    return list(_event_messages(span)), []


def _openinference(messages: object) -> list[object]:
    return [_opened(as_mapping(item).get("message", item)) for item in as_list(messages)]


def _opened(message: object) -> Json:
    opened = dict(as_mapping(message))
    calls, contents = as_list(opened.get("tool_calls")), as_list(opened.pop("contents", None))
    if calls:
        opened["tool_calls"] = [as_mapping(call).get("tool_call", call) for call in calls]
    if contents:
        opened["content"] = [as_mapping(item).get("message_content", item) for item in contents]
    return opened


def _event_messages(span: _OtelSpan) -> Iterator[Json]:
    """Messages that an older convention keeps as events of the span."""
    for name, attributes in span.events:
        if role := _EVENT_MESSAGES.get(name):
            body = as_mapping(unfolded(attributes.get("message"))) or attributes
            content = body.get("content", body.get("gen_ai.event.content"))
            calls = unfolded(body.get("tool_calls"))
            call_id = body.get("id", body.get("tool_call_id"))
            yield {"role": role, "content": content, "tool_calls": calls, "tool_call_id": call_id}


def _tree(attributes: Json) -> Json:
    """Dotted names as nested objects; where all names of a level are numbers, as ordered lists."""
    tree: dict[str, object] = {}
    named = ((name, value) for name, value in attributes.items() if name.startswith("llm."))
    for name, value in named:
        level = tree
        *path, last = name.split(".", _DEEPEST)
        for key in path:
            inner = level.setdefault(key, {})
            if not isinstance(inner, dict):
                break
            level = inner
        else:
            level[last] = value
    return as_mapping(_listed(tree))


def _listed(value: object) -> object:
    if not isinstance(value, dict):
        return value
    inner = {key: _listed(item) for key, item in value.items()}
    if inner and all(key.isdecimal() for key in inner):
        return [inner[key] for key in sorted(inner, key=natural_key)]
    return inner


def _otel_episode(conversation: Conversation, trace: str, found: list[object]) -> Trajectory:
    spans = sorted((_otel_span(as_mapping(each)) for each in found), key=lambda span: span.start)
    root = next((span for span in spans if not span.parent), spans[0])
    given = task_in(unfolded(root.attributes.get("input.value")))
    # Only the one span that all others are a part of speaks for the whole; some are told twice.
    tops = {(span.id, span.start): span for span in spans if not span.parent}
    whole = [*tops.values()] if len(tops) == 1 else []
    parts = [span for span in spans if span.parent or not whole]
    return trace_episode(
        conversation,
        spans,
        task="" if any(span.asked for span in spans) else given,
        asked=given,
        outcome=verdict_of_whole(_otel_scores(whole), _otel_scores(parts)),
        metadata={"id": trace, "name": root.title},
    )


def _otel_scores(spans: Iterable[_OtelSpan]) -> Iterator[Score]:
    for span in spans:
        told = (attributes for name, attributes in span.events if "evaluation" in name)
        for given in (span.attributes, *told):
            if name := as_text(given.get("gen_ai.evaluation.name")):
                label = given.get("gen_ai.evaluation.score.label")
                value = given.get("gen_ai.evaluation.score.value")
                reason = as_text(given.get("gen_ai.evaluation.explanation"))
                yield Score(name, label if value is None else value, reason=reason)
        for note in span.annotations:
            result = as_mapping(note.get("result"))
            score = result.get("score")
            yield Score(
                as_text(note.get("name")),
                result.get("label") if score is None else score,
                "judge" if note.get("annotator_kind") == "LLM" else "stated",
                as_text(result.get("explanation")),
            )


def _is_otel(value: object) -> bool:
    record = as_mapping(value)
    if "resourceSpans" in record:
        return True
    span = as_mapping((as_list(record.get("spans")) or [record])[0])
    keys = span.keys() | as_mapping(span.get("context")).keys()
    is_traced = "traceId" in span or "trace_id" in keys
    return is_traced and ("attributes" in span or "span_kind" in span) and "name" in span


OTEL = json_reader(
    name="otel",
    description="OpenTelemetry GenAI and OpenInference spans, as OTLP JSON or flat",
    is_own=_is_otel,
    read=each_trace(_otel_parts, _otel_episode),
)
