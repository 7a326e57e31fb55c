"""What tracing tools keep of a call, in whatever shape: messages, a task, last words, a time."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import orjson

from deltamem_tui.trajectory.outcomes import number
from deltamem_tui.trajectory.readers.messages import content_text, is_message, parts_of, role_of
from deltamem_tui.trajectory.readers.shapes import (
    Json,
    as_list,
    as_mapping,
    as_text,
    unfolded,
)
from deltamem_tui.trajectory.readers.user_text import own_words

# Where programs put what a user asked, and what they answered at the end, when they trace their
# own functions.
_ASKED = ("input", "query", "question", "prompt", "task", "goal", "new_message", "message", "text")
_ANSWERED = ("output", "answer", "final_answer", "final_output", "response")
# In place of an answer: that there is none, in JSON and as Python shows it, or how it went.
_NO_ANSWER = re.compile(
    r"(?:null|none|true|false|ok|okay|success|successful|succeeded|done|completed?|finished"
    r"|error|fail|failed|failure)[.!]*|error:.*|traceback .*",
    re.IGNORECASE | re.DOTALL,
)

# Of an object as Python shows it; a longer one stays text.
_MOST_SHOWN = 10_000
# Of a number that is a time; anything longer is none.
_MOST_DIGITS = 30
_BEGIN, _SECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(seconds=1)


def messages_in(value: object, *, answer: bool = False) -> list[object]:
    """The messages in what a tracer keeps as a model call's input or output.

    Args:
        value: A list of messages, or an object that holds one in any provider's way.
        answer: Whether it is what the model answered, in which plain text is a message too.
    """
    if isinstance(value, list):
        # Some tracers keep a batch of conversations; the first is this one's.
        batch = value[0] if value and isinstance(value[0], list) else value
        return [item for item in batch if is_message(item)]
    if isinstance(value, str):
        return [{"role": "assistant", "content": value}] if answer and value else []
    record = as_mapping(value)
    if is_message(record):
        return [record]
    for key in ("messages", "contents", "generations", "choices", "output"):
        items = as_list(record.get(key))
        batch = items[0] if items and isinstance(items[0], list) else items
        found = [item for item in batch if is_message(item)]
        found = found or [item for item in map(_inner, items) if is_message(item)]
        if found:
            return _instructions(record) + found
    content = as_mapping(record.get("content") or record.get("message"))
    return [content] if is_message(content) else []


def task_in(value: object) -> str:
    """What a user asked, in whatever a trace keeps as its input; empty if that is not clear."""
    if isinstance(value, str):
        return own_words(value)
    if isinstance(value, list):
        users = [as_mapping(item) for item in value if role_of(as_mapping(item)) == "user"]
        texts = [own_words("\n".join(map(content_text, parts_of(user)))) for user in users]
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


def last_words(value: object) -> list[object]:
    """The agent's last message, in whatever a trace keeps as its output; none if not clear."""
    value = as_object(unfolded(_unquoted(value)))
    if isinstance(value, dict) and not is_message(value):
        texts = (value.get(key) for key in _ANSWERED)
        value = next((text for text in texts if isinstance(text, str) and text.strip()), value)
    if isinstance(value, str) and _NO_ANSWER.fullmatch(value.strip()):
        return []
    last = messages_in(value, answer=True)[-1:]
    return [message for message in last if role_of(as_mapping(message)) == "agent"]


def _unquoted(value: object) -> object:
    """A text that was written as JSON once more."""
    if isinstance(value, str) and value.startswith('"'):
        with suppress(ValueError):
            return orjson.loads(value)
    return value


def moment(value: object) -> tuple[int, float, str]:
    """A key by which a trace's parts are in order of time, however their times are written.

    Those without one are before all others, as they are in the log; then come numbers, also
    as text, and dates by what they mean.
    """
    text = as_text(value)
    if not text:
        return 0, 0, ""
    if len(text) <= _MOST_DIGITS and text.isascii() and text.isdecimal():
        return 1, int(text), ""  # nanoseconds are more digits than a float keeps
    if (seconds := number(value)) is not None:
        return 1, seconds, ""
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        return 3, 0, text
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return 2, (date - _BEGIN) / _SECOND, text


def as_object(given: object) -> object:
    """What a tracer has kept as an object, also where it is written as Python shows one."""
    if not isinstance(given, str) or not given.startswith("{'") or len(given) > _MOST_SHOWN:
        return given
    try:
        return ast.literal_eval(given)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return given


def _inner(item: object) -> object:
    """The message inside a choice, a generation or a batch of one."""
    first = item[0] if isinstance(item, list) and item else item
    return as_mapping(first).get("message") or first


def _instructions(record: Json) -> list[object]:
    """A system prompt that stands beside the messages."""
    config = as_mapping(record.get("config"))
    for text in (
        config.get("system_instruction"),
        record.get("system_instruction"),
        record.get("system"),
    ):
        if text:
            return [{"role": "system", "content": content_text(text) or as_text(text)}]
    return []
