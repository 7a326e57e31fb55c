"""Logs of model calls repeat, at each call, all that was said before it: counted once.

Calls of many conversations may stand mixed. What ran so far is held until no longer version of it
can be waited for: up to `MOST_HELD` characters; beyond that the conversation that was touched
longest ago is given out as it is. What a client tells a provider's cache is not part of it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.trajectory.readers.sessions import BESIDE
from deltamem_tui.trajectory.readers.shapes import Json, as_json, as_list, as_mapping

NAMING_KEYS = ("id", "instance_id", "task_id", "traj_id", "uuid", "trial", "domain", "split")
"""Keys that tell a record's conversation from others, however alike they begin."""
MOST_HELD = 8_000_000
# What a response has and no client repeats: notes of the service, and thoughts; and what is said
# to a cache alone.
_UNSAID = frozenset(
    {"annotations", "audio", "id", "model", "provider_specific_fields", "refusal", "stop_reason"}
    | {"reasoning", "reasoning_content", "reasoning_details", "thinking_blocks", "usage"}
    | {"stop_sequence", "thinking", "redacted_thinking", "type", "status", "container"}
    | {"cache_control"}
)


@dataclass(frozen=True, slots=True)
class ChatRecord:
    """A conversation as a log holds it, and what its record says about it."""

    messages: list[object]
    position: str
    names: Json = field(default_factory=dict)
    system: str = ""
    agent: str = ""
    outcome: Outcome = field(default_factory=Outcome)


@dataclass(slots=True)
class _Entry:
    """A conversation that waits, or a refused record that keeps its place among them."""

    item: ChatRecord | RecordError
    marks: list[int]  # a hash of each of its beginnings, the last that of all of it
    size: int  # in characters
    since: int  # when the first version of it came


def counted_once(
    found: Iterator[ChatRecord | RecordError], most_held: int = MOST_HELD
) -> Iterator[ChatRecord | RecordError]:
    """Yield conversations without those that a later or earlier one repeats from its beginning.

    The longest is the episode, and of several as long the first. Conversations with names or
    outcomes of their own are never taken together.
    """
    waiting: OrderedDict[int, _Entry] = OrderedDict()
    beginnings: dict[int, int] = {}  # of those that wait, by mark
    held = 0
    for number, item in enumerate(found):
        entry = _Entry(item, *_marked(item), number)
        longer = beginnings.get(entry.marks[-1]) if entry.marks else None
        if longer is not None and not _states_outcome(item):
            waiting.move_to_end(longer)
            continue
        for mark in reversed(entry.marks):
            shorter = waiting.get(beginnings.get(mark, -1))
            if shorter and shorter.marks[-1] == mark and not _states_outcome(shorter.item):
                held -= waiting.pop(beginnings[mark]).size
                entry = replace(entry, item=_joined(shorter.item, item), since=shorter.since)
                break
        waiting[number] = entry
        beginnings |= dict.fromkeys(entry.marks, number)
        held += entry.size
        while held > most_held:
            at, oldest = waiting.popitem(last=False)
            held -= oldest.size
            beginnings = {mark: each for mark, each in beginnings.items() if each != at}
            yield oldest.item
    yield from (each.item for each in sorted(waiting.values(), key=lambda entry: entry.since))


def _states_outcome(item: ChatRecord | RecordError) -> bool:
    return isinstance(item, ChatRecord) and item.outcome.source == "stated"


def _joined(
    shorter: ChatRecord | RecordError, longer: ChatRecord | RecordError
) -> ChatRecord | RecordError:
    """Return the longer conversation, with what the model thought, which only the shorter has."""
    if isinstance(shorter, RecordError) or isinstance(longer, RecordError):
        return longer
    rest = longer.messages[len(shorter.messages) :]
    return replace(longer, messages=[*shorter.messages, *rest])


def _marked(item: ChatRecord | RecordError) -> tuple[list[int], int]:
    """Return a mark for each beginning of a conversation, and how many characters it has in all."""
    if isinstance(item, RecordError):
        return [], BESIDE
    names = tuple(as_json(item.names.get(key)) for key in NAMING_KEYS)
    mark, marks = hash(names), []
    size = BESIDE + len(item.system) + sum(map(len, names))
    for message in item.messages:
        text = as_json(_said(message))
        size += len(text) + BESIDE
        mark = hash((mark, text))
        marks.append(mark)
    return marks, size


def _said(message: object) -> object:
    """Return what a message says, whether a model's service wrote it or a client repeats it."""
    if not isinstance(message, dict):
        return message
    said = {key: value for key, value in message.items() if key not in _UNSAID and value}
    if calls := as_list(said.get("tool_calls")):
        said["tool_calls"] = [_call(as_mapping(call)) for call in calls]
    content = said.get("content")
    if isinstance(content, list):
        parts = [_plain_part(part) for part in content if _kind(part) not in _UNSAID]
        said["content"] = parts[0] if len(parts) == 1 and isinstance(parts[0], str) else parts
    return dict(sorted(said.items()))


def _kind(part: object) -> str:
    return str(as_mapping(part).get("type"))


def _plain_part(part: object) -> object:
    """Return a part of a content without what is said to a cache, a lone text as the text."""
    if not isinstance(part, dict):
        return part
    plain: Mapping[str, object] = {k: v for k, v in part.items() if k != "cache_control"}
    return plain["text"] if plain.keys() == {"type", "text"} else dict(sorted(plain.items()))


def _call(call: Json) -> list[object]:
    function = as_mapping(call.get("function")) or call
    return [call.get("id"), function.get("name"), function.get("arguments")]
