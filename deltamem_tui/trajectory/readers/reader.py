"""What a reader is: a name, a way to tell its own logs, and a way to read them.

A format is one module with one `READER`. It builds trajectories from records and says
where each began; cleaning, limits, file names, outcomes drawn from rewards and the
reporting of what failed are the frame's part (see `reading`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.notice import Notice, located
from deltamem_tui.trajectory.logs.record import Preview, Record
from deltamem_tui.trajectory.model import LogSource, Trajectory

Reading = Trajectory | RecordError | Notice
"""What comes out of a log: an episode, why a record is none, or what is left out by design."""


@dataclass(frozen=True, slots=True)
class Reader:
    """One log format.

    Attributes:
        name: What `--format` and an episode's source call it.
        description: One line for people.
        claims: How sure it is, from 0 (not mine) to 1 (mine beyond doubt), that a log is of
            this format. It sees the log's beginning and never raises.
        read: The episodes of a log in order. A record that must be refused comes as a
            `RecordError` in its place, and what it leaves out by design as a `Notice`. A
            `RecordError` it raises ends the log.
        is_typed: Whether decoding has checked the types of its episodes already.
    """

    name: str
    description: str
    claims: Callable[[Preview], float]
    read: Callable[[Log], Iterator[Reading]]
    is_typed: bool = False


def json_reader(
    name: str,
    description: str,
    is_own: Callable[[object], bool],
    read: Callable[[Log], Iterator[Reading]],
    sureness: float = 0.95,
    is_typed: bool = False,
) -> Reader:
    """A reader of JSON, as sure of a log as the share of its first records is large that it knows.

    Args:
        name: As of a `Reader`; so are `description` and `read`.
        description: One line for people.
        is_own: Whether a record is of this format.
        read: The episodes of a log in order.
        sureness: How sure it is if all are.
        is_typed: As of a `Reader`.
    """

    def claims(preview: Preview) -> float:
        return sureness * share(preview, is_own)

    return Reader(name, description, claims, read, is_typed)


def each_record(
    parse: Callable[[object], Trajectory | Iterable[Reading]],
) -> Callable[[Log], Iterator[Reading]]:
    """A reader's `read`, for formats in which every JSON record is an episode or several.

    Args:
        parse: Turns one parsed record into its trajectories, or raises `RecordError`. Of
            several, one that is none is a `RecordError` in its place; one that is raised
            ends the record.
    """

    def read(log: Log) -> Iterator[Reading]:
        for item in log.records():
            yield from readings_of(item, parse, log)

    return read


def readings_of(
    item: Record | RecordError, parse: Callable[[object], Trajectory | Iterable[Reading]], log: Log
) -> Iterator[Reading]:
    """The trajectories of one record, or why there are none.

    Args:
        item: The record.
        parse: As for `each_record`.
        log: The log that it stands in.
    """
    if isinstance(item, RecordError):
        yield item
        return
    try:
        parsed = parse(item.value)
        for found in [parsed] if isinstance(parsed, Trajectory) else parsed:
            if isinstance(found, Trajectory):
                yield _placed(found, item)
            else:
                yield located(found, log.name, item.position)
    except RecordError as error:
        yield located(error, log.name, item.position)


def _placed(trajectory: Trajectory, record: Record) -> Trajectory:
    source = trajectory.source
    if source.position or source.file:
        return trajectory
    return replace(trajectory, source=LogSource(position=record.position, format=source.format))


def share(preview: Preview, matches: Callable[[object], bool]) -> float:
    """The share of a JSON log's first records that satisfy `matches`; 0 if it has none."""
    if not preview.records:
        return 0.0
    return sum(map(matches, preview.records)) / len(preview.records)
