"""Logs that hold conversations and little else: OpenAI's, Anthropic's, ShareGPT's, gateways'."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
from deltamem_tui.trajectory.readers.messages import content_text, speaker
from deltamem_tui.trajectory.readers.reader import (
    Reader,
    Reading,
    conversation_readings,
    share,
)
from deltamem_tui.trajectory.readers.sessions import BESIDE, SizeGuard, rest_refused
from deltamem_tui.trajectory.readers.shapes import (
    Json,
    as_list,
    as_mapping,
    texts,
)
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


def counted_once(
    found: Iterator[ChatRecord | RecordError],
) -> Iterator[ChatRecord | RecordError]:
    """Yield conversations, of several that go on the same one the longest.

    Conversations with names or outcomes of their own are never taken together, nor any with what
    was touched before the last few.
    """
    held: list[ChatRecord | RecordError] = []
    for item in found:
        for index, other in enumerate(held):
            if _goes_on(other, item):
                held.append(_joined(held.pop(index), item))
                break
            if _goes_on(item, other):
                break
        else:
            held.append(item)
        if len(held) > _MOST_HELD:
            yield held.pop(0)
    yield from held


def _joined(
    shorter: ChatRecord | RecordError, longer: ChatRecord | RecordError
) -> ChatRecord | RecordError:
    """Return the longer conversation, with what the model thought, which only the shorter has."""
    if isinstance(shorter, RecordError) or isinstance(longer, RecordError):
        return longer
    rest = longer.messages[len(shorter.messages) :]
    return with_fields(longer, messages=[*shorter.messages, *rest])


def _goes_on(shorter: ChatRecord | RecordError, longer: ChatRecord | RecordError) -> bool:
    """Return True if a conversation begins with all of another, of which nothing else is said."""
    if isinstance(shorter, RecordError) or isinstance(longer, RecordError):
        return False
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
    said = {key: value for key, value in message.items() if key not in _UNSAID and value}
    if calls := as_list(said.get("tool_calls")):
        said["tool_calls"] = [_call(as_mapping(call)) for call in calls]
    content = said.get("content")
    if isinstance(content, list):
        parts = [_plain_part(part) for part in content if _kind(part) not in _UNSAID]
        said["content"] = parts[0] if len(parts) == 1 and isinstance(parts[0], str) else parts
    return dict(sorted(said.items()))


def _kind(part: object) -> str:
    return str(as_mapping(part).get("type"))


def _plain_part(part: object) -> object:
    """Return a part of a content without what is said to a cache, a lone text as the text."""
    if not isinstance(part, dict):
        return part
    plain: Mapping[str, object] = {k: v for k, v in part.items() if k != "cache_control"}
    return plain["text"] if plain.keys() == {"type", "text"} else dict(sorted(plain.items()))


def _call(call: Json) -> list[object]:
    function = as_mapping(call.get("function")) or call
    return [call.get("id"), function.get("name"), function.get("arguments")]


_SAID = frozenset({"content", "value", "text", "parts", "tool_calls"})
_AGENT_KEYS = ("model", "model_name", "agent")


def is_message(value: object) -> bool:
    """Return True if a value is one message of a conversation."""
    message = as_mapping(value)
    who = speaker(message.get("role", message.get("from")))
    return who is not None and not message.keys().isdisjoint(_SAID)


def _are_messages(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(is_message, value))


def _is_spoken(value: object) -> bool:
    """Return True if a value is meant as a conversation, also if an unknown speaker is in it."""
    messages = map(as_mapping, as_list(value))
    return any("role" in message or "from" in message for message in messages)


def _conversations(log: Log, keys: tuple[str, ...]) -> Iterator[ChatRecord | RecordError]:
    """Yield a log's lists of messages, under `keys` or any name; loose ones make one, to a gap."""
    loose: list[object] = []
    position, has_gap, is_over = "", False, False
    held = SizeGuard("a conversation", log.limits)
    for value in log.values():
        size = 0 if isinstance(value, RecordError) else len(value.data)
        found = [value] if isinstance(value, RecordError) else list(log.parsed(value))
        has_gap = has_gap or not any(isinstance(item, Record) for item in found)
        for item in found:
            if isinstance(item, RecordError):
                yield item
            elif not _is_loose(item.value, keys):
                yield from _conversations_of(item, keys)
            elif not is_over and loose and has_gap:
                is_over = True
                yield rest_refused(item.position)
            elif not is_over:
                held.add(size + BESIDE, item.position)
                position, has_gap = position or item.position, False
                loose.append(item.value)
    if loose:
        yield ChatRecord(loose, position)


def _is_loose(value: object, keys: tuple[str, ...]) -> bool:
    """Return True if a record is meant as a message, also if an unknown speaker is in it."""
    record = as_mapping(value)
    return _is_spoken([record]) and bool(record.keys() & _SAID) and not _listed(record, keys)


