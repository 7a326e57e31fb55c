"""A trace as tracing tools keep it: calls of models and tools, drawn together into one episode.

Every call of a model repeats the conversation so far, so the longest of them holds it all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.readers.calls import call_text
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import (
    content_text,
    is_message,
    parts_of,
    role_of,
    tell,
)
from deltamem_tui.trajectory.readers.own_words import own_words
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text

# Where programs put what a user asked, when they trace their own functions.
_ASKED = ("input", "query", "question", "prompt", "task", "goal", "new_message", "message", "text")


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a model.

    Attributes:
        asked: The messages it was given: the conversation so far.
        told: The messages it answered with.
        model: Its name.
    """

    asked: Sequence[object]
    told: Sequence[object]
    model: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool that was traced by itself.

    Attributes:
        name: The tool.
        given: Its arguments.
        answer: What it returned.
        call_id: The model's call that it was made for, if the trace says so.
        failed: Whether the trace says that it failed.
    """

    name: str
    given: object
    answer: object
    call_id: str = ""
    failed: bool = False


def trace_episode(
    conversation: Conversation,
    model_calls: Sequence[ModelCall],
    tool_calls: Sequence[ToolCall],
    *,
    task: str = "",
    asked: str = "",
    outcome: Outcome | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Trajectory:
    """The episode of one trace.

    Args:
        conversation: A new one; is told the trace, for who wants to know what it left out.
        model_calls: In order of time.
        tool_calls: In order of time. They answer the calls that a model's messages hold, and
            are the steps where those hold none.
        task: The goal, if the trace names it; else the first thing the user says.
        asked: What the trace was given, where that is no goal in itself. The conversation
            that begins with it, or with the task, is the episode; others are sub-agents'.
        outcome: How it ended, if the trace says so.
        metadata: Other facts.

    Raises:
        RecordError: It has no task or no step.
    """
    longest = _longest(_own(model_calls, task or asked))
    if longest:
        tell(conversation, longest.asked)
        _tell_told(conversation, longest.told, tool_calls)
    else:
        if task:
            conversation.user(task)
        _tell_steps(conversation, tool_calls)
    return conversation.episode(
        task=task,
        environment=conversation.system,
        outcome=outcome,
        agent=longest.model if longest else "",
        metadata=metadata,
    )


def _tell_told(
    conversation: Conversation, told: Sequence[object], tool_calls: Sequence[ToolCall]
) -> None:
    """What the model answered, and what the tools did that its messages leave out."""
    if not conversation.has_calls and not tell(Conversation(), told).has_calls:
        _tell_steps(conversation, tool_calls)  # the messages are the agent's first and last words
        tell(conversation, told)
        return
    tell(conversation, told)
    for call in tool_calls:
        if conversation.awaits(call.call_id):
            conversation.answer(content_text(call.answer), call.call_id, failed=call.failed)


def _tell_steps(conversation: Conversation, tool_calls: Sequence[ToolCall]) -> None:
    for index, call in enumerate(tool_calls):
        call_id = f"{index} {call.call_id}"
        conversation.act(call_text(call.name, call.given), call_id)
        conversation.answer(content_text(call.answer), call_id, failed=call.failed)


def messages_in(value: object, *, answer: bool = False) -> list[object]:
    """The messages in what a tracer keeps as a model call's input or output.

    Args:
        value: A list of messages, or an object that holds one in any provider's way.
        answer: Whether it is what the model answered, in which plain text is a message too.
    """
    if isinstance(value, list):
        # Some tracers keep a batch of conversations; the first is this one's.
        batch = value[0] if value and isinstance(value[0], list) else value
        return [item for item in batch if is_message(item)]
    if isinstance(value, str):
        return [{"role": "assistant", "content": value}] if answer and value else []
    record = as_mapping(value)
    if is_message(record):
        return [record]
    for key in ("messages", "contents", "generations", "choices", "output"):
        items = as_list(record.get(key))
        batch = items[0] if items and isinstance(items[0], list) else items
        found = [item for item in batch if is_message(item)]
        found = found or [item for item in map(_inner, items) if is_message(item)]
        if found:
            return _instructions(record) + found
    content = as_mapping(record.get("content") or record.get("message"))
    return [content] if is_message(content) else []


def task_in(value: object) -> str:
    """What a user asked, in whatever a trace keeps as its input; empty if that is not clear."""
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


def _own(calls: Sequence[ModelCall], task: str) -> Sequence[ModelCall]:
    """The calls in which a user says the task; all of them if none is, or if it is not known."""
    own = [call for call in calls if task and task in task_in(call.asked)]
    return own or calls


def _longest(calls: Sequence[ModelCall]) -> ModelCall | None:
    """The call that holds most of the conversation; the last of those that hold as much."""
    best: ModelCall | None = None
    for call in calls:
        if call.asked and (best is None or len(call.asked) >= len(best.asked)):
            best = call
    return best


def _inner(item: object) -> object:
    """The message inside a choice, a generation or a batch of one."""
    first = item[0] if isinstance(item, list) and item else item
    return as_mapping(first).get("message") or first


def _instructions(record: Json) -> list[object]:
    """A system prompt that stands beside the messages."""
    config = as_mapping(record.get("config"))
    for text in (
        config.get("system_instruction"),
        record.get("system_instruction"),
        record.get("system"),
    ):
        if text:
            return [{"role": "system", "content": content_text(text) or as_text(text)}]
    return []
