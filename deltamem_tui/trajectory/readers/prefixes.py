"""Logs of model calls repeat, at each call, all that was said before it: counted once.

Calls of many conversations may stand mixed. What ran so far is held until no longer version
of it can be waited for: up to `MOST_HELD` characters at once, whatever the size of
the log; beyond that the conversation that was touched longest ago is given out as it is.

What a client tells a provider's cache moves from call to call and is not part of the conversation.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.trajectory.readers.sessions import BESIDE
from deltamem_tui.trajectory.readers.shapes import Json, as_json, as_list, as_mapping, as_text

NAMING_KEYS = ("id", "instance_id", "task_id", "traj_id", "uuid", "trial", "domain", "split")
"""Where a record says what tells its conversation from others, however alike they begin."""
MOST_HELD = 8_000_000
_CACHE_KEY = "cache_control"
# What a response has and no client repeats: notes of the service, and thoughts.
_UNSAID = frozenset(
    {"annotations", "audio", "id", "model", "provider_specific_fields", "refusal", "stop_reason"}
    | {"reasoning", "reasoning_content", "reasoning_details", "thinking_blocks", "usage"}
    | {"stop_sequence", "thinking", "redacted_thinking", "type", "status", "container"}
)


@dataclass(frozen=True, slots=True)
class ChatRecord:
    """A conversation as a log holds it, and what its record says about it.

    `names` is what the record has under `NAMING_KEYS`, and `system` a prompt beside the messages.
    """

    messages: list[object]
    position: str
    names: Json = field(default_factory=dict)
    system: str = ""
    agent: str = ""
    outcome: Outcome = field(default_factory=Outcome)


def counted_once(
    found: Iterator[ChatRecord | RecordError], most_held: int = MOST_HELD
) -> Iterator[ChatRecord | RecordError]:
    """Conversations without those that a later or earlier one repeats from its beginning.

    The longest is the episode, and of several as long the first. Conversations with names or
    outcomes of their own are never taken together.
    """
    waiting = _Waiting()
    for item in found:
        waiting.take(item)
        while waiting.size > most_held:
            yield waiting.let_go()
    yield from waiting.rest()


@dataclass(slots=True)
class _Entry:
    """A conversation that waits, or a refused record that keeps its place among them."""

    item: ChatRecord | RecordError
    marks: Sequence[int]  # of its beginnings, the last that of all of it
    size: int  # in characters
    since: int  # when the first version of it came


class _Waiting:
    """Conversations of which a longer version may come, the longest untouched first."""

    def __init__(self) -> None:
        # Each beginning of a conversation has a mark, a hash of all messages up to there, so one
        # look tells which of thousands a new one goes on with.
        self.size = 0
        self._entries: OrderedDict[int, _Entry] = OrderedDict()
        self._beginnings: dict[int, int] = {}
        self._ends: dict[int, int] = {}
        self._count = 0

    def take(self, item: ChatRecord | RecordError) -> None:
        """Hold a conversation, in the place of the one that it goes on with, or not at all."""
        self._count += 1
        if isinstance(item, RecordError):
            self._hold(_Entry(item, (), BESIDE, self._count))
            return
        item = replace(item, messages=list(map(_without_cache, item.messages)))
        marks, size = _marked(item)
        longer = self._beginnings.get(marks[-1], 0) if marks else 0
        if longer and _repeats(self._entries[longer].item, item):
            self._entries.move_to_end(longer)
            return
        since = self._count
        for mark in reversed(marks):
            shorter = self._ends.get(mark, 0)
            if shorter and _repeats(item, self._entries[shorter].item):
                entry = self._forget(shorter)
                since = entry.since
                if isinstance(entry.item, ChatRecord):  # it has what the model thought, too
                    first = entry.item.messages
                    item = replace(item, messages=[*first, *item.messages[len(first) :]])
                break
        self._hold(_Entry(item, marks, size, since))

    def let_go(self) -> ChatRecord | RecordError:
        """Return the conversation that was touched longest ago, which is let go."""
        return self._forget(next(iter(self._entries))).item

    def rest(self) -> list[ChatRecord | RecordError]:
        """Return all that are held, in the order in which the first version of each came."""
        return [
            entry.item for entry in sorted(self._entries.values(), key=lambda entry: entry.since)
        ]

    def _hold(self, entry: _Entry) -> None:
        self._entries[self._count] = entry
        self.size += entry.size
        self._beginnings.update(dict.fromkeys(entry.marks, self._count))
        if entry.marks:
            self._ends[entry.marks[-1]] = self._count

    def _forget(self, number: int) -> _Entry:
        entry = self._entries.pop(number)
        self.size -= entry.size
        for mark in entry.marks:
            if self._beginnings.get(mark) == number:
                del self._beginnings[mark]
        if entry.marks and self._ends.get(entry.marks[-1]) == number:
            del self._ends[entry.marks[-1]]
        return entry


def _marked(item: ChatRecord) -> tuple[list[int], int]:
    """Return a mark for each beginning of a conversation, and how many characters it has in all."""
    names = tuple(as_json(item.names.get(key)) for key in NAMING_KEYS)
    mark, marks = hash(names), []
    size = BESIDE + len(item.system) + sum(map(len, names))
    for message in item.messages:
        text = _said(message)
        size += len(text) + BESIDE
        mark = hash((mark, text))
        marks.append(mark)
    return marks, size


def _without_cache(message: object) -> object:
    """Return a message, or a part of one, without what is said to a cache alone."""
    if not isinstance(message, dict):
        return message
    content = message.get("content")
    if not isinstance(content, list):
        return _without_cache_key(message)
    parts = list(map(_without_cache, content))
    return {**_without_cache_key(message), "content": _lone_text(parts) or parts}


def _lone_text(parts: list[object]) -> str:
    """Return the text of which a content is the only part; empty if it holds anything else."""
    part = parts[0] if len(parts) == 1 else None
    if not isinstance(part, dict) or part.keys() != {"type", "text"} or part["type"] != "text":
        return ""
    return part["text"] if isinstance(part["text"], str) else ""


def _without_cache_key(value: Json) -> Json:
    if _CACHE_KEY not in value:
        return value
    return {key: inner for key, inner in value.items() if key != _CACHE_KEY}


def _repeats(longer: ChatRecord | RecordError, shorter: ChatRecord | RecordError) -> bool:
    """Return True if one conversation is the beginning of another, or says just the same."""
    if isinstance(longer, RecordError) or isinstance(shorter, RecordError):
        return False
    if any(shorter.names.get(key) != longer.names.get(key) for key in NAMING_KEYS):
        return False
    if shorter.outcome.source == "stated":
        return False
    first = longer.messages[: len(shorter.messages)]
    return first == shorter.messages or list(map(_said, first)) == [
        _said(message) for message in shorter.messages
    ]


def _said(message: object) -> str:
    """Return what a message says, whether a model's service wrote it or a client repeats it."""
    if not isinstance(message, dict):
        return as_json(message)
    said = {key: value for key, value in message.items() if key not in _UNSAID and value}
    calls = [as_mapping(call) for call in as_list(said.get("tool_calls"))]
    if calls:
        said["tool_calls"] = [[call.get("id"), *_call(call)] for call in calls]
    if isinstance(said.get("content"), list):
        parts = (
            part for part in said["content"] if as_text(as_mapping(part).get("type")) not in _UNSAID
        )
        said["content"] = [dict(sorted(as_mapping(part).items())) or part for part in parts]
    return as_json(dict(sorted(said.items())))


def _call(call: Json) -> list[object]:
    function = as_mapping(call.get("function")) or call
    return [function.get("name"), function.get("arguments")]
