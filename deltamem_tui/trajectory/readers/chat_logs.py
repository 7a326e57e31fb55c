"""Logs that hold conversations and little else: lists of messages, whoever wrote them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from dataclasses import replace as with_fields

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview, Record
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.outcomes import recorded_anywhere, stated
from deltamem_tui.trajectory.readers.chat import episode
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import content_text, parts_of, speaker
from deltamem_tui.trajectory.readers.reader import (
    BESIDE,
    Reader,
    Reading,
    SizeGuard,
    conversation_readings,
    rest_refused,
    share,
)
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text
from deltamem_tui.trajectory.secrets.redaction import quoted

_MOST_HELD = 16
NAMING_KEYS = ("id", "instance_id", "task_id", "traj_id", "uuid", "trial", "domain", "split")
"""Keys that tell a record's conversation from others, however alike they begin."""
# What a response has and no client repeats: notes of the service, and thoughts; and what is said
# to a cache alone.
_UNSAID = frozenset(
    {"annotations", "audio", "id", "model", "provider_specific_fields", "refusal", "stop_reason"}
    | {"reasoning", "reasoning_content", "reasoning_details", "thinking_blocks", "usage"}
    | {"stop_sequence", "thinking", "redacted_thinking", "type", "status", "container"}
    | {"cache_control"}
)


@dataclass(frozen=True, slots=True)
class ChatRecord:
    """A conversation as a log holds it, and what its record says about it."""

    messages: list[object]
    position: str
    names: Json = field(default_factory=dict)
    system: str = ""
    agent: str = ""
    outcome: Outcome = field(default_factory=Outcome)


def _counted_once(
    found: Iterator[ChatRecord | RecordError],
) -> Iterator[ChatRecord | RecordError]:
    """Yield conversations, of several that go on the same one the longest.

    Conversations with names or outcomes of their own are never taken together, nor any with what
    was touched before the last few.
    """
    held: list[ChatRecord] = []
    for item in found:
        if isinstance(item, RecordError):
            yield item
            continue
        for index, other in enumerate(held):
            if _goes_on(other, item):
                # What the model thought stands in the shorter alone.
                rest = item.messages[len(other.messages) :]
                del held[index]
                held.append(with_fields(item, messages=[*other.messages, *rest]))
                break
            if _goes_on(item, other):
                break
        else:
            held.append(item)
        if len(held) > _MOST_HELD:
            yield held.pop(0)
    yield from held


def _goes_on(shorter: ChatRecord, longer: ChatRecord) -> bool:
    """Return True if a conversation begins with all of another, of which nothing else is said."""
    if shorter.outcome.source == "stated" or len(shorter.messages) > len(longer.messages):
        return False
    if any(shorter.names.get(key) != longer.names.get(key) for key in NAMING_KEYS):
        return False
    pairs = zip(shorter.messages, longer.messages, strict=False)
    return all(_said(one) == _said(other) for one, other in pairs)


def _said(message: object) -> object:
    """Return what a message says, whether a model's service wrote it or a client repeats it."""
    if not isinstance(message, dict):
        return message
    parts = [_without_notes(part) for part in parts_of(message) if part.get("type") not in _UNSAID]
    calls = [_call(as_mapping(call)) for call in as_list(message.get("tool_calls"))]
    return {**_without_notes(message), "content": parts, "tool_calls": calls}


def _without_notes(value: Json) -> Json:
    return {key: inner for key, inner in value.items() if key not in _UNSAID and inner}


def _call(call: Json) -> list[object]:
    function = as_mapping(call.get("function")) or call
    return [call.get("id"), function.get("name"), function.get("arguments")]


_SAID = frozenset({"content", "value", "text", "parts", "tool_calls"})
_LISTS = ("messages", "conversations", "trajectory")
_AGENT_KEYS = ("model", "model_name", "agent")


def _is_spoken(value: object) -> bool:
    """Return True if a value is meant as a message, also if an unknown speaker is in it."""
    message = as_mapping(value)
    return ("role" in message or "from" in message) and not message.keys().isdisjoint(_SAID)


