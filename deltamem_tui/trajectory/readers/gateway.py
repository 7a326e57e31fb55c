"""Logs of gateways and proxies to models: each record a request, and the response beside it.

The calls of one conversation, each of which repeats what was said before, are one episode.
"""

from __future__ import annotations

from collections.abc import Iterator

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Record
from deltamem_tui.trajectory.readers.chat_logs import agent_of, episode_in
from deltamem_tui.trajectory.readers.messages import content_text, speaker
from deltamem_tui.trajectory.readers.prefixes import ChatRecord, counted_once
from deltamem_tui.trajectory.readers.reader import Reading, conversation_readings, json_reader
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text, unfolded
from deltamem_tui.trajectory.readers.tasks import NO_OPENING
from deltamem_tui.trajectory.readers.traces import messages_in

# Where loggers put the two; one of the call itself has what was sent beside the response.
_REQUESTS = ("request", "request_body", "requestBody", "proxy_server_request", "req", "kwargs")
_RESPONSES = ("response", "response_body", "responseBody", "response_obj", "res")
_SENT = ("messages", "contents", "input")


def _read(log: Log) -> Iterator[Reading]:
    for item in counted_once(map(_call, log.records())):
        if isinstance(item, RecordError):
            yield item
        else:
            yield from conversation_readings(item.position, episode_in, item, NO_OPENING)


def _call(item: Record | RecordError) -> ChatRecord | RecordError:
    if isinstance(item, RecordError):
        return item
    record = as_mapping(item.value)
    sent, answered = _sent(record), _answered(record)
    if sent is None:
        return RecordError("a call without what the model was sent", position=item.position)
    asked = _asked(sent)
    told = [each for each in messages_in(answered, answer=True) if each not in asked[-1:]]
    return ChatRecord(
        [*map(_with_role, [*asked, *told])],
        item.position,
        system=content_text(sent.get("system") or sent.get("instructions")).strip(),
        agent=agent_of(as_mapping(answered)) or agent_of(sent) or agent_of(record),
    )


def _sent(record: Json) -> Json | None:
    """Return what the model was sent; None if the record does not say."""
    bodies = [_body(record.get(key)) for key in _REQUESTS]
    found = (body for body in (*bodies, record) if any(unfolded(body.get(key)) for key in _SENT))
    return next(found, None)


def _answered(record: Json) -> object:
    given = next((record[key] for key in _RESPONSES if record.get(key)), None)
    return _body(given) or unfolded(given)


def _body(given: object) -> Json:
    """Return the body of a request or a response, which may be written as text."""
    whole = as_mapping(unfolded(given))
    return as_mapping(unfolded(whole.get("body"))) or whole


def _asked(sent: Json) -> list[object]:
    for key in _SENT:
        given = unfolded(sent.get(key))
        if isinstance(given, str) and given:
            return [{"role": "user", "content": given}]
        if found := messages_in(as_mapping(given) or as_list(given)):
            return found
    return []


def _with_role(message: object) -> object:
    item = as_mapping(message)
    if not item or item.get("role") or item.get("from"):
        return message
    is_answer = as_text(item.get("type")).endswith("_output")
    return {"role": "tool" if is_answer else "assistant", "content": [item]}


def _is_call(value: object) -> bool:
    record = as_mapping(value)
    if record.keys().isdisjoint(_RESPONSES) or (sent := _sent(record)) is None:
        return False
    asked = _asked(sent)[:1]
    return bool(asked) and speaker(as_mapping(asked[0]).get("role")) is not None


READER = json_reader(
    name="gateway",
    description="requests to models and their responses, as litellm and gateways log them",
    is_own=_is_call,
    sureness=0.9,
    read=_read,
)
