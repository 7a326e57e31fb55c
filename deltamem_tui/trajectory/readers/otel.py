"""OpenTelemetry spans of agents: the GenAI conventions, and OpenInference's flattened ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.record import LogLimits
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.outcome_keys import Score, verdict_of_whole
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import json_reader
from deltamem_tui.trajectory.readers.sessions import SizeGuard, stray
from deltamem_tui.trajectory.readers.shapes import (
    Json,
    as_list,
    as_mapping,
    as_text,
    natural_key,
    unfolded,
)
from deltamem_tui.trajectory.readers.spans import (
    ModelCall,
    ToolCall,
    depths,
    last_message,
    moment,
    task_in,
    trace_episode,
)
from deltamem_tui.trajectory.readers.trace_store import MOST_NAME, as_name, each_trace

# Typed values that lie deeper than this are nothing that a span is read for.
_SPAN_DEEPEST = 20
_NAMES = "name them less deeply, or leave out what is not an attribute of an agent"


@dataclass(slots=True)
class Span:
    """A span in one shape, whoever exported it: attributes by dotted names, of its events too."""

    parent: str
    name: str
    start: tuple[int, float, str]
    attributes: dict[str, object]
    id: str = ""
    failed: bool = False
    events: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    annotations: list[Json] = field(default_factory=list)


def _spans_in(record: Json) -> Iterator[Json]:
    """Yield the spans of a record: one span, or a whole export of the protocol."""
    if not isinstance(record.get("resourceSpans"), list):
        for item in as_list(record.get("spans")) or [record]:
            yield as_mapping(item)
        return
    for resource in map(as_mapping, as_list(record["resourceSpans"])):
        for scope in map(as_mapping, as_list(resource.get("scopeSpans"))):
            yield from map(as_mapping, as_list(scope.get("spans")))


def _trace_of(item: Json) -> object:
    """Return what a span calls its trace; None if it does not say."""
    context = as_mapping(item.get("context"))
    return context.get("trace_id") or item.get("traceId") or item.get("trace_id")


def _in_one_shape(spans: Iterable[object], limits: LogLimits) -> list[Span]:
    names = SizeGuard("a trace whose attributes, named in full, have names", limits, hint=_NAMES)
    return sorted((_span(as_mapping(each), names) for each in spans), key=lambda span: span.start)


def _span(item: Json, names: SizeGuard) -> Span:
    parent = item.get("parent_id") or item.get("parentSpanId") or item.get("parent_span_id")
    start = item.get("start_time") or item.get("startTimeUnixNano") or item.get("startTime")
    attributes = _attributes(item.get("attributes"), names)
    if kind := item.get("span_kind"):
        attributes.setdefault("openinference.span.kind", kind)
    return Span(
        parent=as_text(parent),
        name=as_text(item.get("name")),
        start=moment(start),
        attributes=attributes,
        id=as_text(
            as_mapping(item.get("context")).get("span_id")
            or item.get("spanId")
            or item.get("span_id")
        ),
        failed=_has_failed(item),
        events=[
            (as_text(event.get("name")), _attributes(event.get("attributes"), names))
            for event in map(as_mapping, as_list(item.get("events")))
        ],
        annotations=[as_mapping(note) for note in as_list(item.get("annotations"))],
    )


def _has_failed(item: Json) -> bool:
    status = as_mapping(item.get("status"))
    code = status.get("code", status.get("status_code", item.get("status_code")))
    return code == 2 or as_text(code).upper().endswith("ERROR")


def _attributes(value: object, names: SizeGuard) -> dict[str, object]:
    """Attributes as a flat object; the protocol's JSON keeps them as a list of typed values."""
    if isinstance(value, list):
        pairs = map(as_mapping, value)
        return {as_text(pair.get("key")): _any_value(pair.get("value")) for pair in pairs}
    flat: dict[str, object] = {}
    waiting = [("", as_mapping(value))]
    while waiting:
        prefix, level = waiting.pop()
        names.add(len(prefix) * len(level))
        for key, inner in level.items():
            if isinstance(inner, dict) and inner:
                waiting.append((f"{prefix}{key}.", inner))
            else:
                flat[f"{prefix}{key}"] = inner
    return flat


