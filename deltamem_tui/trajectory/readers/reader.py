"""Definition of a reader: a name, a way to tell its own logs, and a way to read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Concatenate, ParamSpec

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Notice, Preview, Record, located
from deltamem_tui.trajectory.model import LogSource, Trajectory
from deltamem_tui.trajectory.readers.conversation import Conversation, NothingAskedError

_P = ParamSpec("_P")

Part = tuple[str, Callable[[Conversation], Trajectory]]
"""The place of a part in its record (`sample 3`), and what makes it an episode."""
Reading = Trajectory | RecordError | Notice
"""An item of a log: an episode, a refusal, or a notice of what is left out by design."""


UNDISPUTED = 0.96
"""How sure no two readers are of one log: no other need be asked."""


@dataclass(frozen=True, slots=True)
class Reader:
    """One log format.

    Attributes:
        name: What `--format` and an episode's source call it.
        description: One line for people.
        claims: How sure it is, from 0 (not mine) to 1 (mine beyond doubt), that a log is of
            this format. It sees the log's beginning and never raises.
        read: The episodes of a log in order, refused records as a `RecordError` in their place,
            and what it leaves out by design as a `Notice`. One that it raises ends the log.
    """

    name: str
    description: str
    claims: Callable[[Preview], float]
    read: Callable[[Log], Iterator[Reading]]


def json_reader(
    name: str,
    description: str,
    is_own: Callable[[object], bool],
    read: Callable[[Log], Iterator[Reading]],
    sureness: float = 0.95,
) -> Reader:
    """Return a reader of JSON, as sure as the share of its own among the first records."""
    return Reader(name, description, lambda preview: sureness * share(preview, is_own), read)


def share(preview: Preview, matches: Callable[[object], bool]) -> float:
    """Return the share of a JSON log's first records that satisfy `matches`; 0 if it has none."""
    if not preview.records:
        return 0.0
    return sum(map(matches, preview.records)) / len(preview.records)


def conversation_readings(
    position: str,
    parse: Callable[Concatenate[Conversation, _P], Trajectory],
    *args: _P.args,
    **named: _P.kwargs,
) -> Iterator[Reading]:
    """Yield what `parse` makes of a new conversation and its arguments, and what it leaves out."""
    conversation = Conversation()
    try:
        trajectory = parse(conversation, *args, **named)
    except NothingAskedError as error:
        yield Notice(error.message, position=position)
        return
    except RecordError as error:
        yield located(error, "", position)
        return
    facts = {key: fact for key, fact in trajectory.metadata.items() if fact}
    yield replace(trajectory, source=LogSource(position=position), metadata=facts)
    yield from (located(remark, "", position) for remark in conversation.left_out())


def each_part(
    parts: Callable[[object], Iterable[Part]],
    records: Callable[[Log], Iterable[Record | RecordError]] = Log.records,
) -> Callable[[Log], Iterator[Reading]]:
    """Return a reader's `read`, for formats in which a JSON record holds several conversations."""

    def read(log: Log) -> Iterator[Reading]:
        for item in records(log):
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
