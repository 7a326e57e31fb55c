"""What frameworks keep of a run: states, sessions and histories, each a list of messages.

Every framework has its own words for the same messages. A shape here is how one of them is
known, and how its list becomes messages that `messages` understands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.outcome_keys import recorded_anywhere
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import add_messages, role_of
from deltamem_tui.trajectory.readers.reader import Part, Reader, Reading, each_part, share
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text, unfolded
from deltamem_tui.trajectory.workspace import workspace

_SURENESS = 0.9
# Where a state of LangGraph and a dump of it keep their messages.
_STATES = ("values", "channel_values", "state", "output")
_RESPONSE_ITEMS = frozenset({"function_call", "function_call_output", "reasoning", "message"})


@dataclass(frozen=True, slots=True)
class _Run:
    """A conversation in a record."""

    messages: list[object]
    agent: str = ""
    environment: str = ""
    id: str = ""


_Shape = Callable[[object], _Run | None]


def _responses(value: object) -> _Run | None:
    """OpenAI's Responses: a response with its input, or the items of the Agents SDK."""
    record = as_mapping(value)
    if isinstance(value, list):
        kinds = {as_text(as_mapping(each).get("type")) for each in value}
        if not kinds & {"function_call", "function_call_output"} or not all(map(_is_item, value)):
            return None
        return _Run(value)
    if not isinstance(record.get("output"), list) or "input" not in record:
        return None
    output = as_list(record["output"])
    if not all(as_text(as_mapping(each).get("type")) in _RESPONSE_ITEMS for each in output):
        return None
    asked = record["input"]
    messages = [{"role": "user", "content": asked}] if isinstance(asked, str) else as_list(asked)
    return _Run(
        [*messages, *output],
        as_text(record.get("model")),
        as_text(record.get("instructions")),
        as_text(record.get("id")),
    )


def _is_item(value: object) -> bool:
    item = as_mapping(value)
    return "role" in item or as_text(item.get("type")) in _RESPONSE_ITEMS


def _langchain(value: object) -> _Run | None:
    """LangChain's messages: in a state, as `messages_to_dict` or `dumps` write them, or bare."""
    record = as_mapping(value)
    for key in _STATES:
        record = as_mapping(record.get(key)) or record
    messages = record.get("messages", value)
    if not isinstance(messages, list) or not messages or not all(map(_is_langchain, messages)):
        return None
    plain = [_langchain_message(as_mapping(each)) for each in messages]
    agents = (as_mapping(each.get("response_metadata")).get("model_name") for each in plain)
    return _Run([*plain], next((name for name in agents if isinstance(name, str)), ""))


def _is_langchain(value: object) -> bool:
    message = as_mapping(value)
    if message.get("type") == "constructor":
        return isinstance(message.get("kwargs"), dict)
    return (
        "role" not in message
        and role_of(message) is not None
        and ("content" in message or isinstance(message.get("data"), dict))
    )


def _langchain_message(message: Json) -> Json:
    data = as_mapping(message.get("data"))
    return {**data, "type": message.get("type")} if data else message


def _intermediate_steps(value: object) -> _Run | None:
    record = as_mapping(value)
    steps = record.get("intermediate_steps")
    if not isinstance(steps, list) or "input" not in record:
        return None
    messages: list[object] = [{"role": "user", "content": record["input"]}]
    for number, pair in enumerate(map(as_list, steps)):
        action = as_mapping(pair[0] if pair else None)
        action = as_mapping(action.get("kwargs")) or action
        call = {"name": action.get("tool"), "args": action.get("tool_input"), "id": str(number)}
        thought = as_text(action.get("log")).partition("\nAction:")[0]
        thought = thought.removeprefix("Thought:").strip()
        messages.append({"role": "assistant", "content": thought, "tool_calls": [call]})
        answer = pair[1] if len(pair) > 1 else ""
        messages.append({"role": "tool", "tool_call_id": str(number), "content": answer})
    messages.append({"role": "assistant", "content": record.get("output") or ""})
    return _Run(messages)


_PYDANTIC_ROLES = {"system-prompt": "system", "user-prompt": "user", "text": "assistant"}


def _pydantic_ai(value: object) -> _Run | None:
    """pydantic-ai's messages: requests and responses, each of typed parts."""
    messages = as_mapping(value).get("messages", value)
    if not isinstance(messages, list) or not messages:
        return None
    if not all(as_mapping(each).get("kind") in ("request", "response") for each in messages):
        return None
    plain = [_pydantic_part(as_mapping(part)) for each in messages for part in _parts(each)]
    agents = (as_mapping(each).get("model_name") for each in messages)
    rules = (as_text(as_mapping(each).get("instructions")) for each in messages)
    return _Run(
        [*plain],
        next((name for name in agents if isinstance(name, str)), ""),
        next(filter(None, rules), ""),
    )


