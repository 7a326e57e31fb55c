"""Traces: spans with parents, of which the calls of models and tools make one episode."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.outcomes import number
from deltamem_tui.trajectory.readers.coding import call_text, own_words
from deltamem_tui.trajectory.readers.conversation import Conversation, StepDraft
from deltamem_tui.trajectory.readers.messages import (
    add_messages,
    content_text,
    is_message,
    parts_of,
    role_of,
)
from deltamem_tui.trajectory.readers.shapes import (
    Json,
    as_json,
    as_list,
    as_mapping,
    as_object,
    as_text,
    opened_text,
)

# Where programs put what a user asked, and what they answered at the end.
_ASKED = (
    *("input", "query", "contents", "question", "prompt", "task", "goal", "new_message"),
    *("message", "text"),
)
_BATCHES = ("messages", "contents", "generations", "choices", "candidates", "output")
_MOST_DIGITS = 30  # of a number that is a time


def messages_in(value: object, *, answer: bool = False) -> list[object]:
    """Return the messages in what a tracer keeps as a model call's input or output."""
    if isinstance(value, str):
        return [{"role": "assistant", "content": value}] if answer and value else []
    if isinstance(value, list):
        return [item for item in _first_batch(value) if is_message(item)]
    record = as_mapping(value)
    if is_message(record):
        return [record]
    for key in _BATCHES:
        items = as_list(record.get(key))
        found = [item for item in _first_batch(items) if is_message(item)]
        if found := found or [item for item in map(_inner, items) if is_message(item)]:
            return _instructions(record) + found
    content = as_mapping(record.get("content") or record.get("message"))
    return [content] if is_message(content) else []


def _first_batch(items: list[object]) -> list[object]:
    return items[0] if items and isinstance(items[0], list) else items


def _inner(item: object) -> object:
    first = item[0] if isinstance(item, list) and item else item
    inner = as_mapping(first)
    return inner.get("message") or (is_message(inner) and first) or inner.get("content") or first


def _instructions(record: Json) -> list[object]:
    config = as_mapping(record.get("config"))
    beside = (record.get("system_instruction"), record.get("system"))
    given = next(filter(None, (config.get("system_instruction"), *beside)), None)
    text = content_text(given) or as_text(given)
    return [{"role": "system", "content": text}] if given else []


def task_in(value: object) -> str:
    """Return what a user asked, in whatever a trace keeps as its input; empty if not clear."""
    if isinstance(value, str):
        return own_words(value)
    if isinstance(value, list):
        users = [as_mapping(item) for item in value if role_of(as_mapping(item)) == "user"]
        texts = (own_words("\n".join(map(content_text, parts_of(user)))) for user in users)
        return next(filter(None, texts), "")
    record = as_mapping(value)
    if isinstance(record.get("messages"), list):
        return task_in(messages_in(record["messages"]))
    for key in _ASKED:
        inner = record.get(key)
        if isinstance(inner, str) and inner.strip():
            return own_words(inner)
        if isinstance(inner, dict) and role_of(inner) == "user":
            return task_in([inner])
        if isinstance(inner, list) and (found := task_in(inner)):
            return found
    return ""


def moment(value: object) -> tuple[int, float, str]:
    """Return a key that sorts times however they are written: none, numbers, dates, others."""
    text = as_text(value)
    if len(text) <= _MOST_DIGITS and text.isascii() and text.isdecimal():
        return 1, int(text), ""  # nanoseconds are more digits than a float keeps
    if (seconds := number(value)) is not None:
        return 1, seconds, ""
    with suppress(ValueError):
        date = datetime.fromisoformat(text)
        return 2, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp(), text
    return (3 if text else 0), 0, text


@dataclass(slots=True, eq=False)
class Span:
    """One span of a trace: a call of a model, of a tool, or what an agent did in all."""

    name: str = ""
    start: tuple[int, float, str] = (0, 0, "")
    is_tool: bool = False
    asked: Sequence[object] = ()
    answered: Sequence[object] = ()
    model: str = ""
    given: object = None
    answer: object = None
    call_id: str = ""
    failed: bool = False


