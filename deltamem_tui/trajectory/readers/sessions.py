"""Formats in which records belong together: sessions one after another, or a whole log.

What was done and what came back stand in records of their own. Where answers name their calls, a
record that cannot be read loses only itself; elsewhere it is not known what answers what behind
it, and the session ends there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from deltamem_tui.errors import RecordError, Remedy
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Notice, Record, TextLine, human_size, located
from deltamem_tui.trajectory.model import FORKED_FROM, SESSION, Trajectory, is_earlier
from deltamem_tui.trajectory.readers.coding import own_words
from deltamem_tui.trajectory.readers.messages import answered_calls, calls_made, content_text
from deltamem_tui.trajectory.readers.reader import Reading
from deltamem_tui.trajectory.readers.shapes import Json, as_text

WENT_BACK = "the conversation went back and on from before"
BESIDE = 500
"""Bytes that a record takes beside its text, or why it is refused."""


class Branches:
    """The order of a session, its messages and the program's notes between them."""

    def __init__(self) -> None:
        self._before: dict[str, str] = {}
        self._roots: dict[str, str] = {}

    def add(self, name: str, before: str) -> None:
        """Add a message or a note, and the one that it follows."""
        if not name or name in self._roots:
            return
        self._roots[name] = self._roots.get(before, name)
        if before in self._roots and before != name:
            self._before[name] = before

    def taken(self, messages: Mapping[str, Json]) -> list[str]:
        """Return the names of the messages that lead to the last one of their root.

        Calls made at once, and what came back for them, may each follow the same message and
        yet all belong to the way. A first prompt that was tried again does not. Messages that
        were not added belong to it.
        """
        roots = [self._roots[name] for name in messages if name in self._roots]
        tips = {self._roots[name]: name for name in messages if name in self._roots}
        prompts = {name: _prompt(messages[name]) for name in messages if name in tips}
        # Of first prompts in the same words, the one that went on last.
        last = {prompts.get(root, root): root for root in roots}
        for root, prompt in prompts.items():
            if prompt and last[prompt] != root:
                del tips[root]
        way = {name for tip in tips.values() for name in self._way_to(tip)}
        on_it = [name for name in messages if name in way or name not in self._roots]
        if len(on_it) == len(messages):
            return on_it
        turns = {_turn(messages[name]) for name in on_it} - {""}
        kept = {name for name in messages if _turn(messages[name]) in turns} | {*on_it}
        open_calls = {call for name in kept for call in calls_made(messages[name]) if call}
        open_calls -= {call for name in on_it for call in answered_calls(messages[name])}
        return [
            name
            for name, message in messages.items()
            if name in kept or not open_calls.isdisjoint(answered_calls(message))
        ]

    def _way_to(self, name: str) -> Iterator[str]:
        while name:
            yield name
            name = self._before.get(name, "")


def _prompt(message: Json) -> str:
    """Return the user's own words, however they are spaced; empty for any other message."""
    if message.get("role") != "user" or any(True for _ in answered_calls(message)):
        return ""
    return " ".join(own_words(content_text(message.get("content"))).split())


def _turn(message: Json) -> str:
    return as_text(message.get("id")) if message.get("role") == "assistant" else ""


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
