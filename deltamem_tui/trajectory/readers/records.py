"""Ways to read a log record by record, or entry by entry of a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Concatenate, ParamSpec

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.notice import located
from deltamem_tui.trajectory.logs.record import Record
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import Reading, each_record, placed_or_refused
from deltamem_tui.trajectory.readers.shapes import as_mapping
from deltamem_tui.trajectory.secrets.quoting import quoted

_P = ParamSpec("_P")


def conversation_readings(
    position: str,
    parse: Callable[Concatenate[Conversation, _P], Trajectory],
    *args: _P.args,
    **named: _P.kwargs,
) -> Iterator[Reading]:
    """What `parse` makes of a new conversation and its arguments, and what it leaves out."""
    conversation = Conversation()
    reading = placed_or_refused(position, parse, conversation, *args, **named)
    yield reading
    if isinstance(reading, Trajectory):
        yield from (located(remark, "", position) for remark in conversation.left_out())


def each_conversation(
    parse: Callable[[Conversation, object], Trajectory],
) -> Callable[[Log], Iterator[Reading]]:
    """A reader's `read`, for formats in which every JSON record is one conversation."""

    def readings(value: object) -> Iterator[Reading]:
        return conversation_readings("", parse, value)

    return each_record(readings)


_LOOKED_AT = 8


def each_entry(
    parse: Callable[[str, object], Trajectory],
    is_entry: Callable[[object], bool] = lambda _: False,
) -> Callable[[Log], Iterator[Reading]]:
    """A reader's `read`, where every value of every record is an episode."""

    def readings(position: str, name: str, value: object) -> Iterator[Reading]:
        yield placed_or_refused(position, parse, name, value)

    return _each_entry(readings, is_entry)


def each_conversation_in(
    parse: Callable[[Conversation, str, object], Trajectory],
) -> Callable[[Log], Iterator[Reading]]:
    """A reader's `read`, where every value of every record is a conversation.

    Args:
        parse: Adds what stands under a name to a new conversation, and returns its episode.
    """
    return _each_entry(
        lambda position, name, value: conversation_readings(position, parse, name, value)
    )


def _each_entry(
    readings: Callable[[str, str, object], Iterator[Reading]],
    is_entry: Callable[[object], bool] = lambda _: False,
) -> Callable[[Log], Iterator[Reading]]:
    def read(log: Log) -> Iterator[Reading]:
        for item in log.records():
            if isinstance(item, RecordError):
                yield item
                continue
            for name, value, position in _entries(item, is_entry):
                yield from readings(position, name, value)

    return read


def _entries(
    record: Record, is_entry: Callable[[object], bool]
) -> Iterator[tuple[str, object, str]]:
    if not isinstance(record.value, dict) or is_entry(record.value):
        yield "", record.value, record.position
        return
    for name, value in record.value.items():
        yield name, value, f"{record.position}, key {quoted(name, 80)}"


def all_entries(matches: Callable[[object], bool]) -> Callable[[object], bool]:
    """Whether a record is an object whose first values satisfy `matches`."""

    def match(record: object) -> bool:
        values = list(islice(as_mapping(record).values(), _LOOKED_AT))
        return bool(values) and all(map(matches, values))

    return match
