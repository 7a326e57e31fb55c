"""Formats in which records belong together: sessions one after another, or a whole log.

What was done and what came back stand in records of their own, so behind one that cannot be
read it is not known what answers what: a session ends there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from deltamem_tui.errors import RecordError, Remedy, TrajectoryError
from deltamem_tui.trajectory.logs.limits import LogLimits, human_size
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.notice import Remark, located
from deltamem_tui.trajectory.logs.record import Record, TextLine
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import Reading, conversation_readings
from deltamem_tui.trajectory.secrets.redaction import quoted

BESIDE = 500
"""Bytes that a record takes beside its text, or why it is refused."""


class SizeGuard:
    """Counts characters, and stops a reader that would hold more than a record may have."""

    def __init__(self, what: str, limits: LogLimits, *, hint: str | None = None) -> None:
        self._what = what
        self._most = limits.record_bytes
        self._hint = hint
        self._count = 0

    def add(self, count: int, position: str | None = None) -> None:
        """Hold some characters more.

        Raises:
            RecordError: That is more than may be held.
        """
        self._count += count
        if self._count > self._most:
            raise RecordError(
                f"{self._what} of more than {human_size(self._most)}",
                position=position,
                hint=self._hint,
            )

    def clear(self) -> None:
        """What was held is an episode now, or none."""
        self._count = 0


def line_blocks(
    log: Log,
    what: str,
    *,
    begins: Callable[[str], object] | None = None,
    ends: Callable[[str], object] | None = None,
    hint: str | None = None,
) -> Iterator[list[TextLine] | RecordError]:
    """The lines of a text log, cut before each that begins a block and after each that ends one.

    A block that is more than may be held is refused as a `what`, with the hint.
    """
    block: list[TextLine] = []
    held = SizeGuard(what, log.limits, hint=hint)
    for line in log.lines():
        if isinstance(line, RecordError):
            yield line
            continue
        if block and begins and begins(line.text):
            yield block
            block = []
            held.clear()
        try:
            held.add(len(line.text))
        except RecordError as error:
            raise located(error, log.name, line.position) from None
        block.append(line)
        if ends and ends(line.text):
            yield block
            block = []
            held.clear()
    if block:
        yield block


class Records:
    """The records of a log that can be read, in order; those that cannot are kept to be reported.

    What was given counts as held until it is released, and stops the log when it is more than one
    may hold. `gaps` counts what could not be read, up to the record that was given last.
    """

    def __init__(self, log: Log) -> None:
        self.log_name = log.name
        self.limits = log.limits
        self.gaps = 0
        self._log = log
        self._held = 0
        self._refused: list[RecordError] = []

    def __iter__(self) -> Iterator[Record]:
        """Each record that can be read.

        Raises:
            RecordError: More is held than may be.
        """
        for value in self._log.values():
            if isinstance(value, RecordError):
                self._refuse(value)
                self.gaps += 1
                continue
            self.gaps += 1  # unless a record is found, be it behind bytes that are none
            for item in self._log.parsed(value):
                if isinstance(item, RecordError):
                    self._refuse(item)
                    continue
                size = len(value.data) + BESIDE
                self._check_room(size, value.position)
                self._held += size
                self.gaps -= 1
                yield item

    def release(self) -> None:
        """Nothing that was given is held any more."""
        self._held = 0

    def refusals(self) -> Iterator[RecordError]:
        """The records that could not be read and were not reported yet."""
        told, self._refused = self._refused, []
        yield from told

    def _refuse(self, refusal: RecordError) -> None:
        self._check_room(BESIDE, refusal.position)
        self._refused.append(refusal)

    def _check_room(self, size: int, position: str | None) -> None:
        most = self._log.limits.session_bytes
        if self._held + BESIDE * len(self._refused) + size > most:
            raise RecordError(
                f"more than {human_size(most)} of records that belong together",
                position=position,
                hint="split the log by session or trace",
            )


def whole_log(gather: Callable[[Records], Iterable[Reading]]) -> Callable[[Log], Iterator[Reading]]:
    """A reader's `read`, where records belong together."""

    def read(log: Log) -> Iterator[Reading]:
        records = Records(log)
        try:
            for reading in gather(records):
                yield from records.refusals()
                yield reading
        except TrajectoryError as error:
            yield from records.refusals()
            if not isinstance(error, RecordError):  # the disk refused, not the log
                raise
            yield located(error, log.name)
        yield from records.refusals()

    return read


