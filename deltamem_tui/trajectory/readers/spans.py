"""A trace as tracing tools keep it: calls of models and tools, made into one episode.

Every call of a model repeats the conversation so far, so the longest of them holds it all.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import orjson

from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.outcomes import number
from deltamem_tui.trajectory.readers.coding import call_text, own_words
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import (
    add_messages,
    calls_made,
    content_text,
    is_message,
    parts_of,
    role_of,
)
from deltamem_tui.trajectory.readers.shapes import (
    Json,
    as_json,
    as_list,
    as_mapping,
    as_object,
    as_text,
    unfolded,
)

# Where programs put what a user asked, and what they answered at the end, when they trace their
# own functions.
_ASKED = (
    "input",
    "query",
    "contents",
    "question",
    "prompt",
    "task",
    "goal",
    "new_message",
    "message",
    "text",
)
_ANSWERED = ("output", "answer", "final_answer", "final_output", "response")
# In place of an answer: that there is none, in JSON and as Python shows it, or how it went.
_NO_ANSWER = re.compile(
    r"(?:null|none|true|false|ok|okay|success|successful|succeeded|done|completed?|finished"
    r"|error|fail|failed|failure)[.!]*|error:.*|traceback .*",
    re.IGNORECASE | re.DOTALL,
)

# Of a number that is a time; anything longer is none.
_MOST_DIGITS = 30
_BEGIN, _SECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(seconds=1)


def messages_in(value: object, *, answer: bool = False) -> list[object]:
    """Return the messages in what a tracer keeps as a model call's input or output."""
    if isinstance(value, list):
        # Some tracers keep a batch of conversations; the first is this one's.
        batch = value[0] if value and isinstance(value[0], list) else value
        return [item for item in batch if is_message(item)]
    if isinstance(value, str):
        return [{"role": "assistant", "content": value}] if answer and value else []
    record = as_mapping(value)
    if is_message(record):
        return [record]
    for key in ("messages", "contents", "generations", "choices", "candidates", "output"):
        items = as_list(record.get(key))
        batch = items[0] if items and isinstance(items[0], list) else items
        found = [item for item in batch if is_message(item)]
        found = found or [item for item in map(_inner, items) if is_message(item)]
        if found:
            return _instructions(record) + found
    content = as_mapping(record.get("content") or record.get("message"))
    return [content] if is_message(content) else []


def task_in(value: object) -> str:
    """Return what a user asked, in whatever a trace keeps as its input.

    Empty if that is not clear.
    """
    if isinstance(value, str):
        return own_words(value)
    if isinstance(value, list):
        users = [as_mapping(item) for item in value if role_of(as_mapping(item)) == "user"]
        texts = [own_words("\n".join(map(content_text, parts_of(user)))) for user in users]
        return next(filter(None, texts), "")
    record = as_mapping(value)
    if isinstance(record.get("messages"), list):
        return task_in(messages_in(record["messages"]))
    for key in _ASKED:
        inner = record.get(key)
        if isinstance(inner, str) and inner.strip():
            return own_words(inner)
        if isinstance(inner, dict) and role_of(inner) == "user":
            return task_in([inner])
        if isinstance(inner, list) and (found := task_in(inner)):
            return found
    return ""


def last_message(value: object) -> list[object]:
    """Return the agent's last message, in whatever a trace keeps as its output.

    None if not clear.
    """
    value = as_object(unfolded(unquoted(value)))
    if isinstance(value, dict) and not is_message(value):
        texts = (value.get(key) for key in _ANSWERED)
        value = next((text for text in texts if isinstance(text, str) and text.strip()), value)
    if isinstance(value, str) and _NO_ANSWER.fullmatch(value.strip()):
        return []
    last = messages_in(value, answer=True)[-1:]
    return [message for message in last if role_of(as_mapping(message)) == "agent"]


def unquoted(value: object) -> object:
    """Return the text that a text in JSON is; any other value as it is."""
    if isinstance(value, str) and value.startswith('"'):
        with suppress(ValueError):
            return orjson.loads(value)
    return value


def moment(value: object) -> tuple[int, float, str]:
    """Return a key by which a trace's parts are in order of time, however their times are written.

    Those without one are before all others, as they are in the log; then come numbers, also
    as text, and dates by what they mean.
    """
    text = as_text(value)
    if not text:
        return 0, 0, ""
    if len(text) <= _MOST_DIGITS and text.isascii() and text.isdecimal():
        return 1, int(text), ""  # nanoseconds are more digits than a float keeps
    if (seconds := number(value)) is not None:
        return 1, seconds, ""
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        return 3, 0, text
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return 2, (date - _BEGIN) / _SECOND, text