def _any_value(value: object, depth: int = 0) -> object:
    """Return a typed value of the protocol's JSON as a plain one."""
    typed = as_mapping(value)
    if depth > _SPAN_DEEPEST:
        return None
    if "arrayValue" in typed:
        values = as_list(as_mapping(typed["arrayValue"]).get("values"))
        return [_any_value(item, depth + 1) for item in values]
    if "kvlistValue" in typed:
        pairs = map(as_mapping, as_list(as_mapping(typed["kvlistValue"]).get("values")))
        return {
            as_text(pair.get("key")): _any_value(pair.get("value"), depth + 1) for pair in pairs
        }
    return next(iter(typed.values()), None)


_EVENT_MESSAGES = {
    **{f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")},
    "gen_ai.choice": "assistant",
}
# Dotted names that go deeper than this are not messages.
_DEEPEST = 20


def _parts(value: object) -> Iterator[tuple[str, Json] | RecordError]:
    for span in _spans_in(as_mapping(value)):
        if trace := as_name(_trace_of(span)):
            yield trace, span
        else:
            yield stray(f"a span without a trace id of up to {MOST_NAME} characters")


def _episode(
    conversation: Conversation, trace: str, found: list[object], limits: LogLimits
) -> Trajectory:
    spans = _in_one_shape(found, limits)
    root = next((span for span in spans if not span.parent), spans[0])
    model_calls = list(_model_calls(spans))
    given = task_in(unfolded(root.attributes.get("input.value")))
    return trace_episode(
        conversation,
        model_calls,
        list(_tool_calls(spans)),
        task="" if any(call.asked for call in model_calls) else given,
        asked=given,
        ended=[] if root.parent or root.failed else _last_message(root),
        outcome=_outcome(spans),
        metadata={"id": trace, "name": root.name},
    )


def _outcome(spans: list[Span]) -> Outcome:
    """Return what the scores of the one span say that all others are a part of, if there is one."""
    tops = [span for span in spans if not span.parent]
    is_one = all(span == tops[0] for span in tops)  # some exporters tell a span twice
    whole = tops[:1] if is_one else []
    parts = [span for span in spans if span.parent or not is_one]
    return verdict_of_whole(
        (score for span in whole for score in _scores(span)),
        (score for span in parts for score in _scores(span)),
    )


def _depths(spans: list[Span]) -> dict[str, int]:
    return depths((span.id, span.parent, _is_tool(span) or _is_agent(span)) for span in spans)


def _is_agent(span: Span) -> bool:
    given = span.attributes
    kind = given.get("openinference.span.kind") or given.get("gen_ai.operation.name")
    return kind in ("AGENT", "invoke_agent")


def _model_calls(spans: list[Span]) -> Iterator[ModelCall]:
    depth = _depths(spans)
    for span in spans:
        given = span.attributes
        asked, answered = _messages(given, "gen_ai.input.messages"), []
        if asked or "gen_ai.output.messages" in given:
            asked = _system(given) + asked
            answered = _messages(given, "gen_ai.output.messages")
        elif tree := as_mapping(_tree(given).get("llm")):
            asked = _openinference(tree.get("input_messages"))
            answered = _openinference(tree.get("output_messages"))
        if not asked:
            asked = list(_event_messages(span))
        names = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
        model = next((as_text(given[name]) for name in names if given.get(name)), "")
        yield ModelCall(asked, answered, model, depth.get(span.id, 0))


def _last_message(root: Span) -> list[object]:
    """Return what the trace gave back at the end, unless it is a call of one tool by itself."""
    if _is_tool(root):
        return []
    given = root.attributes
    answered = last_message(given.get("gen_ai.output.messages"))
    return answered or last_message(given.get("output.value"))


def _messages(attributes: dict[str, object], key: str) -> list[object]:
    return as_list(unfolded(attributes.get(key)))


def _system(attributes: dict[str, object]) -> list[object]:
    """Return the system prompt, which the conventions keep apart from the messages."""
    parts = unfolded(attributes.get("gen_ai.system_instructions"))
    return [{"role": "system", "content": parts}] if parts else []


def _openinference(messages: object) -> list[object]:
    """Messages out of OpenInference's nesting, where each thing is wrapped in its own name."""
    return [_opened(as_mapping(item).get("message", item)) for item in as_list(messages)]


def _opened(message: object) -> Json:
    opened = dict(as_mapping(message))
    calls = as_list(opened.get("tool_calls"))
    if calls:
        opened["tool_calls"] = [as_mapping(call).get("tool_call", call) for call in calls]
    contents = as_list(opened.pop("contents", None))
    if contents:
        opened["content"] = [as_mapping(item).get("message_content", item) for item in contents]
    return opened


def _event_messages(span: Span) -> Iterator[Json]:
    """Messages that an older convention keeps as events of the span."""
    for name, attributes in span.events:
        if role := _EVENT_MESSAGES.get(name):
            body = as_mapping(unfolded(attributes.get("message"))) or attributes
            content = body.get("content", body.get("gen_ai.event.content"))
            calls = unfolded(body.get("tool_calls"))
            call_id = body.get("id", body.get("tool_call_id"))
            yield {"role": role, "content": content, "tool_calls": calls, "tool_call_id": call_id}


def _tool_calls(spans: list[Span]) -> Iterator[ToolCall]:
    depth = _depths(spans)
    for span in spans:
        given = span.attributes
        if _is_tool(span):
            name = as_text(given.get("gen_ai.tool.name") or given.get("tool.name") or span.name)
            arguments = given.get("gen_ai.tool.call.arguments", given.get("input.value"))
            answer = given.get("gen_ai.tool.call.result", given.get("output.value"))
            call_id = as_text(given.get("gen_ai.tool.call.id"))
            within = depth.get(span.id, 0)
            yield ToolCall(name, unfolded(arguments), answer, call_id, span.failed, within)


def _is_tool(span: Span) -> bool:
    given = span.attributes
    named = "gen_ai.tool.name" in given or "tool.name" in given
    return named or given.get("openinference.span.kind") == "TOOL"


def _scores(span: Span) -> Iterator[Score]:
    evaluations = [span.attributes]
    evaluations += [attributes for name, attributes in span.events if "evaluation" in name]
    for given in evaluations:
        if name := as_text(given.get("gen_ai.evaluation.name")):
            value = given.get("gen_ai.evaluation.score.value")
            label = given.get("gen_ai.evaluation.score.label")
            reason = as_text(given.get("gen_ai.evaluation.explanation"))
            yield Score(name, label if value is None else value, reason=reason)
    for annotation in span.annotations:
        result = as_mapping(annotation.get("result"))
        score = result.get("score")
        yield Score(
            as_text(annotation.get("name")),
            result.get("label") if score is None else score,
            "judge" if annotation.get("annotator_kind") == "LLM" else "stated",
            as_text(result.get("explanation")),
        )


def _tree(attributes: dict[str, object]) -> Json:
    """Dotted names as nested objects; where all names of a level are numbers, as ordered lists."""
    tree: dict[str, object] = {}
    for name, value in attributes.items():
        if not name.startswith("llm."):
            continue
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


def _is_span(value: object) -> bool:
    record = as_mapping(value)
    if "resourceSpans" in record:
        return True
    spans = as_list(record.get("spans")) or [record]
    span = as_mapping(spans[0])
    traced = (
        "traceId" in span or "trace_id" in span or "trace_id" in as_mapping(span.get("context"))
    )
    return traced and ("attributes" in span or "span_kind" in span) and "name" in span


OTEL = json_reader(
    name="otel",
    description="OpenTelemetry GenAI and OpenInference spans, as OTLP JSON or flat",
    is_own=_is_span,
    read=each_trace(_parts, _episode),
)