def stray(why: str, position: str | None = None) -> RecordError:
    """The refusal of a record that is not part of its session."""
    return RecordError(
        f"no part of the session: {why}",
        position=position,
        hint=Remedy.SPLIT_LOG,
    )


def stray_kind(kind: str, what: str = "a line") -> RecordError:
    """Why a record is refused of a kind that its format does not have."""
    shown = quoted(kind, 60)
    return stray(f"{what} of unknown kind {shown}" if shown else f"{what} that names no kind")


def rest_refused(position: str) -> RecordError:
    """Why the rest of a session is refused that has a gap."""
    return RecordError(
        "the records of the session from here on are left out: one before them cannot be read",
        position=position,
        hint="mend that one, or cut the file there",
    )


@dataclass(slots=True)
class Session(ABC):
    """What the records of one session say, as far as they were read; each format has its own.

    Attributes:
        log_name: What the log is called that it stands in.
        names_calls: True if answers name their calls, so that nothing is mispaired behind a gap.
        breaks_off: Whether it ends at a record that cannot be read.
        has_gaps: True if a record before or in it cannot be read.
        position: Where the record stands that is taken.
        remarks: What else could be read and is not part of the episode; set once that is made.
    """

    names_calls: ClassVar[bool] = False
    log_name: str = ""
    breaks_off: bool = False
    has_gaps: bool = False
    position: str = ""
    remarks: list[Remark] = field(default_factory=list)

    @abstractmethod
    def begins_another(self, value: object) -> bool:
        """Whether a record opens another session; asked only once something was taken."""

    @abstractmethod
    def take(self, value: object) -> None:
        """Take in the next record.

        Raises:
            RecordError: It is not part of the session, which goes on without it.
        """

    @abstractmethod
    def episode(self, conversation: Conversation) -> Trajectory:
        """The episode that the records make; what a new conversation leaves out is reported.

        Raises:
            RecordError: They make none.
        """

    def leave_out(self, value: object) -> None:  # noqa: B027 — most formats need not know
        """Look at a record behind a gap, which is not part of the episode."""

    def whole(self, record: Record) -> Iterable[Reading] | None:  # noqa: ARG002 — half of them have none
        """What a record says that is a session by itself; None if it is none."""
        return None


def session_of(
    session: Session, items: Sequence[object], position: str, what: str
) -> Iterator[Reading]:
    """What a new session makes of a list of records, each a `what` in its position."""
    refused = 0
    for number, item in enumerate(items, 1):
        try:
            session.take(item)
        except RecordError as error:
            refused += 1
            yield located(error, "", f"{position}, {what} {number}")
    if refused < len(items):
        yield from conversation_readings(position, session.episode)


def sessions(begin: Callable[[str], Session]) -> Callable[[Log], Iterator[Reading]]:
    """A reader's `read`, where a log is a session or several, a record at a time.

    A session ends where another begins, and at a record that cannot be read: what stands
    behind it until another begins is left out, which is reported once.
    """

    def gather(records: Records) -> Iterator[Reading]:
        telling = _SessionReader(begin, records)
        for record in records:
            yield from telling.hear(record)
        yield from telling.end()

    return whole_log(gather)


class _SessionReader:
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
        if self._is_behind_a_gap:
            self._session.has_gaps = True
        if (
            self._first
            and self._is_behind_a_gap
            and not self._session.breaks_off
            and not self._session.names_calls
        ):
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
            self._session.breaks_off = self._is_behind_a_gap and not self._session.names_calls
            yield from conversation_readings(self._first, self._told)
            yield from (located(remark, "", self._first) for remark in self._session.remarks)
        self._records.release()

    def _told(self, conversation: Conversation) -> Trajectory:
        conversation.has_gaps = self._session.has_gaps
        return self._session.episode(conversation)

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