def _parts(message: object) -> list[object]:
    return as_list(as_mapping(message).get("parts"))


def _pydantic_part(part: Json) -> Json:
    kind = as_text(part.get("part_kind"))
    call_id = part.get("tool_call_id")
    if kind == "tool-call":
        call = {"name": part.get("tool_name"), "args": part.get("args"), "id": call_id}
        return {"role": "assistant", "content": "", "tool_calls": [call]}
    if kind == "thinking":
        return {"role": "assistant", "content": "", "reasoning": part.get("content")}
    if kind == "tool-return" or (kind == "retry-prompt" and part.get("tool_name")):
        failed = kind == "retry-prompt"
        content = part.get("content")
        return {"role": "tool", "tool_call_id": call_id, "content": content, "is_error": failed}
    return {"role": _PYDANTIC_ROLES.get(kind, "user"), "content": part.get("content")}


def _adk(value: object) -> _Run | None:
    """Google's ADK: a session's events, each with an author and Gemini's content."""
    record = as_mapping(value)
    events = record.get("events")
    if not isinstance(events, list) or not events:
        return None
    if not all("author" in as_mapping(each) for each in events):
        return None
    messages = [
        {"role": "user" if as_mapping(event).get("author") == "user" else "model", "parts": parts}
        for event in events
        if (parts := _parts(as_mapping(event).get("content")))
    ]
    app = as_text(record.get("app_name") or record.get("appName"))
    return _Run([*messages], environment=f"Application: {app}" if app else "", id=_id(record))


def _id(record: Json) -> str:
    return as_text(record.get("id"))


_CALLS, _ANSWERS = "ToolCallRequestEvent", "ToolCallExecutionEvent"


def _autogen(value: object) -> _Run | None:
    """AutoGen's messages: each with a source and the name of its class as type."""
    messages = as_mapping(value).get("messages", value)
    if not isinstance(messages, list) or not messages:
        return None
    rows = [*map(as_mapping, messages)]
    if not all("source" in row and _is_class(row.get("type")) for row in rows):
        return None
    return _Run([message for row in rows for message in _autogen_messages(row)])


def _is_class(name: object) -> bool:
    return isinstance(name, str) and name.endswith(("Message", "Event"))


def _autogen_messages(row: Json) -> Iterator[object]:
    kind, content = row["type"], row.get("content")
    if kind == _CALLS:
        yield {"role": "assistant", "content": "", "tool_calls": content}
    elif kind == _ANSWERS:
        for answer in map(as_mapping, as_list(content)):
            yield {**answer, "role": "tool", "tool_call_id": answer.get("call_id")}
    elif kind == "ThoughtEvent":
        yield {"role": "assistant", "content": "", "reasoning": content}
    elif kind not in ("ToolCallSummaryMessage", "UserInputRequestedEvent"):
        yield {"role": "user" if row["source"] == "user" else "assistant", "content": content}


def _smolagents(value: object) -> _Run | None:
    """Smolagents' memory: a task, then steps with calls or code and what they showed."""
    steps = as_mapping(value).get("steps", value)
    if not isinstance(steps, list) or not steps:
        return None
    rows = [*map(as_mapping, steps)]
    if not any("model_output" in row and "observations" in row for row in rows):
        return None
    task = as_text(as_mapping(value).get("task"))
    messages: list[object] = [{"role": "user", "content": task}] if task else []
    for row in rows:
        messages += _smolagents_messages(row)
    return _Run(messages)


def _smolagents_messages(row: Json) -> Iterator[object]:
    if row.get("task"):
        yield {"role": "user", "content": row["task"]}
    if "model_output" not in row:
        return
    calls = [as_mapping(each) for each in as_list(row.get("tool_calls"))]
    output = row.get("model_output")
    said = as_text(output) if isinstance(output, str) else ""
    code = as_text(row.get("code_action"))
    said = said.partition("<code>" if "<code>" in said else "```")[0] if code else said
    if not calls and code:
        calls = [{"id": "", "function": {"name": "python_interpreter", "arguments": code}}]
    yield {"role": "assistant", "content": said.removeprefix("Thought:"), "tool_calls": calls}
    error = as_mapping(row.get("error"))
    shown = as_text(row.get("observations")) or as_text(error.get("message"))
    call_id = calls[-1].get("id") if calls else ""
    if shown:
        yield {"role": "tool", "tool_call_id": call_id, "content": shown, "is_error": bool(error)}


