"""For formats in which a log is a session: its records, one after another, make the episodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.limits import human_size
from deltamem_tui.trajectory.logs.log import Log, Record, located
from deltamem_tui.trajectory.readers.reader import Reading

_BESIDE = 500  # bytes that a record takes beside its text, or why it is refused


def whole_log(
    gather: Callable[[Iterable[Record], str], Iterable[Reading]],
) -> Callable[[Log], Iterator[Reading]]:
    """A reader's `read`, where records belong together.

    Args:
        gather: Turns the records of a log, given with the log's name, into episodes. Those
            of the log that cannot be read are reported without it, each before what is
            gathered after it.
    """

    def read(log: Log) -> Iterator[Reading]:
        refused: list[RecordError] = []
        held = 0  # bytes of records, and of refusals, that no episode followed yet

        def readable() -> Iterator[Record]:
            nonlocal held
            for value in log.values():
                held += _BESIDE
                if isinstance(value, RecordError):
                    refused.append(value)
                    continue
                held += len(value.data)
                if held > log.limits.session_bytes:
                    raise _too_much(log, value.position)
                for item in log.parsed(value):
                    if isinstance(item, RecordError):
                        refused.append(item)
                    else:
                        yield item

        try:
            for reading in gather(readable(), log.name):
                held = 0
                yield from refused
                refused.clear()
                yield reading
        except RecordError as error:
            refused.append(located(error, log.name))
        yield from refused

    return read


def _too_much(log: Log, position: str) -> RecordError:
    return RecordError(
        f"more than {human_size(log.limits.session_bytes)} of records that belong together",
        position=position,
        hint="split the log by session or trace",
    )


def stray(why: str, position: str) -> RecordError:
    """Why a record is refused that is no part of the session it stands in.

    Args:
        why: What it lacks, or has that nobody knows.
        position: Where it stands.
    """
    return RecordError(
        f"no part of the session: {why}",
        position=position,
        hint="leave it out, or say with `--format` what the log is",
    )
