"""Logs that hold conversations and little else: OpenAI's, Anthropic's and ShareGPT's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import LogLimits, Preview, Record, Value
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.outcome_keys import recorded_anywhere
from deltamem_tui.trajectory.outcomes import stated
from deltamem_tui.trajectory.readers.chat import episode, opening_of
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import content_text, speaker
from deltamem_tui.trajectory.readers.prefixes import NAMING_KEYS, ChatRecord, counted_once
from deltamem_tui.trajectory.readers.reader import Reader, Reading, conversation_readings, share
from deltamem_tui.trajectory.readers.sessions import BESIDE, SizeGuard, rest_refused
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, texts
from deltamem_tui.trajectory.readers.tasks import Opening
from deltamem_tui.trajectory.secrets.redaction import quoted

_SAID = frozenset({"content", "value", "text", "parts", "tool_calls"})
_AGENT_KEYS = ("model", "model_name", "agent")


def is_message(value: object) -> bool:
    """Return True if a value is one message of a conversation."""
    message = as_mapping(value)
    return speaker(message.get("role", message.get("from"))) is not None and bool(
        message.keys() & _SAID
    )


def _are_messages(value: object) -> bool:
    """Return True if a value is a list of messages and nothing else."""
    return isinstance(value, list) and bool(value) and all(map(is_message, value))


def _is_spoken(value: object) -> bool:
    """Return True if a value is meant as a conversation, also if an unknown speaker is in it."""
    return any(
        "role" in message or "from" in message for message in map(as_mapping, as_list(value))
    )


def _are_records_messages(preview: Preview) -> bool:
    """Return True if a log is one conversation, a message a record."""
    return bool(preview.records) and all(map(is_message, preview.records))


def conversations(log: Log, keys: tuple[str, ...]) -> Iterator[ChatRecord | RecordError]:
    """Yield the conversations of a log: lists of messages, bare, under `keys`, or under any name.

    Records that are messages are one conversation, up to the first that cannot be read.
    """
    loose = _LooseMessages(log.limits)
    for value in log.values():
        size, found = _opened(value, log)
        loose.has_gap = loose.has_gap or not any(isinstance(item, Record) for item in found)
        for item in found:
            if isinstance(item, RecordError):
                yield item
            elif _is_loose(item.value, keys):
                yield from loose.hear(item, size)
            else:
                yield from _conversations_of(item, keys)
    yield from loose.conversation()


def _opened(value: Value | RecordError, log: Log) -> tuple[int, list[Record | RecordError]]:
    """Return how many bytes a value has, and what it holds."""
    if isinstance(value, RecordError):
        return 0, [value]
    return len(value.data), list(log.parsed(value))


def _is_loose(value: object, keys: tuple[str, ...]) -> bool:
    """Return True if a record is meant as a message, also if an unknown speaker is in it."""
    record = as_mapping(value)
    return _is_spoken([record]) and bool(record.keys() & _SAID) and not _listed(record, keys)


class _LooseMessages:
    """Messages that are records by themselves: one conversation, as long as it has no gap."""

    def __init__(self, limits: LogLimits) -> None:
        self.has_gap = False  # behind the last message
        self._messages: list[object] = []
        self._position = ""
        self._is_over = False
        self._held = SizeGuard("a conversation", limits)

    def hear(self, message: Record, size: int) -> Iterator[RecordError]:
        """Yield one message more, or why it and all that follow are left out."""
        if self._is_over:
            return
        if self._messages and self.has_gap:
            self._is_over = True
            yield rest_refused(message.position)
            return
        self.has_gap = False
        try:
            self._held.add(size + BESIDE, message.position)
        except RecordError as error:
            self._is_over = True
            self._messages.clear()
            yield error
            return
        self._position = self._position or message.position
        self._messages.append(message.value)

    def conversation(self) -> Iterator[ChatRecord]:
        """Yield what was said, if anything was."""
        if self._messages:
            yield ChatRecord(self._messages, self._position)


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
            yield ChatRecord(
                as_list(value), f"{item.position}, key {quoted(name, 80)}", {"id": name}
            )
    else:
        yield RecordError(f"no list of messages under `{keys[0]}`", position=item.position)


def _outcome(record: Json) -> Outcome:
    # Data sets of runs on issues have another word for it; alone it may mean anything.
    if type(record.get("target")) is bool and "generated_patch" in record:
        return recorded_anywhere(record, otherwise=stated(record["target"]))
    return recorded_anywhere(record)


def _listed(record: Json, keys: tuple[str, ...]) -> str:
    """Return the first of some keys that a record has a list under; empty if there is none."""
    return next((key for key in keys if isinstance(record.get(key), list)), "")


def _read_conversations(
    *keys: str, of_calls: bool = False, domain: Callable[[Trajectory], str] | None = None
) -> Callable[[Log], Iterator[Reading]]:
    """Return a reader's `read`, for logs of conversations."""

    def chats_in(value: object) -> Iterator[list[object]]:
        if not _is_loose(value, keys):
            for each in _conversations_of(Record(value, ""), keys):
                # Trials of one task may well begin alike, and with the user's own request.
                if isinstance(each, ChatRecord) and "trial" not in each.names:
                    yield each.messages

    def read(log: Log) -> Iterator[Reading]:
        parse = partial(episode_in, common=opening_of(log, chats_in))
        found = conversations(log, keys)
        for item in counted_once(found) if of_calls else found:
            if isinstance(item, RecordError):
                yield item
                continue
            for reading in conversation_readings(item.position, parse, item):
                if domain and isinstance(reading, Trajectory):
                    yield replace(reading, domain=domain(reading))
                else:
                    yield reading

    return read


