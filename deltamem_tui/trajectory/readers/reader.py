"""Definition of a reader, and the ways to go through a log.

A record may hold episodes of its own, or records belong together: what was done and what came back
stand in records of their own. Where answers name their calls, a record that cannot be read loses
only itself; elsewhere it is not known what answers what behind it, and the session ends there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Concatenate, ParamSpec

from msgspec.structs import replace

from deltamem_tui.errors import RecordError, Remedy
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import (
    Notice,
    Preview,
    Record,
    TextLine,
    human_size,
    located,
)
from deltamem_tui.trajectory.model import FORKED_FROM, SESSION, LogSource, Trajectory, is_earlier
from deltamem_tui.trajectory.readers.conversation import Conversation, NothingAskedError

_P = ParamSpec("_P")

Part = tuple[str, Callable[[Conversation], Trajectory]]
"""The place of a part in its record (`sample 3`), and what makes it an episode."""
Reading = Trajectory | RecordError | Notice
"""An item of a log: an episode, a refusal, or a notice of what is left out by design."""

UNDISPUTED = 0.96
"""How sure no two readers are of one log: no other need be asked."""
BESIDE = 500
"""Bytes that a record takes beside its text, or why it is refused."""


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


class SizeGuard:
    """Counts bytes, and stops a reader that would hold more than it may."""

    def __init__(self, what: str, most: int, *, hint: str | None = None) -> None:
        self._what, self._most, self._hint = what, most, hint
        self._count = 0

    def add(self, count: int, position: str | None = None) -> None:
        """Hold some more."""
        self._count += count
        if self._count > self._most:
            reason = f"{self._what} of more than {human_size(self._most)}"
            raise RecordError(reason, position=position, hint=self._hint)

    def clear(self) -> None:
        """Begin again: what was held is an episode now, or none."""
        self._count = 0


def line_blocks(
    log: Log,
    what: str,
    *,
    begins: Callable[[str], object] = lambda _: False,
    ends: Callable[[str], object] = lambda _: False,
    hint: str | None = None,
) -> Iterator[list[TextLine] | RecordError]:
    """Yield the lines of a text log in blocks, each from its beginning to its end."""
    block: list[TextLine] = []
    held = SizeGuard(what, log.limits.record_bytes, hint=hint)
    for line in log.lines():
        if isinstance(line, RecordError):
            yield line
            continue
        if block and begins(line.text):
            yield block
            block = []
            held.clear()
        try:
            held.add(len(line.text))
        except RecordError as error:
            raise located(error, log.name, line.position) from None
        block.append(line)
        if ends(line.text):
            yield block
            block = []
            held.clear()
    if block:
        yield block


class Records:
    """The records of a log in order, and why one cannot be read in its place.

    All count as held, and stop the log when they are more than may be. `gaps` counts what could
    not be read, up to the record that was given last.
    """

    def __init__(self, log: Log) -> None:
        self.gaps = 0
        self._log = log
        hint = "split the log by session or trace"
        what = "records that belong together"
        self._held = SizeGuard(what, log.limits.session_bytes, hint=hint)

    def __iter__(self) -> Iterator[Record | RecordError]:
        """Yield each."""
        for value in self._log.values():
            self.gaps += 1  # unless a record is found, be it behind bytes that are none
            if isinstance(value, RecordError):
                self._held.add(BESIDE, value.position)
                yield value
                continue
            for item in self._log.parsed(value):
                self._held.add(len(value.data) + BESIDE, value.position)
                self.gaps -= isinstance(item, Record)
                yield item


def whole_log(gather: Callable[[Records], Iterable[Reading]]) -> Callable[[Log], Iterator[Reading]]:
    """Return a reader's `read`, where records belong together."""

    def read(log: Log) -> Iterator[Reading]:
        try:
            yield from gather(Records(log))
        except RecordError as error:
            yield located(error, log.name)

    return read


def stray(why: str) -> RecordError:
    """Return the refusal of a record that is not part of its session."""
    return RecordError(f"no part of the session: {why}", hint=Remedy.SPLIT_LOG)


def rest_refused(position: str) -> RecordError:
    """Return why the rest of a session is refused that has a gap."""
    return RecordError(
        "the records of the session from here on are left out: one before them cannot be read",
        position=position,
        hint="mend that one, or cut the file there",
    )


def without_copied(readings: Iterator[Reading], names: set[str]) -> Iterator[Reading]:
    """Yield the readings; of a session and a fork that goes on from all of it, the fork."""
    held, keys = list[Trajectory](), (SESSION, FORKED_FROM)
    for each in readings:
        if isinstance(each, Trajectory) and not names.isdisjoint(map(each.metadata.get, keys)):
            held.append(each)
        else:
            yield each
    for each in held:
        name = each.metadata.get(SESSION)
        forks = [other for other in held if other.metadata.get(FORKED_FROM) == name]
        later = next((fork for fork in forks if is_earlier(each, fork)), None)
        if later is None:
            yield each
        else:
            place = later.source.file or later.source.position
            why = f"a session is left out: it goes on as its fork in {place}"
            yield Notice(why, each.source.file, each.source.position)
