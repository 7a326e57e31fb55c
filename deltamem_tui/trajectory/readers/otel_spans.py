"""Spans of OpenTelemetry in one shape, whoever exported them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from deltamem_tui.trajectory.logs.limits import Limits
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text
from deltamem_tui.trajectory.readers.size_guard import Held
from deltamem_tui.trajectory.readers.traced import moment

# Typed values that lie deeper than this are nothing that a span is read for.
_DEEPEST = 20
_NAMES = "name them less deeply, or leave out what is no attribute of an agent"


@dataclass(slots=True)
class Span:
    """A span in one shape, whoever exported it.

    Attributes:
        parent: The id of the span that called it; empty if none did.
        name: What was done.
        start: When it began (see `moment`).
        attributes: All that is told of it, by dotted names.
        failed: Whether its status is an error.
        events: What happened meanwhile: names, each with its attributes.
        annotations: What others said of it later, as the exporter has it.
    """

    parent: str
    name: str
    start: tuple[int, float, str]
    attributes: dict[str, object]
    failed: bool = False
    events: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    annotations: list[Json] = field(default_factory=list)


def spans_in(record: Json) -> Iterator[Json]:
    """The spans of a record: one span, or a whole export of the protocol."""
    if not isinstance(record.get("resourceSpans"), list):
        for item in as_list(record.get("spans")) or [record]:
            yield as_mapping(item)
        return
    for resource in map(as_mapping, as_list(record["resourceSpans"])):
        for scope in map(as_mapping, as_list(resource.get("scopeSpans"))):
            yield from map(as_mapping, as_list(scope.get("spans")))


def trace_of(item: Json) -> object:
    """What a span calls its trace; None if it does not say."""
    context = as_mapping(item.get("context"))
    return context.get("trace_id") or item.get("traceId") or item.get("trace_id")


def in_one_shape(spans: Iterable[object], limits: Limits) -> list[Span]:
    """The spans of a trace in order of time.

    Raises:
        RecordError: The names of their attributes, in full, are more than may be held.
    """
    names = Held("a trace whose attributes, named in full, have names", limits, hint=_NAMES)
    return sorted((_span(as_mapping(each), names) for each in spans), key=lambda span: span.start)


def _span(item: Json, names: Held) -> Span:
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
        failed=_has_failed(item),
        events=[
            (as_text(event.get("name")), _attributes(event.get("attributes"), names))
            for event in map(as_mapping, as_list(item.get("events")))
        ],
        annotations=[as_mapping(note) for note in as_list(item.get("annotations"))],
    )


def _has_failed(item: Json) -> bool:
    """Whether a span's status is an error, in the protocol's number or an exporter's word."""
    status = as_mapping(item.get("status"))
    code = status.get("code", status.get("status_code", item.get("status_code")))
    return code == 2 or as_text(code).upper().endswith("ERROR")


def _attributes(value: object, names: Held) -> dict[str, object]:
    """Attributes as a flat object; the protocol's JSON keeps them as a list of typed values.

    Args:
        value: What a span or an event has as its attributes.
        names: Counts the names of levels that are repeated in the names of all below them: a
            few bytes of JSON may make many.

    Raises:
        RecordError: They are more than may be held.
    """
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
    """A typed value of the protocol's JSON as a plain one."""
    typed = as_mapping(value)
    if depth > _DEEPEST:
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
