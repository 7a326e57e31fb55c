"""Ways to read a log record by record: each an episode, a conversation, or several in parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Concatenate, ParamSpec

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.notice import located
from deltamem_tui.trajectory.model import LogSource, Trajectory
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import Reading
from deltamem_tui.trajectory.readers.shapes import as_mapping
from deltamem_tui.trajectory.secrets.quoting import quoted

_P = ParamSpec("_P")
Part = tuple[str, Callable[[Conversation], Trajectory]]
"""Where in its record a part stands (`sample 3`), and what makes it an episode."""


def conversation_readings(
    position: str,
    parse: Callable[Concatenate[Conversation, _P], Trajectory],
    *args: _P.args,
    **named: _P.kwargs,
) -> Iterator[Reading]:
    """What `parse` makes of a new conversation and its arguments, and what it leaves out."""
    conversation = Conversation()
    try:
        trajectory = parse(conversation, *args, **named)
    except RecordError as error:
        yield located(error, "", position)
        return
    yield replace(trajectory, source=LogSource(position=position))
    yield from (located(remark, "", position) for remark in conversation.left_out())


def each_part(parts: Callable[[object], Iterable[Part]]) -> Callable[[Log], Iterator[Reading]]:
    """A reader's `read`, for formats in which a JSON record holds several conversations.

    Args:
        parts: The parts of a record, an empty name for all of it; it may raise `RecordError`.
    """

    def read(log: Log) -> Iterator[Reading]:
        for item in log.records():
            if isinstance(item, RecordError):
                yield item
                continue
            try:
                for name, parse in parts(item.value):
                    position = f"{item.position}, {name}" if name else item.position
                    yield from conversation_readings(position, parse)
            except RecordError as error:
                yield located(error, log.name, item.position)

    return read


def each_conversation(
    parse: Callable[[Conversation, object], Trajectory],
) -> Callable[[Log], Iterator[Reading]]:
    """A reader's `read`, for formats in which every JSON record is one conversation."""
    return each_part(lambda value: [("", lambda conversation: parse(conversation, value))])


def _named(
    parse: Callable[[Conversation, str, object], Trajectory],
    name: str,
    value: object,
    conversation: Conversation,
) -> Trajectory:
    return parse(conversation, name, value)


_LOOKED_AT = 8


def each_entry(
    parse: Callable[[Conversation, str, object], Trajectory],
    is_entry: Callable[[object], bool] = lambda _: False,
) -> Callable[[Log], Iterator[Reading]]:
    """A reader's `read`, where every value of every record is an episode.

    Args:
        parse: Adds what stands under a name to a new conversation, and returns its episode.
        is_entry: Whether a record is an episode by itself, without a name.
    """

    def parts(value: object) -> Iterator[Part]:
        if not isinstance(value, dict) or is_entry(value):
            yield "", partial(_named, parse, "", value)
            return
        for name, entry in value.items():
            yield f"key {quoted(name, 80)}", partial(_named, parse, name, entry)

    return each_part(parts)


def all_entries(matches: Callable[[object], bool]) -> Callable[[object], bool]:
    """Whether a record is an object whose first values satisfy `matches`."""

    def match(record: object) -> bool:
        values = list(islice(as_mapping(record).values(), _LOOKED_AT))
        return bool(values) and all(map(matches, values))

    return match
