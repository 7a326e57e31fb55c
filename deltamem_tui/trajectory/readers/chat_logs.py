"""Logs that hold conversations and little else: found, counted once, and read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.limits import human_size
from deltamem_tui.trajectory.logs.log import Log, Preview, Record, located
from deltamem_tui.trajectory.model import LogSource, Trajectory
from deltamem_tui.trajectory.outcomes import recorded
from deltamem_tui.trajectory.readers.chat import ROLES, episode
from deltamem_tui.trajectory.readers.messages import content_text
from deltamem_tui.trajectory.readers.reader import Reading
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text, texts

METADATA = ("id", "instance_id", "task_id", "traj_id", "uuid", "trial", "domain", "split")
_AGENT_KEYS = ("model", "model_name", "agent")
_OPEN = 8  # how many conversations are kept for the call after, which repeats them


@dataclass(frozen=True, slots=True)
class Conversed:
    """A conversation as a log holds it.

    Attributes:
        messages: The messages, unparsed.
        position: Where it begins.
        record: What stands beside the messages: ids, the model, an outcome.
    """

    messages: list[object]
    position: str
    record: Json = field(default_factory=dict)


def is_message(value: object) -> bool:
    """Whether a value is one message of a conversation."""
    message = as_mapping(value)
    speaker = message.get("role", message.get("from"))
    return (
        isinstance(speaker, str)
        and speaker in ROLES
        and bool(message.keys() & {"content", "value", "text", "parts", "tool_calls"})
    )


def are_messages(value: object) -> bool:
    """Whether a value is a list of messages and nothing else."""
    return isinstance(value, list) and bool(value) and all(map(is_message, value))


def are_records_messages(preview: Preview) -> bool:
    """Whether a log is one conversation, a message a record."""
    return bool(preview.records) and all(map(is_message, preview.records))


def conversations(log: Log, keys: tuple[str, ...]) -> Iterator[Conversed | RecordError]:
    """The conversations of a log: lists of messages, bare, under `keys`, or under any name.

    A log whose records are messages is one conversation.
    """
    loose: list[Record] = []
    size = 0
    for item in log.records():
        if isinstance(item, RecordError):
            yield item
        elif is_message(item.value):
            loose.append(item)
            size += len(as_text(as_mapping(item.value).get("content")))
            if size > log.limits.record_bytes:
                most = human_size(log.limits.record_bytes)
                raise RecordError(f"a conversation of more than {most}", position=item.position)
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
    elif named := {name: value for name, value in record.items() if are_messages(value)}:
        for name, value in named.items():
            yield Conversed(as_list(value), f"{item.position}, key {name}", {"id": name})
    else:
        yield RecordError(f"no list of messages under `{keys[0]}`", position=item.position)


def counted_once(
    found: Iterator[Conversed | RecordError],
) -> Iterator[Conversed | RecordError]:
    """Conversations without those that a later or earlier one repeats from its beginning.

    Logs of model calls hold, at each call, all that was said before it: the longest is the
    episode. Conversations with names or outcomes of their own are never taken together.
    """
    waiting: list[Conversed | RecordError] = []
    for item in found:
        same = _found_again(item, waiting) if isinstance(item, Conversed) else None
        if same is None or isinstance(item, RecordError):
            waiting.append(item)
        elif len(item.messages) > len(same.messages):
            waiting[waiting.index(same)] = item
        if len(waiting) > _OPEN:
            yield waiting.pop(0)
    yield from waiting


def _found_again(item: Conversed, waiting: list[Conversed | RecordError]) -> Conversed | None:
    return next(
        (
            old
            for old in waiting
            if isinstance(old, Conversed) and (_repeats(item, old) or _repeats(old, item))
        ),
        None,
    )


def _repeats(longer: Conversed, shorter: Conversed) -> bool:
    if len(shorter.messages) >= len(longer.messages) or not shorter.messages:
        return False
    if any(shorter.record.get(key) != longer.record.get(key) for key in METADATA):
        return False
    if recorded(shorter.record).source == "stated":
        return False
    return longer.messages[: len(shorter.messages)] == shorter.messages


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
        metadata=texts(record, METADATA),
    )


def agent_of(record: Mapping[str, object]) -> str:
    """The model that acted, as a record names it; empty if it does not."""
    names = (record.get(key) for key in _AGENT_KEYS)
    return next((name for name in names if isinstance(name, str)), "")
