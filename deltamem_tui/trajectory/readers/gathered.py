"""Parts of traces, in whatever order a log has them: on the disk until all of them are there.

The spans of one trace may lie anywhere in a log. What is held in memory of each is only where
it was put, and one trace at a time once the log is at its end.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import Self

from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.trajectory.logs.json_text import parse_json
from deltamem_tui.trajectory.logs.limits import Limits, human_size
from deltamem_tui.trajectory.readers.held import BESIDE

MOST_IN_MEMORY = 16_000_000
"""How many bytes of parts are kept in memory before the disk is asked."""


@dataclass(slots=True)
class _Trace:
    """What is known of a trace.

    Attributes:
        position: Where its first part stands in the log.
        size: How many bytes its parts have, with what each takes beside.
        places: Where each part was put, and its length, in turn.
        is_refused: Whether it has more than may be held, and is dropped.
    """

    position: str
    size: int = 0
    places: array[int] = field(default_factory=lambda: array("Q"))
    is_refused: bool = False


class Gathered:
    """The parts of traces, put down one after another and taken up trace by trace."""

    def __init__(self, limits: Limits) -> None:
        """Begin with nothing.

        Args:
            limits: `session_bytes` is the most that one trace may have, and `piped_bytes` the
                most that is put on the disk.
        """
        self._limits = limits
        self._traces: dict[str, _Trace] = {}
        self._file = SpooledTemporaryFile(MOST_IN_MEMORY)  # noqa: SIM115 — closed on leaving
        self._size = 0

    def __enter__(self) -> Self:
        """Itself; the disk is freed on leaving."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Free the disk."""
        self._file.close()

    def add(self, name: str, position: str, part: object) -> Iterator[RecordError]:
        """Put down a part of a trace.

        Args:
            name: The trace.
            position: Where the part stands in the log.
            part: Any JSON value.

        Returns:
            Why the trace is refused as a whole, once it has more than may be held.

        Raises:
            RecordError: There is no room for anything more.
            TrajectoryError: The disk refused.
        """
        trace = self._traces.setdefault(name, _Trace(position))
        if trace.is_refused:
            return
        data = json.dumps(part, separators=(",", ":")).encode()  # NaN and all integers too
        trace.size += len(data) + BESIDE
        if trace.size > self._limits.session_bytes:
            trace.is_refused, trace.places = True, array("Q")
            yield RecordError(
                f"a trace of more than {human_size(self._limits.session_bytes)}",
                position=position,
                hint="split the log by trace, and this one into several",
            )
            return
        self._check_room(len(data), position)
        trace.places.extend((self._size, len(data)))
        self._put(data)

    def traces(self) -> Iterator[tuple[str, str, list[object]]]:
        """Each trace with its name, its position and its parts, in the order of the log.

        Raises:
            TrajectoryError: The disk refused.
        """
        for name, trace in self._traces.items():
            if not trace.is_refused:
                places = zip(trace.places[::2], trace.places[1::2], strict=True)
                yield name, trace.position, [parse_json(self._at(*each)) for each in places]

    def _check_room(self, more: int, position: str) -> None:
        beside = BESIDE * len(self._traces)
        if beside > self._limits.session_bytes or self._size + more > self._limits.piped_bytes:
            raise RecordError(
                f"{len(self._traces):,} traces, of {human_size(self._size)}: too much at once",
                position=position,
                hint="split the log by trace",
            )

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