def episode_in(conversation: Conversation, item: ChatRecord, common: Opening) -> Trajectory:
    """Return the episode of a conversation, with what its record says about it."""
    trajectory = episode(item.messages, conversation=conversation, common=common)
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
    """Return True if messages hold blocks that only this format has."""
    return any(
        as_mapping(part).get("type") in _BLOCKS
        for message in as_list(messages)
        for part in as_list(as_mapping(message).get("content"))
        if isinstance(as_mapping(part).get("type"), str)
    )


def _messages(record: object) -> object:
    return as_mapping(record).get("messages", record)


def _anthropic_claims(preview: Preview) -> float:
    if _are_records_messages(preview):
        return 0.6 * _has_blocks(list(preview.records))
    if not any(_has_blocks(_messages(record)) for record in preview.records):
        return 0.0
    # Conversations without a tool call stand beside those that have some.
    return 0.6 * share(preview, lambda record: _are_messages(_messages(record)))


ANTHROPIC = Reader(
    name="anthropic",
    description="Anthropic messages: content blocks of text, tool_use and tool_result",
    claims=_anthropic_claims,
    read=_read_conversations("messages", of_calls=True),
)


# The plainest of formats: any reader that knows more about a log is surer of it.
_SURENESS = 0.5
_KEYS = ("messages", "trajectory")


def _is_chat(value: object) -> bool:
    record = as_mapping(value)
    under = [record[key] for key in _KEYS if key in record]
    if record and not under:
        return all(map(_are_own, record.values()))
    return _are_own(under[0] if under else value)


def _are_own(messages: object) -> bool:
    return (
        _are_messages(messages)
        and not _has_blocks(messages)
        and all("role" in as_mapping(message) for message in as_list(messages))
    )


def _openai_claims(preview: Preview) -> float:
    if _are_records_messages(preview):
        return _SURENESS * _are_own(list(preview.records))
    return _SURENESS * share(preview, _is_chat)


OPENAI = Reader(
    name="openai-chat",
    description="OpenAI chat: messages with role, content and tool_calls",
    claims=_openai_claims,
    read=_read_conversations(*_KEYS, of_calls=True),
)


# These data sets name an episode after its environment: `alfworld_155`, `webshop_0`.
_NAMED_ID = re.compile(r"(?P<name>[a-z]{1,20}\d?[a-z]{0,20})_\d+")
_DOMAINS = {
    **{name: name for name in ("alfworld", "webshop", "mind2web", "scienceworld")},
    "sciworld": "scienceworld",
    "os": "os",
    "db": "database",
    "kg": "knowledge-graph",
}


def _domain(trajectory: Trajectory) -> str:
    found = _NAMED_ID.fullmatch(trajectory.metadata.get("id", ""))
    return _DOMAINS.get(found["name"], "") if found else ""


def _is_sharegpt(value: object) -> bool:
    return _are_messages(as_mapping(value).get("conversations", value)) and (
        isinstance(value, dict) or "from" in as_mapping(value[0] if isinstance(value, list) else 0)
    )


def _sharegpt_claims(preview: Preview) -> float:
    if _are_records_messages(preview):
        return 0.8 * all("from" in as_mapping(record) for record in preview.records)
    return 0.8 * share(preview, _is_sharegpt)


SHAREGPT = Reader(
    name="sharegpt",
    description="ShareGPT, AgentInstruct, ETO: conversations of from and value",
    claims=_sharegpt_claims,
    read=_read_conversations("conversations", domain=_domain),
)