def _lists_in(value: object) -> dict[str, list[object]]:
    """Return the lists of messages in a record, by their keys: one under a known key, else all."""
    if isinstance(value, list):
        return {"": value}
    record = as_mapping(value)
    known = [key for key in _LISTS if isinstance(record.get(key), list)][:1]
    named = known or [key for key in record if any(map(_is_spoken, as_list(record[key])))]
    return {key: as_list(record[key]) for key in named}


def _conversations(log: Log) -> Iterator[ChatRecord | RecordError]:
    """Yield a log's lists of messages; loose ones make one, up to a gap."""
    loose: list[object] = []
    position, has_gap, is_over = "", False, False
    held = SizeGuard("a conversation", log.limits.record_bytes)
    for value in log.values():
        size = 0 if isinstance(value, RecordError) else len(value.data)
        found = [value] if isinstance(value, RecordError) else list(log.parsed(value))
        has_gap = has_gap or not any(isinstance(item, Record) for item in found)
        for item in found:
            if isinstance(item, RecordError):
                yield item
            elif lists := _lists_in(item.value):
                yield from (_chat(item, key, lists) for key in lists)
            elif not _is_spoken(item.value):
                reason = f"no list of messages under `{_LISTS[0]}`"
                yield RecordError(reason, position=item.position)
            elif not is_over and loose and has_gap:
                is_over = True
                yield rest_refused(item.position)
            elif not is_over:
                held.add(size + BESIDE, item.position)
                position, has_gap = position or item.position, False
                loose.append(item.value)
    if loose:
        yield ChatRecord(loose, position)


def _chat(item: Record, key: str, lists: dict[str, list[object]]) -> ChatRecord:
    record = as_mapping(item.value)
    models = (record.get(name) for name in _AGENT_KEYS)
    if key and key not in _LISTS:
        place = f"{item.position}, key {quoted(key, 80)}"
        return ChatRecord(lists[key], place, {"id": key})
    return ChatRecord(
        lists[key],
        item.position,
        names={name: record[name] for name in NAMING_KEYS if name in record},
        system=content_text(record.get("system")).strip(),
        agent=next((each for each in models if isinstance(each, str)), ""),
        outcome=_outcome(record),
    )


def _outcome(record: Json) -> Outcome:
    # Data sets of runs on issues have another word for it; alone it may mean anything.
    if type(record.get("target")) is bool and "generated_patch" in record:
        return recorded_anywhere(record, otherwise=stated(record["target"]))
    return recorded_anywhere(record)


def readings(found: Iterator[ChatRecord | RecordError]) -> Iterator[Reading]:
    """Yield the episodes of conversations, those that go on one another once."""
    for item in _counted_once(found):
        if isinstance(item, RecordError):
            yield item
        else:
            yield from conversation_readings(item.position, _episode, item)


def _episode(conversation: Conversation, item: ChatRecord) -> Trajectory:
    trajectory = episode(item.messages, conversation=conversation)
    return replace(
        trajectory,
        environment=trajectory.environment or item.system,
        outcome=item.outcome,
        agent=item.agent,
        metadata={key: as_text(item.names.get(key)) for key in NAMING_KEYS},
    )


def _is_message(value: object) -> bool:
    message = as_mapping(value)
    return _is_spoken(message) and speaker(message.get("role", message.get("from"))) is not None


def _is_chat(value: object) -> bool:
    lists = _lists_in(value).values()
    return bool(lists) and all(each and all(map(_is_message, each)) for each in lists)


def _claims(preview: Preview) -> float:
    """Return how sure the reader of the plainest format is: any that knows more is surer."""
    loose = bool(preview.records) and all(map(_is_message, preview.records))
    return 0.5 * (loose or share(preview, _is_chat))


READER = Reader(
    name="chat",
    description="chats: messages of role and content, or of from and value",
    claims=_claims,
    read=lambda log: readings(_conversations(log)),
)