def _conversations_of(item: Record, keys: tuple[str, ...]) -> Iterator[ChatRecord | RecordError]:
    record = as_mapping(item.value)
    if isinstance(item.value, list):
        yield ChatRecord(item.value, item.position)
    elif key := _listed(record, keys):
        yield ChatRecord(
            as_list(record[key]),
            item.position,
            names={name: record[name] for name in NAMING_KEYS if name in record},
            system=content_text(record.get("system")).strip(),
            agent=agent_of(record),
            outcome=_outcome(record),
        )
    elif named := {name: value for name, value in record.items() if _is_spoken(value)}:
        for name, value in named.items():
            place = f"{item.position}, key {quoted(name, 80)}"
            yield ChatRecord(as_list(value), place, {"id": name})
    else:
        yield RecordError(f"no list of messages under `{keys[0]}`", position=item.position)


def _outcome(record: Json) -> Outcome:
    # Data sets of runs on issues have another word for it; alone it may mean anything.
    if type(record.get("target")) is bool and "generated_patch" in record:
        return recorded_anywhere(record, otherwise=stated(record["target"]))
    return recorded_anywhere(record)


def _listed(record: Json, keys: tuple[str, ...]) -> str:
    return next((key for key in keys if isinstance(record.get(key), list)), "")


def _read_conversations(*keys: str, of_calls: bool = False) -> Callable[[Log], Iterator[Reading]]:

    def read(log: Log) -> Iterator[Reading]:
        found = _conversations(log, keys)
        for item in counted_once(found) if of_calls else found:
            if isinstance(item, RecordError):
                yield item
            else:
                yield from conversation_readings(item.position, episode_in, item)

    return read


def episode_in(conversation: Conversation, item: ChatRecord) -> Trajectory:
    """Return the episode of a conversation, with what its record says about it."""
    trajectory = episode(item.messages, conversation=conversation)
    return replace(
        trajectory,
        environment=trajectory.environment or item.system,
        outcome=item.outcome,
        agent=item.agent,
        metadata=texts(item.names, NAMING_KEYS),
    )


def agent_of(record: Mapping[str, object]) -> str:
    """Return the model that acted, as a record names it; empty if it does not."""
    names = (record.get(key) for key in _AGENT_KEYS)
    return next((name for name in names if isinstance(name, str)), "")


_BLOCKS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"}
    | {"web_search_tool_result", "web_fetch_tool_result", "mcp_tool_use", "mcp_tool_result"}
)


def _has_blocks(messages: object) -> bool:
    messages = map(as_mapping, as_list(messages))
    parts = (as_mapping(part) for each in messages for part in as_list(each.get("content")))
    return any(isinstance(part.get("type"), str) and part["type"] in _BLOCKS for part in parts)


def _lists_in(record: object, keys: tuple[str, ...]) -> list[object]:
    under = [each for key in keys if (each := as_mapping(record).get(key)) is not None]
    return under[:1] or [*as_mapping(record).values()] or [record]


def _claims(
    keys: tuple[str, ...], sureness: float, is_own: Callable[[object], bool], *, of_all: bool = True
) -> Callable[[Preview], float]:
    """Return how sure a reader is of conversations whose messages are its own, all or some."""

    def claims(preview: Preview) -> float:
        whole = [*preview.records]
        if _are_messages(whole):  # a message a record
            return sureness * is_own(whole)
        lists = [each for record in whole for each in _lists_in(record, keys)]
        if not of_all and not any(map(is_own, lists)):
            return 0.0
        return sureness * share(
            preview,
            lambda record: all(
                _are_messages(each) and (is_own(each) or not of_all)
                for each in _lists_in(record, keys)
            ),
        )

    return claims


def _is_openai(messages: object) -> bool:
    return not _has_blocks(messages) and all("role" in as_mapping(m) for m in as_list(messages))


ANTHROPIC = Reader(
    name="anthropic",
    description="Anthropic messages: content blocks of text, tool_use and tool_result",
    # Conversations without a tool call stand beside those that have some.
    claims=_claims(("messages",), 0.6, _has_blocks, of_all=False),
    read=_read_conversations("messages", of_calls=True),
)
OPENAI = Reader(
    name="openai-chat",
    description="OpenAI chat: messages with role, content and tool_calls",
    # The plainest of formats: any reader that knows more about a log is surer of it.
    claims=_claims(("messages", "trajectory"), 0.5, _is_openai),
    read=_read_conversations("messages", "trajectory", of_calls=True),
)


def _is_sharegpt(messages: object) -> bool:
    return "from" in as_mapping(as_list(messages)[0] if as_list(messages) else None)


def _sharegpt_claims(preview: Preview) -> float:
    under = [as_mapping(record).get("conversations") for record in preview.records]
    named = 0.8 * sum(map(_are_messages, under)) / max(len(under), 1)
    return max(named, _claims((), 0.8, _is_sharegpt)(preview))


SHAREGPT = Reader(
    name="sharegpt",
    description="ShareGPT, AgentInstruct, ETO: conversations of from and value",
    claims=_sharegpt_claims,
    read=_read_conversations("conversations"),
)
