"""Logs of model calls repeat, at each call, all that was said before it: counted once.

Calls of many conversations may stand mixed. What ran so far is held until no longer version
of it can be waited for: up to `MOST_HELD` characters of messages at once, whatever the size of
the log; beyond that the conversation that was touched longest ago is given out as it is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.outcomes import recorded
from deltamem_tui.trajectory.readers.shapes import Json, as_json

NAMES = ("id", "instance_id", "task_id", "traj_id", "uuid", "trial", "domain", "split")
"""What tells conversations apart, however alike they begin."""
MOST_HELD = 8_000_000
_REFUSAL = 1_000  # characters that a refused record counts as


@dataclass(frozen=True, slots=True)
class Conversed:
    """A conversation as a log holds it.

    Attributes:
        messages: The messages, unparsed.
        position: Where it begins.
        record: What stands beside the messages: ids, the model, an outcome.
    """

    messages: list[object]
    position: str
    record: Json = field(default_factory=dict)


def counted_once(
    found: Iterator[Conversed | RecordError], most_held: int = MOST_HELD
) -> Iterator[Conversed | RecordError]:
    """Conversations without those that a later or earlier one repeats from its beginning.

    The longest is the episode. Conversations with names or outcomes of their own are never
    taken together.

    Args:
        found: Conversations as the log has them, and what is refused, in its place.
        most_held: How many characters of messages are held for a longer version.
    """
    waiting = _Waiting()
    for item in found:
        waiting.take(item)
        while waiting.size > most_held:
            yield waiting.let_go()
    yield from waiting.rest()


@dataclass(slots=True)
class _Held:
    """A conversation that waits, or a refused record that keeps its place among them.

    Attributes:
        item: The conversation.
        marks: The marks of its beginnings, the last that of all of it.
        size: How many characters it has.
        since: When the first version of it came.
    """

    item: Conversed | RecordError
    marks: Sequence[int]
    size: int
    since: int


class _Waiting:
    """Conversations of which a longer version may come, the longest untouched first.

    Each beginning of a conversation has a mark, a hash of all messages up to there, so one
    look tells which of thousands a new one goes on with.
    """

    def __init__(self) -> None:
        self.size = 0
        self._held: OrderedDict[int, _Held] = OrderedDict()
        self._beginnings: dict[int, int] = {}
        self._ends: dict[int, int] = {}
        self._count = 0

    def take(self, item: Conversed | RecordError) -> None:
        """Hold a conversation, in the place of the one that it goes on with, or not at all."""
        self._count += 1
        if isinstance(item, RecordError):
            self._hold(_Held(item, (), _REFUSAL, self._count))
            return
        marks, size = _marked(item)
        longer = self._beginnings.get(marks[-1], 0) if marks else 0
        if longer and _repeats(self._held[longer].item, item):
            self._held.move_to_end(longer)
            return
        since = self._count
        shorter = next((self._ends[mark] for mark in reversed(marks) if mark in self._ends), 0)
        if shorter and _repeats(item, self._held[shorter].item):
            since = self._forget(shorter).since
        self._hold(_Held(item, marks, size, since))

    def let_go(self) -> Conversed | RecordError:
        """The conversation that was touched longest ago, which is held no more."""
        return self._forget(next(iter(self._held))).item

    def rest(self) -> list[Conversed | RecordError]:
        """All that are held, in the order in which the first version of each came."""
        return [held.item for held in sorted(self._held.values(), key=lambda held: held.since)]

    def _hold(self, held: _Held) -> None:
        self._held[self._count] = held
        self.size += held.size
        self._beginnings.update(dict.fromkeys(held.marks, self._count))
        if held.marks:
            self._ends[held.marks[-1]] = self._count

    def _forget(self, number: int) -> _Held:
        held = self._held.pop(number)
        self.size -= held.size
        for mark in held.marks:
            if self._beginnings.get(mark) == number:
                del self._beginnings[mark]
        if held.marks and self._ends.get(held.marks[-1]) == number:
            del self._ends[held.marks[-1]]
        return held


def _marked(item: Conversed) -> tuple[list[int], int]:
    """A mark for each beginning of a conversation, and how many characters it has in all."""
    mark = hash(tuple(as_json(item.record.get(key)) for key in NAMES))
    marks, size = [], 0
    for message in item.messages:
        text = as_json(message)
        size += len(text)
        mark = hash((mark, text))
        marks.append(mark)
    return marks, size


def _repeats(longer: Conversed | RecordError, shorter: Conversed | RecordError) -> bool:
    if isinstance(longer, RecordError) or isinstance(shorter, RecordError):
        return False
    if len(shorter.messages) >= len(longer.messages):
        return False
    if any(shorter.record.get(key) != longer.record.get(key) for key in NAMES):
        return False
    if recorded(shorter.record).source == "stated":
        return False
    return longer.messages[: len(shorter.messages)] == shorter.messages