def _inner(item: object) -> object:
    """Return the message inside a choice, a generation or a batch of one."""
    first = item[0] if isinstance(item, list) and item else item
    inner = as_mapping(first)
    return inner.get("message") or (is_message(inner) and first) or inner.get("content") or first


def _instructions(record: Json) -> list[object]:
    """Return a system prompt that stands beside the messages."""
    config = as_mapping(record.get("config"))
    beside = (record.get(key) for key in ("system_instruction", "system"))
    for text in (config.get("system_instruction"), *beside):
        if text:
            return [{"role": "system", "content": content_text(text) or as_text(text)}]
    return []


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a model: the conversation so far that it was given, and what it answered."""

    asked: Sequence[object]
    answer_messages: Sequence[object]
    model: str = ""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool that was traced by itself, and the model's call it was made for."""

    name: str
    given: object
    answer: object
    call_id: str = ""
    failed: bool = False
    depth: int = 0


def depths(parts: Iterable[tuple[str, str, bool]]) -> dict[str, int]:
    """Return how many agents and tools each part of a trace lies in, by the name of the part.

    Args:
        parts: The name of each, that of the part which called it, and whether it is an agent or
            a tool, in which another agent may do its own work.
    """
    known = {name: (parent, within) for name, parent, within in parts if name}

    def depth(name: str) -> int:
        count, passed = 0, {name}
        while (parent := known[name][0]) in known and parent not in passed:
            count += known[parent][1]
            passed.add(parent)
            name = parent
        return count

    return {name: depth(name) for name in known}


