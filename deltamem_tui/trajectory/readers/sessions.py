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
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import (
    LogLimits,
    Notice,
    Record,
    Remark,
    TextLine,
    human_size,
    located,
)
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.coding import own_words
from deltamem_tui.trajectory.readers.conversation import Conversation, are_left_out
from deltamem_tui.trajectory.readers.messages import answered_calls, calls_made, content_text
from deltamem_tui.trajectory.readers.reader import Reading, conversation_readings
from deltamem_tui.trajectory.readers.shapes import Json, as_text
from deltamem_tui.trajectory.secrets.redaction import quoted


@dataclass(frozen=True, slots=True)
class SessionMessage:
    """A message of a session, where it stands, and the name by which others follow it, if any."""

    name: str
    position: str
    message: Json


class Branches:
    """What follows what in a session, its messages and the program's notes between them."""

    def __init__(self) -> None:
        self._before: dict[str, str] = {}
        self._roots: dict[str, str] = {}
        self._begins: set[str] = set()

    def add(self, name: str, before: str | None) -> None:
        """Return a message or a note, and the one that it follows (see `before_in`).

        One that follows none, or none that stands before it in the log, is a root. There may
        be several: after a summary of earlier messages, a session begins a second one.
        """
        if not name or name in self._roots:
            return
        if before is None:
            self._begins.add(name)
        self._roots[name] = self._roots.get(before or "", name)
        if before in self._roots and before != name:
            self._before[name] = before

    def parted(
        self, messages: Sequence[SessionMessage], *, one_task: bool = True
    ) -> tuple[list[SessionMessage], list[SessionMessage]]:
        """Return the messages that lead to the last one of their root, and the others.

        Calls made at once, and what came back for them, may each follow the same message and
        yet all belong to the way.
        """
        anew = self._tried_anew(messages) if one_task else frozenset[str]()
        rooted = (
            (self._roots[each.name], each.name) for each in messages if each.name in self._roots
        )
        last = {root: name for root, name in rooted if root not in anew}
        way = {name for tip in last.values() for name in self._way_to(tip)}
        aside = [each for each in messages if each.name in self._roots and each.name not in way]
        if not aside:
            return list(messages), []
        left = {each.name for each in aside}
        taken = [each.message for each in messages if each.name not in left]
        turns = set(filter(None, map(_turn, taken)))
        same = [each.message for each in aside if _turn(each.message) in turns]
        unanswered = {*_all(calls_made, taken), *_all(calls_made, same)}
        unanswered -= {*_all(answered_calls, taken)}
        left -= {
            each.name
            for each in aside
            if _turn(each.message) in turns
            or not unanswered.isdisjoint(answered_calls(each.message))
        }
        return (
            [each for each in messages if each.name not in left],
            [each for each in messages if each.name in left],
        )

    def _tried_anew(self, messages: Sequence[SessionMessage]) -> frozenset[str]:
        """Return the first prompts that the conversation did not go on from."""
        # A log in which anything else is a root does not tell what follows what, or goes on after
        # a summary: nothing is known of it. Nor is it where prompts in different words each led
        # to work, which is one task after another.
        roots = {each.name: each for each in messages if self._roots.get(each.name) == each.name}
        if not all(name in self._begins and _is_prompt(each) for name, each in roots.items()):
            return frozenset()
        work = [i for i, each in enumerate(messages) if each.message.get("role") == "assistant"]
        worked = [root for i in work if (root := self._roots.get(messages[i].name, "")) in roots]
        if not worked or len({_prompt(roots[root]) for root in worked}) > 1:
            return frozenset()
        # What leads to the agent's last words is what went on; before, a prompt was left.
        kept, early = worked[-1], {each.name for each in messages[: work[-1]]}
        again = {name for name in roots if _prompt(roots[name]) == _prompt(roots[kept])}
        return frozenset((again | (roots.keys() & early)) - {kept})

    def _way_to(self, name: str) -> Iterator[str]:
        while name:
            yield name
            name = self._before.get(name, "")


def before_in(line: Json, key: str) -> str | None:
    """Return what a line says it follows: None if nothing, and empty if it does not say."""
    return None if line.get(key, "") is None else as_text(line.get(key))


def branch_notices(left: Sequence[SessionMessage]) -> Iterator[Notice]:
    """Yield a notice of a branch's messages that are left out, if there are any."""
    if left:
        yield Notice(
            f"{are_left_out('message', len(left))}: the conversation went back and on from before",
            position=left[0].position,
            hint="the branch that leads to the last message is the episode",
        )


def _prompt(messages: SessionMessage) -> str:
    """Return the user's own words, however they are spaced."""
    return " ".join(own_words(content_text(messages.message.get("content"))).split())


def _is_prompt(messages: SessionMessage) -> bool:
    """Return True if it is the user who speaks, in their own words."""
    message = messages.message
    if message.get("role") != "user" or any(True for _ in answered_calls(message)):
        return False
    return bool(_prompt(messages))


def _turn(message: Json) -> str:
    """Return what the model's service calls the answer that a message is a part of."""
    return as_text(message.get("id")) if message.get("role") == "assistant" else ""


def _all(ids: Callable[[Json], Iterable[str]], messages: Iterable[Json]) -> Iterator[str]:
    return (call_id for message in messages for call_id in ids(message) if call_id)


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
        """Return what was held is an episode now, or none."""
        self._count = 0


def line_blocks(
    log: Log,
    what: str,
    *,
    begins: Callable[[str], object] | None = None,
    ends: Callable[[str], object] | None = None,
    hint: str | None = None,
) -> Iterator[list[TextLine] | RecordError]:
    """Yield the lines of a text log in blocks, each from its beginning to its end.

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
        """Yield each record that can be read.

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
        """Yield the records that could not be read and were not reported yet."""
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
    """Return a reader's `read`, where records belong together."""

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
    """Return the refusal of a record that is not part of its session."""
    return RecordError(
        f"no part of the session: {why}",
        position=position,
        hint=Remedy.SPLIT_LOG,
    )


def stray_kind(kind: str, what: str = "a line") -> RecordError:
    """Return why a record is refused of a kind that its format does not have."""
    shown = quoted(kind, 60)
    return stray(f"{what} of unknown kind {shown}" if shown else f"{what} that names no kind")


def rest_refused(position: str) -> RecordError:
    """Return why the rest of a session is refused that has a gap."""
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
        """Return True if a record opens another session; asked only once something was taken."""

    @abstractmethod
    def take(self, value: object) -> None:
        """Take in the next record.

        Raises:
            RecordError: It is not part of the session, which goes on without it.
        """

    @abstractmethod
    def episode(self, conversation: Conversation) -> Trajectory:
        """Return the episode that the records make; what a new conversation leaves out is reported.

        Raises:
            RecordError: They make none.
        """

    def leave_out(self, value: object) -> None:  # noqa: B027 — most formats need not know
        """Look at a record behind a gap, which is not part of the episode."""

    def whole(self, record: Record) -> Iterable[Reading] | None:  # noqa: ARG002 — half of them have none
        """Return what a record says that is a session by itself; None if it is none."""
        return None


def session_of(
    session: Session, items: Sequence[object], position: str, what: str
) -> Iterator[Reading]:
    """Yield what a new session makes of a list of records, each a `what` in its position."""
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
    """Return a reader's `read`, where a log is a session or several, a record at a time.

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
        """Yield what is known once the next record is."""
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
        """Yield the episode of the session, if it was not ended before."""
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