def span_of(row: Json) -> Span:
    """Return the span that a row of a declaration tells of."""
    asked = opened_text(row.get("asked"))
    prompt = task_in(asked)  # where it was asked in one text
    return Span(
        name=as_text(row.get("name")) or "tool",
        start=moment(row.get("start")),
        is_tool=bool(row.get("is_tool")),
        asked=messages_in(asked) or [{"role": "user", "content": prompt}][: bool(prompt)],
        answered=messages_in(opened_text(row.get("answered")), answer=True),
        model=as_text(row.get("model")),
        given=opened_text(row.get("given")),
        answer=row.get("answer"),
        call_id=as_text(row.get("call_id")),
        failed=bool(row.get("failed")),
    )


def trace_episode(conversation: Conversation, spans: Sequence[Span], task: str = "") -> Trajectory:
    """Return the episode of one trace, whose spans are in order of time.

    The conversation is the longest that a model was asked in about the trace's own task, and the
    last of those that are as long. The task is what its user says, or what the trace says of that.
    """
    models = [span for span in spans if span.asked]
    tools = [span for span in spans if span.is_tool]
    begins = task or next(filter(None, (task_in(each.asked) for each in models)), "")
    own = [span for span in models if begins and begins in task_in(span.asked)] or models
    others = [span for span in models if task_in(span.asked) not in ("", begins)]
    if own is not models:
        conversation.pass_over("model call", "of another conversation", len(others))
    longest = max(reversed(own), key=lambda span: len(span.asked), default=None)
    if longest is None:
        conversation.user(task)
        _add_steps(conversation, tools)
    else:
        longest = _continued(longest, models)
        add_messages(conversation, longest.asked)
        _add_answer(conversation, longest.answered, tools)
    return conversation.episode(
        task=task if task in conversation.task or not conversation.task else "",
        environment=conversation.system,
        agent=longest.model if longest else "",
    )


def _continued(longest: Span, spans: Sequence[Span]) -> Span:
    """Return a call with those after it that were given only what is new: no word of a user."""
    for span in spans[spans.index(longest) + 1 :]:
        roles = {role_of(as_mapping(each)) for each in span.asked}
        if not roles & {"user", "system"}:
            heard = [*longest.asked, *longest.answered]
            known = set(map(as_json, heard))
            heard += [each for each in span.asked if as_json(each) not in known]
            model = longest.model or span.model
            longest = Span(asked=heard, answered=span.answered, model=model)
    return longest


def _add_answer(
    conversation: Conversation, answered: Sequence[object], tools: Sequence[Span]
) -> None:
    """Add what the model answered, and what the tools did that its messages leave out."""
    if not conversation.calls() and not add_messages(Conversation(), answered).calls():
        _add_steps(conversation, tools)  # the messages are the agent's first and last words
        add_messages(conversation, answered)
        return
    add_messages(conversation, answered)
    for span in tools:
        if conversation.awaits(span.call_id):
            conversation.answer(content_text(span.answer), span.call_id, failed=span.failed)
    _join(conversation.calls(), [span for span in tools if not span.call_id])


def _join(made: Sequence[StepDraft], tools: Sequence[Span]) -> None:
    """Answer the calls that no message answers by what was traced of the same calls."""
    runs, calls = defaultdict[str, list[Span]](list), defaultdict[str, list[StepDraft]](list)
    for span in tools:
        runs[call_text(span.name, as_object(span.given))].append(span)
    for call in made:
        calls[call.action].append(call)
    for text, found in runs.items():
        for call, run in zip(calls[text], found[-len(calls[text]) :], strict=False):
            if not call.answered:
                call.answer(content_text(run.answer), failed=run.failed)


def _add_steps(conversation: Conversation, tools: Sequence[Span]) -> None:
    for index, span in enumerate(tools):
        call_id = f"{index} {span.call_id}"
        conversation.call(span.name, span.given, call_id)
        conversation.answer(content_text(span.answer), call_id, failed=span.failed)