def trace_episode(
    conversation: Conversation,
    model_calls: Sequence[ModelCall],
    tool_calls: Sequence[ToolCall],
    *,
    task: str = "",
    asked: str = "",
    ended: Sequence[object] = (),
    outcome: Outcome | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Trajectory:
    """Return the episode of one trace, whose calls are in order of time.

    Args:
        conversation: A new one; afterwards it knows what was left out.
        model_calls: The longest of them that begins with the task holds the conversation; those
            that lie deeper, in a tool or in another agent, are a sub-agent's and told, and so
            are those of other conversations beside it.
        tool_calls: They answer the calls that a model's messages hold, and are the steps where
            those hold none.
        task: The goal, if the trace names it; else the first thing the user says.
        asked: What the trace was given, where that is not a goal in itself; other conversations
            than those that begin with it are sub-agents'.
        ended: The agent's last message, if the trace as a whole gave one back; it is added where
            the model's answer to the last tool was not traced.
        outcome: How it ended, if the trace says so.
        metadata: Other facts.

    Raises:
        RecordError: It has no task or no step.
    """
    own = _own(model_calls, task or asked)
    level = _level(own, tool_calls)
    helped = sum(call.depth > level for call in model_calls)
    conversation.pass_over("model call", "made by a sub-agent", helped)
    if any(call.asked for call in model_calls):  # else nothing in it is another agent's
        tool_calls = [call for call in tool_calls if call.depth <= level]
    longest = _longest([call for call in own if call.depth <= level])
    if longest:
        topics = [task_in(call.asked) for call in model_calls if call.depth <= level]
        others = sum(topic not in ("", task_in(longest.asked)) for topic in topics)
        conversation.pass_over("model call", "of another conversation", others)
        longest = _continued(longest, [call for call in model_calls if call.depth <= level])
        add_messages(conversation, longest.asked)
        _add_answer(conversation, longest.answer_messages, tool_calls)
    else:
        if task:
            conversation.user(task)
        _add_steps(conversation, tool_calls)
    _add_last_message(conversation, ended, task or asked)
    return conversation.episode(
        task=task,
        environment=conversation.system,
        outcome=outcome,
        agent=longest.model if longest else "",
        metadata=metadata,
    )


def _add_answer(
    conversation: Conversation, answer_messages: Sequence[object], tool_calls: Sequence[ToolCall]
) -> None:
    """Return what the model answered, and what the tools did that its messages leave out."""
    if not conversation.has_calls and not add_messages(Conversation(), answer_messages).has_calls:
        _add_steps(conversation, tool_calls)  # the messages are the agent's first and last words
        add_messages(conversation, answer_messages)
        return
    add_messages(conversation, answer_messages)
    for call in tool_calls:
        if conversation.awaits(call.call_id):
            conversation.answer(content_text(call.answer), call.call_id, failed=call.failed)
    _join(conversation, [call for call in tool_calls if not call.call_id])


def _add_last_message(conversation: Conversation, ended: Sequence[object], task: str) -> None:
    """Return what the whole gave back, unless a model has said it, or some words like it."""
    exchange = conversation.last_exchange
    if exchange is None or add_messages(Conversation(), ended).has_calls:
        return
    if not _repeats(_words_of(ended), task, *exchange):
        add_messages(conversation, ended)


def _repeats(words: str, task: str, call: str, result: str) -> bool:
    in_json = orjson.dumps(words).decode()[1:-1]
    if words in call or in_json in call:
        return True
    return words in (task.strip(), result.strip(), _words_of(last_message(result)))


def _words_of(messages: Sequence[object]) -> str:
    parts = (part for each in messages for part in parts_of(as_mapping(each)))
    return "\n".join(map(content_text, parts)).strip()


def _join(conversation: Conversation, tool_calls: Sequence[ToolCall]) -> None:
    """Answer the calls at the end that no message answers by what was traced of the same calls."""
    made = conversation.calls()
    waiting = [index for index, call in enumerate(made) if not call.answered]
    if not waiting or not tool_calls:
        return
    texts = (call_text(call.name, as_object(call.given)) for call in tool_calls)
    by_text, by_name = _grouped(texts), _grouped(call.name for call in tool_calls)
    by_action = _grouped(call.action for call in made)
    by_tool = _grouped(call.tool or "" for call in made)
    found: dict[int, int | None] = {}
    left: dict[str, list[int]] = {}
    for index in waiting:
        if runs := by_text.get(made[index].action):
            found[index] = _own_run(index, by_action[made[index].action], runs)
        else:
            left.setdefault(made[index].tool or "", []).append(index)
    for tool, (index, *others) in left.items():
        # Its arguments are written in another way: then it must be the only one.
        runs = by_name.get(tool, [])
        if not others and len(runs) == len(by_tool[tool]):
            found[index] = _own_run(index, by_tool[tool], runs)
    for index, run in found.items():
        if run is not None:
            made[index].answer(content_text(tool_calls[run].answer), failed=tool_calls[run].failed)


def _grouped(keys: Iterable[str]) -> dict[str, list[int]]:
    """Return where each of some keys stands among them."""
    groups: dict[str, list[int]] = {}
    for index, key in enumerate(keys):
        groups.setdefault(key, []).append(index)
    return groups


def _own_run(index: int, same: Sequence[int], runs: Sequence[int]) -> int | None:
    turn = bisect_left(same, index) + max(len(runs) - len(same), 0)
    return runs[turn] if turn < len(runs) else None


def _add_steps(conversation: Conversation, tool_calls: Sequence[ToolCall]) -> None:
    for index, call in enumerate(tool_calls):
        call_id = f"{index} {call.call_id}"
        conversation.call(call.name, call.given, call_id)
        conversation.answer(content_text(call.answer), call_id, failed=call.failed)


def _own(calls: Sequence[ModelCall], task: str) -> Sequence[ModelCall]:
    own = [call for call in calls if task and task in task_in(call.asked)]
    return own or calls


def _level(calls: Sequence[ModelCall], tool_calls: Sequence[ToolCall]) -> int:
    acting = [call.depth for call in calls if _acts(call)]
    asking = [call.depth for call in calls if call.asked]
    return min(acting or [call.depth for call in tool_calls] or asking, default=0)


def _acts(call: ModelCall) -> bool:
    messages = map(as_mapping, (*call.asked, *call.answer_messages))
    return any(
        each.get("tool_calls") or each.get("type") == "function_call" or any(calls_made(each))
        for each in messages
    )


def _continued(longest: ModelCall, calls: Sequence[ModelCall]) -> ModelCall:
    """Return a call with those after it that were given only what is new: no word of a user."""
    index = next(i for i, call in enumerate(calls) if call is longest)
    for call in calls[index + 1 :]:
        roles = {role_of(as_mapping(each)) for each in call.asked}
        if call.asked and not roles & {"user", "system"}:
            heard = [*longest.asked, *longest.answer_messages]
            known = set(map(as_json, heard))
            new = [each for each in call.asked if as_json(each) not in known]
            longest = ModelCall(heard + new, call.answer_messages, longest.model or call.model)
    return longest


def _longest(calls: Sequence[ModelCall]) -> ModelCall | None:
    """Return the call that holds most of the conversation; the last of those that hold as much."""
    best: ModelCall | None = None
    for call in calls:
        if call.asked and (best is None or len(call.asked) >= len(best.asked)):
            best = call
    return best
