"""Agent Data Protocol: `{id, content, details}` with typed observations and actions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.outcome_keys import recorded_anywhere
from deltamem_tui.trajectory.readers.chat import episode, opening_of
from deltamem_tui.trajectory.readers.chat_logs import agent_of
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import Reading, each_conversation, json_reader
from deltamem_tui.trajectory.readers.shapes import (
    Json,
    as_list,
    as_mapping,
    as_text,
    required_list,
    texts,
    without_images,
)
from deltamem_tui.trajectory.readers.tasks import Opening
from deltamem_tui.trajectory.secrets.redaction import quoted

_DETAILS = ("exit_status", "dataset", "split", "task_id", "instance_id")
_QUOTED = re.compile(r"\A\"[^\"\\\n]*\"\Z")


def _read(log: Log) -> Iterator[Reading]:
    common = opening_of(log, lambda value: [_messages(value)])
    yield from each_conversation(lambda chat, value: _episode(chat, value, common))(log)


def _episode(conversation: Conversation, value: object, common: Opening) -> Trajectory:
    record = as_mapping(value)
    required_list(record, "content")
    seen, rest = _first_sight(list(_messages(record)))
    trajectory = episode(rest, environment=seen, conversation=conversation, common=common)
    details = as_mapping(record.get("details"))
    return replace(
        trajectory,
        outcome=recorded_anywhere(details),
        agent=agent_of(details),
        metadata=texts(record, ("id",)) | texts(details, _DETAILS),
    )


def _messages(record: object) -> Iterator[Json]:
    content = [as_mapping(item) for item in as_list(as_mapping(record).get("content"))]
    if content and _class(content[0]) == "message_action":
        # Data sets of screens let the user's wish stand first, as if the agent had said it.
        content[0] = {"class_": "text_observation", "source": "user", **_without_class(content[0])}
    yield from map(_message, content)


def _first_sight(messages: list[Json]) -> tuple[str, list[Json]]:
    """Return what the agent saw before it did anything, and the messages without it."""
    acts = (index for index, message in enumerate(messages) if message["role"] == "assistant")
    begin = next(acts, len(messages))
    seen = [as_text(each["content"]) for each in messages[:begin] if each["role"] == "tool"]
    rest = [each for each in messages[:begin] if each["role"] != "tool"]
    return "\n".join(seen), rest + messages[begin:]


def _message(item: Json) -> Json:
    """Return one observation or action as the message that it is in a chat."""
    kind = _class(item)
    text = without_images(as_text(item.get("content")))
    if kind == "text_observation" and item.get("name") == "system":
        return {"role": "system", "content": text}
    if kind == "text_observation":
        by_user = item.get("source") == "user"
        return {"role": "user" if by_user else "tool", "content": text}
    if kind in ("web_observation", "image_observation"):
        return {"role": "tool", "content": _page(item)}
    thought = as_text(item.get("description")).strip()
    if kind == "message_action":
        return {"role": "assistant", "content": _unmarked(text), "thought": thought}
    if kind == "api_action":
        arguments = {key: _bare(given) for key, given in as_mapping(item.get("kwargs")).items()}
        call = {"name": as_text(item.get("function")) or "tool", "arguments": arguments}
    elif kind == "code_action":
        language = as_text(item.get("language")) or "code"
        call = {"name": language, "arguments": {"command": text} if language == "bash" else text}
    else:
        raise RecordError(f"an item of unknown class {quoted(kind or 'none', 40)}")
    return {"role": "assistant", "content": thought, "tool_calls": [call]}


def _page(item: Json) -> str:
    """Return a page in words, with a note that there was a picture of it."""
    seen = item.get("axtree") or item.get("html")
    address = as_text(item.get("url"))
    pictured = _class(item) == "image_observation" or item.get("image_observation")
    parts = [f"URL: {address}" if address else "", as_text(seen), "[image]" if pictured else ""]
    if _class(item) == "image_observation":
        labels = [
            as_text(as_mapping(mark).get("text")) for mark in as_list(item.get("annotations"))
        ]
        parts.append(" | ".join(filter(None, labels)))
    return "\n".join(filter(None, parts))


def _unmarked(text: str) -> str:
    """Return the agent's words without the mark that the protocol puts around its last, if any."""
    opening, closing = "<finish>", "</finish>"
    if not (text.startswith(opening) and text.endswith(closing)):
        return text
    return text[len(opening) : -len(closing)].strip() or "finish"


def _bare(value: object) -> object:
    """Return text without the quotation marks that some converters left around it."""
    return value[1:-1] if isinstance(value, str) and _QUOTED.match(value) else value


def _class(item: Json) -> str:
    return as_text(item.get("class_"))


def _without_class(item: Json) -> Json:
    return {key: value for key, value in item.items() if key != "class_"}


def _is_protocol(value: object) -> bool:
    content = as_list(as_mapping(value).get("content"))
    return bool(content) and all("class_" in as_mapping(item) for item in content)


READER = json_reader(
    name="agent-data-protocol",
    description="Agent Data Protocol: id, content of typed observations and actions, details",
    is_own=_is_protocol,
    read=_read,
)
