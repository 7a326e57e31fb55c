"""Logs that tell sessions one after another: cut where another begins, ended at a gap.

What was done and what came back stand in records of their own, so behind one that cannot be
read nobody knows what answers what.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.notice import Told, located
from deltamem_tui.trajectory.logs.record import Record
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.reader import Reading, placed_or_refused
from deltamem_tui.trajectory.readers.whole_log import Records, rest_refused, whole_log


@dataclass(slots=True)
class Session(ABC):
    """What the records of one session say, as far as they were read; each format has its own.

    Attributes:
        log_name: What the log is called that it stands in.
        breaks_off: Whether it ends at a record that cannot be read.
        position: Where the record stands that is taken.
        told: What is no part of the episode though it can be read, once that is made.
    """

    log_name: str = ""
    breaks_off: bool = False
    position: str = ""
    told: list[Told] = field(default_factory=list)

    @abstractmethod
    def begins_another(self, value: object) -> bool:
        """Whether a record opens another session, as in files that were put together.

        Asked only once something was taken.
        """

    @abstractmethod
    def take(self, value: object) -> None:
        """Take in the next record.

        Raises:
            RecordError: It is no part of the session, which goes on without it.
        """

    @abstractmethod
    def episode(self) -> Trajectory:
        """The episode that the records make.

        Raises:
            RecordError: They make none.
        """

    def leave_out(self, value: object) -> None:  # noqa: B027 — most formats need not know
        """Take notice of a record that stands behind a gap, and is no part of the episode."""

    def whole(self, record: Record) -> Iterable[Reading] | None:  # noqa: ARG002 — half of them have none
        """What a record says that is a session by itself; None if it is none."""
        return None


def sessions(begin: Callable[[str], Session]) -> Callable[[Log], Iterator[Reading]]:
    """A reader's `read`, where a log is a session or several, a record at a time.

    A session ends where another begins, and at a record that cannot be read: what stands
    behind it until another begins is left out, which is told once.

    Args:
        begin: Opens a session in the log of a name.
    """

    def gather(records: Records) -> Iterator[Reading]:
        telling = _Telling(begin, records)
        for record in records:
            yield from telling.hear(record)
        yield from telling.end()

    return whole_log(gather)


class _Telling:
    """The session at hand, and where in the log it stands."""

    def __init__(self, begin: Callable[[str], Session], records: Records) -> None:
        self._begin = begin
        self._records = records
        self._session = begin(records.log_name)
        self._first = ""  # where it begins; nowhere before it has taken anything
        self._gaps = 0  # of the log, when it took its last record

    def hear(self, record: Record) -> Iterator[Reading]:
        """What is known once the next record is."""
        if (readings := self._session.whole(record)) is not None:
            yield from readings
            if not self._first:
                self._records.release()
            return
        if self._first and self._session.begins_another(record.value):
            yield from self.end()
            self._session, self._first = self._begin(self._records.log_name), ""
        if self._first and self._is_behind_a_gap and not self._session.breaks_off:
            yield from self.end()
            yield rest_refused(record.position)
        if self._session.breaks_off:
            self._session.leave_out(record.value)
            self._records.release()
        else:
            yield from self._take(record)

    def end(self) -> Iterator[Reading]:
        """The episode of the session, if it was not ended before."""
        if self._first and not self._session.breaks_off:
            self._session.breaks_off = self._is_behind_a_gap
            yield placed_or_refused(self._first, self._session.episode)
            yield from (located(told, "", self._first) for told in self._session.told)
        self._records.release()

    @property
    def _is_behind_a_gap(self) -> bool:
        return self._records.gaps > self._gaps

    def _take(self, record: Record) -> Iterator[Reading]:
        self._session.position = record.position
        try:
            self._session.take(record.value)
        except RecordError as error:
            yield located(error, "", record.position)
            return
        self._first = self._first or record.position
        self._gaps = self._records.gaps
