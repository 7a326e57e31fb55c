"""For formats in which a log is a session: its records, one after another, make the episodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log, Record, located
from deltamem_tui.trajectory.model import LogSource, Trajectory
from deltamem_tui.trajectory.readers.reader import Reading


def whole_log(
    gather: Callable[[Iterable[Record], str], Iterable[Reading]],
) -> Callable[[Log], Iterator[Reading]]:
    """A reader's `read`, where records belong together.

    Args:
        gather: Turns the records of a log, given with the log's name, into episodes. Those
            of the log that cannot be read are reported without it.
    """

    def read(log: Log) -> Iterator[Reading]:
        refused: list[RecordError] = []

        def readable() -> Iterator[Record]:
            for item in log.records():
                if isinstance(item, RecordError):
                    refused.append(item)
                else:
                    yield item

        try:
            found = list(gather(readable(), log.name))
        except RecordError as error:
            found = [located(error, log.name)]
        yield from refused
        yield from found

    return read


def placed(trajectory: Trajectory, position: str) -> Trajectory:
    """The episode with where it begins in its log."""
    return replace(trajectory, source=LogSource(position=position))