def _vercel(value: object) -> _Run | None:
    messages = as_mapping(value).get("messages", value)
    rows = [*map(as_mapping, as_list(messages))]
    if not rows or not all(isinstance(row.get("parts"), list) and "role" in row for row in rows):
        return None
    kinds = [as_text(as_mapping(part).get("type")) for row in rows for part in _parts(row)]
    if not any(
        kind.startswith("tool-") or kind in ("dynamic-tool", "step-start") for kind in kinds
    ):
        return None
    return _Run([{**row, "content": row["parts"]} for row in rows], id=_id(as_mapping(value)))


def _opencode(value: object) -> _Run | None:
    """Return an exported session of opencode: `info`, and messages of `info` and parts."""
    record = as_mapping(value)
    rows = [*map(as_mapping, as_list(record.get("messages")))]
    if (
        "info" not in record
        or not rows
        or not all("info" in row and "parts" in row for row in rows)
    ):
        return None
    info, told = as_mapping(record["info"]), [as_mapping(row["info"]) for row in rows]
    messages = [
        {"role": about.get("role"), "content": [*map(_without_marks, _parts(row))]}
        for row, about in zip(rows, told, strict=True)
    ]
    agents = (as_text(about.get("modelID")) for about in told)
    return _Run(
        [*messages],
        next(filter(None, agents), ""),
        workspace(directory=as_text(info.get("directory"))),
        _id(info),
    )


def _without_marks(part: object) -> object:
    """Return a part; the quotation marks that its shell left around a whole prompt go."""
    row = as_mapping(part)
    text = row.get("text")
    if row.get("synthetic") is True:
        return {"type": "step-start"}
    if row.get("type") == "text" and isinstance(text, str) and text[:1] == text[-1:] == '"':
        inner = text[1:-1]
        return {**row, "text": text if '"' in inner else inner}
    return part


_SHAPES: dict[str, tuple[_Shape, str]] = {
    "opencode": (_opencode, "opencode: an exported session of info and messages"),
    "ai-sdk": (_vercel, "Vercel AI SDK: messages of parts, with tool-NAME"),
    "pydantic-ai": (_pydantic_ai, "pydantic-ai: requests and responses of typed parts"),
    "adk": (_adk, "Google ADK: sessions of events with author and content"),
    "autogen": (_autogen, "AutoGen: messages with source and type"),
    "smolagents": (_smolagents, "smolagents: steps with model_output and observations"),
    "langchain": (_langchain, "LangChain, LangGraph: messages of type human, ai and tool"),
    "langchain-steps": (_intermediate_steps, "LangChain: input, intermediate_steps and output"),
    "openai-responses": (_responses, "OpenAI Responses and Agents SDK: items of input and output"),
}


def _reader(name: str, shape: _Shape, description: str) -> Reader:
    def claims(preview: Preview) -> float:
        records = preview.records
        # One message a line is a list of them as well.
        if preview.layout == "lines" and len(records) > 1 and shape([*records]) is not None:
            return _SURENESS
        if preview.layout == "array" and shape([*records]) is not None:
            return _SURENESS
        return _SURENESS * share(preview, lambda value: shape(value) is not None)

    def read(log: Log) -> Iterator[Reading]:
        preview = log.preview()
        is_one = preview.layout in ("lines", "array") and shape([*preview.records]) is not None
        if is_one and len(preview.records) > 1:
            yield from _gathered(log, shape)
        else:
            yield from each_part(lambda value: _episodes(value, shape))(log)

    return Reader(name, description, claims, read)


def _episodes(value: object, shape: _Shape) -> Iterable[Part]:
    run = shape(value)
    if run is None:
        raise RecordError("no messages of this format")
    yield "", lambda conversation: _episode(conversation, run, as_mapping(value))


def _gathered(log: Log, shape: _Shape) -> Iterator[Reading]:
    """Yield all records of a log as one list of messages."""
    from deltamem_tui.trajectory.readers.reader import conversation_readings

    values, first = [], ""
    for item in log.records():
        if isinstance(item, RecordError):
            yield item
        else:
            values.append(item.value)
            first = first or item.position
    run = shape(values)
    if run is None:
        yield RecordError("not all of its records are messages of this format", position=first)
        return
    yield from conversation_readings(first, lambda conversation: _episode(conversation, run, {}))


def _episode(conversation: Conversation, run: _Run, record: Json) -> Trajectory:
    add_messages(conversation, map(unfolded, run.messages))
    return conversation.episode(
        environment=run.environment or conversation.system,
        outcome=recorded_anywhere(record),
        agent=run.agent,
        metadata={"id": run.id},
    )


READERS = tuple(_reader(name, shape, told) for name, (shape, told) in _SHAPES.items())
