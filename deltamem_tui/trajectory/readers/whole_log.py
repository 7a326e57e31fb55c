"""Formats in which records belong together: what of them is held, and what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.trajectory.logs.limits import Limits, human_size
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.notice import located
from deltamem_tui.trajectory.logs.record import Record
from deltamem_tui.trajectory.readers.reader import Reading
from deltamem_tui.trajectory.secrets.quoting import quoted

BESIDE = 500
"""Bytes that a record takes beside its text, or why it is refused."""


class Held:
    """Counts characters, and stops a reader that would hold more than a record may have."""

    def __init__(self, what: str, limits: Limits, *, hint: str | None = None) -> None:
        """Begin with nothing held.

        Args:
            what: What is being gathered, as an error shall call it (`a chat`).
            limits: What the log may hold; `record_bytes` counts here.
            hint: What to do about a log that holds too much.
        """
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


class Records:
    """The records of a log that can be read, in order.

    Those that cannot are kept to be reported. What was given counts as held until it is
    released, and stops the log when it is more than one may hold.

    Attributes:
        log_name: What the log is called.
        limits: How much of it is taken.
        gaps: How many records could not be read, up to the one that was given last.
    """

    def __init__(self, log: Log) -> None:
        """Begin at the log's first record."""
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


def whole_log(
    gather: Callable[[Records], Iterable[Reading]],
) -> Callable[[Log], Iterator[Reading]]:
    """A reader's `read`, where records belong together.

    Args:
        gather: Turns the records of a log into episodes, and releases those that it does not
            hold any more. Records that cannot be read are reported without it, each before
            what is gathered after it.
    """

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
    """Why a record is refused that is no part of the session it stands in.

    Args:
        why: What it lacks, or has that nobody knows.
        position: Where it stands, if the frame does not know it.
    """
    return RecordError(
        f"no part of the session: {why}",
        position=position,
        hint="split the log if another format begins here; "
        "else leave it out, or name the format with `--format`",
    )


def stray_kind(kind: str, what: str = "a line") -> RecordError:
    """Why a record is refused of a kind that its format does not have.

    Args:
        kind: The kind that it names; empty if it names none.
        what: What kind of thing it is.
    """
    shown = quoted(kind, 60)
    return stray(f"{what} of unknown kind {shown}" if shown else f"{what} that names no kind")


def rest_refused(position: str) -> RecordError:
    """Why the rest of a session is refused that has a gap.

    Args:
        position: Where the first record stands that is left out.
    """
    return RecordError(
        "the records of the session from here on are left out: one before them cannot be read",
        position=position,
        hint="mend that one, or cut the file there",
    )
