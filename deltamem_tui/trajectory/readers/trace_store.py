"""Parts of traces, in whatever order a log has them: on the disk until all of them are there.

The spans of one trace may lie anywhere in a log. What is held in memory of each is only where
it was put, and one trace at a time once the log is at its end.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from sys import getsizeof
from tempfile import SpooledTemporaryFile

from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.trajectory.logs.json_text import parse_json
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import LogLimits, human_size, located
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import Reading, conversation_readings
from deltamem_tui.trajectory.readers.sessions import BESIDE, Records, whole_log
from deltamem_tui.trajectory.readers.shapes import as_text

MOST_IN_MEMORY = 16_000_000
"""How many bytes of parts are kept in memory before the disk is asked."""
MOST_NAME = 300
"""How many characters the name of a trace or of a part of it may have."""
# Bytes that tell where a part lies.
_PLACE = 2 * array("Q").itemsize
_SPLIT = "split the log by trace"


@dataclass(slots=True)
class _Trace:
    """What is known of a trace; `places` are where each part was put, and its length, in turn."""

    position: str
    size: int = 0
    places: array[int] = field(default_factory=lambda: array("Q"))
    is_refused: bool = False


class TraceStore:
    """The parts of traces, put down one after another and taken up trace by trace."""

    def __init__(self, limits: LogLimits) -> None:
        self._limits = limits
        self._traces: dict[str, _Trace] = {}
        self._file = SpooledTemporaryFile(MOST_IN_MEMORY)  # noqa: SIM115 — closed by `close`
        self._size = 0
        self._beside = 0  # in memory: names, and where parts lie
        self._is_full = False

    def close(self) -> None:
        """Free the disk."""
        self._file.close()

    def add(self, name: str, position: str, part: object) -> Iterator[RecordError]:
        """Put down a part of a trace: any JSON value.

        Once there is no room for anything more, traces that begin or go on are left out: those
        that are whole by then are not lost with them.

        Returns:
            Why the trace is refused as a whole, or all that begin from here on.

        Raises:
            TrajectoryError: The disk refused.
        """
        trace = self._traces.get(name)
        if trace is not None and trace.is_refused:
            return
        if self._is_full:
            if trace is not None:
                self._drop(trace)
                yield RecordError(
                    "a trace is left out: it goes on where there is no room for more",
                    position=position,
                    hint=_SPLIT,
                )
            return
        data = json.dumps(part, separators=(",", ":")).encode()  # NaN and all integers too
        beside = _PLACE if trace is not None else _PLACE + BESIDE + getsizeof(name)
        if not self._has_room(len(data), beside):
            yield self._full_at(position)
            if trace is not None:
                self._drop(trace)
            return
        trace = self._traces.setdefault(name, _Trace(position))
        self._beside += beside
        trace.size += len(data) + BESIDE
        if trace.size > self._limits.session_bytes:
            self._drop(trace)
            yield RecordError(
                f"a trace of more than {human_size(self._limits.session_bytes)}",
                position=position,
                hint="split the log by trace, and this one into several",
            )
            return
        trace.places.extend((self._size, len(data)))
        self._put(data)

    def traces(self) -> Iterator[tuple[str, str, list[object]]]:
        """Yield each trace with its name, its position and its parts, in the order of the log.

        Raises:
            TrajectoryError: The disk refused.
        """
        for name, trace in self._traces.items():
            if not trace.is_refused:
                places = zip(trace.places[::2], trace.places[1::2], strict=True)
                yield name, trace.position, [parse_json(self._at(*each)) for each in places]

    def _has_room(self, more: int, beside: int) -> bool:
        return (
            self._beside + beside <= self._limits.session_bytes
            and self._size + more <= self._limits.piped_bytes
        )

    def _full_at(self, position: str) -> RecordError:
        self._is_full = True
        size = human_size(self._size)
        return RecordError(
            f"{len(self._traces):,} traces, of {size}, are as much as can be held: "
            "those that begin or go on from here on are left out",
            position=position,
            hint=_SPLIT,
        )

    def _drop(self, trace: _Trace) -> None:
        self._beside -= _PLACE * (len(trace.places) // 2)
        trace.is_refused, trace.places = True, array("Q")

    def _put(self, data: bytes) -> None:
        try:
            self._file.seek(self._size)
            self._file.write(data)
        except OSError as error:
            raise _refused_by_disk(error) from error
        self._size += len(data)

    def _at(self, place: int, length: int) -> bytes:
        try:
            self._file.seek(place)
            return self._file.read(length)
        except OSError as error:
            raise _refused_by_disk(error) from error


def _refused_by_disk(error: OSError) -> TrajectoryError:
    return TrajectoryError(
        f"its traces cannot be kept on the disk while it is read: {error.strerror or error}",
        hint="make room in the folder for temporary files, or split the log by trace",
    )


def as_name(value: object) -> str | None:
    """Return what a log calls a trace or a part of one; empty if it does not say.

    None if it is not a name, since names are held of every trace: neither text nor a number, or
    longer than `MOST_NAME`.
    """
    if value is not None and not isinstance(value, str | int):
        return None
    name = as_text(value)
    return name if len(name) <= MOST_NAME else None


def each_trace(
    parts: Callable[[object], Iterable[tuple[str, object] | RecordError]],
    parse: Callable[[Conversation, str, list[object], LogLimits], Trajectory],
) -> Callable[[Log], Iterator[Reading]]:
    """Return a reader's `read`, for formats in which the parts of a trace may lie anywhere."""

    def gather(records: Records) -> Iterator[Reading]:
        with closing(TraceStore(records.limits)) as gathered:
            for record in records:
                yield from records.refusals()
                for part in parts(record.value):
                    if isinstance(part, RecordError):
                        yield located(part, "", record.position)
                    else:
                        yield from gathered.add(part[0], record.position, part[1])
                records.release()
            for name, position, found in gathered.traces():
                yield from conversation_readings(position, parse, name, found, records.limits)

    return whole_log(gather)
