"""Logs that hold conversations and little else: found, counted once, and read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log, Preview, Record, located
from deltamem_tui.trajectory.model import LogSource, Trajectory
from deltamem_tui.trajectory.outcomes import recorded
from deltamem_tui.trajectory.readers.chat import episode
from deltamem_tui.trajectory.readers.held import Held
from deltamem_tui.trajectory.readers.messages import content_text
from deltamem_tui.trajectory.readers.prefixes import NAMES, Conversed, counted_once
from deltamem_tui.trajectory.readers.reader import Reading
from deltamem_tui.trajectory.readers.roles import speaker
from deltamem_tui.trajectory.readers.shapes import as_list, as_mapping, as_text, texts

_AGENT_KEYS = ("model", "model_name", "agent")


def is_message(value: object) -> bool:
    """Whether a value is one message of a conversation."""
    message = as_mapping(value)
    return speaker(message.get("role", message.get("from"))) is not None and bool(
        message.keys() & {"content", "value", "text", "parts", "tool_calls"}
    )


def are_messages(value: object) -> bool:
    """Whether a value is a list of messages and nothing else."""
    return isinstance(value, list) and bool(value) and all(map(is_message, value))


def _is_spoken(value: object) -> bool:
    """Whether a value is meant as a conversation, also if somebody unknown speaks in it."""
    return any(
        "role" in message or "from" in message for message in map(as_mapping, as_list(value))
    )


def are_records_messages(preview: Preview) -> bool:
    """Whether a log is one conversation, a message a record."""
    return bool(preview.records) and all(map(is_message, preview.records))


def conversations(log: Log, keys: tuple[str, ...]) -> Iterator[Conversed | RecordError]:
    """The conversations of a log: lists of messages, bare, under `keys`, or under any name.

    A log whose records are messages is one conversation.
    """
    loose: list[Record] = []
    held = Held("a conversation", log.limits)
    for item in log.records():
        if isinstance(item, RecordError):
            yield item
        elif is_message(item.value):
            loose.append(item)
            held.add(len(as_text(as_mapping(item.value).get("content"))), item.position)
        else:
            yield from _conversations_of(item, keys)
    if loose:
        yield Conversed([item.value for item in loose], loose[0].position)


def _conversations_of(item: Record, keys: tuple[str, ...]) -> Iterator[Conversed | RecordError]:
    record = as_mapping(item.value)
    key = next((key for key in keys if isinstance(record.get(key), list)), "")
    if isinstance(item.value, list):
        yield Conversed(item.value, item.position)
    elif key:
        yield Conversed(as_list(record[key]), item.position, record)
    elif named := {name: value for name, value in record.items() if _is_spoken(value)}:
        for name, value in named.items():
            yield Conversed(as_list(value), f"{item.position}, key {name}", {"id": name})
    else:
        yield RecordError(f"no list of messages under `{keys[0]}`", position=item.position)


def read_conversations(
    *keys: str,
    of_calls: bool = False,
    domain: Callable[[Trajectory], str] | None = None,
) -> Callable[[Log], Iterator[Reading]]:
    """A reader's `read`, for logs of conversations.

    Args:
        keys: Where a record may hold its messages.
        of_calls: Whether records may be the calls of a model, each of which repeats all
            that was said before; then the longest counts, once.
        domain: Tells the kind of environment of an episode, where the format can.
    """

    def read(log: Log) -> Iterator[Reading]:
        found = conversations(log, keys)
        for item in counted_once(found) if of_calls else found:
            if isinstance(item, RecordError):
                yield item
                continue
            try:
                trajectory = episode_in(item)
            except RecordError as error:
                yield located(error, log.name, item.position)
                continue
            yield replace(trajectory, domain=domain(trajectory)) if domain else trajectory

    return read


def episode_in(item: Conversed) -> Trajectory:
    """The episode of one conversation, with what its record says about it.

    Raises:
        RecordError: It has no task, or a message that nobody can read.
    """
    record = item.record
    trajectory = episode(item.messages)
    if not trajectory.environment:
        system = content_text(record.get("system")).strip()
        trajectory = replace(trajectory, environment=system)
    return replace(
        trajectory,
        outcome=recorded(record),
        source=LogSource(position=item.position),
        agent=agent_of(record),
        metadata=texts(record, NAMES),
    )


def agent_of(record: Mapping[str, object]) -> str:
    """The model that acted, as a record names it; empty if it does not."""
    names = (record.get(key) for key in _AGENT_KEYS)
    return next((name for name in names if isinstance(name, str)), "")
