"""Messages of any provider's dialect, added to a `Conversation`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import StepStatus
from deltamem_tui.trajectory.readers.coding import (
    exit_status,
    own_words,
    shell_answer,
    without_reminders,
)
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.shapes import (
    Json,
    as_list,
    as_mapping,
    as_text,
    medium_in,
    unfolded,
    without_images,
)
from deltamem_tui.trajectory.secrets.redaction import quoted

Role = Literal["system", "user", "agent", "tool"]
_ROLES: dict[str, Role] = {
    **dict.fromkeys(("system", "developer", "systemmessage"), "system"),
    **dict.fromkeys(("user", "human", "humanmessage"), "user"),
    **dict.fromkeys(("assistant", "agent", "ai", "bot", "gpt", "model"), "agent"),
    **dict.fromkeys(("aimessage", "aimessagechunk", "function_call"), "agent"),
    **dict.fromkeys(("tool", "toolmessage", "toolresult", "tool_result", "tool_response"), "tool"),
    **dict.fromkeys(("function", "functionmessage", "function_response"), "tool"),
    **dict.fromkeys(("environment", "ipython", "observation"), "tool"),
}
# Bedrock names a part by its key alone, and has no `type`.
_BEDROCK_PARTS = {
    "toolUse": ("tool_use", {"toolUseId": "id"}),
    "toolResult": ("tool_result", {"toolUseId": "tool_use_id"}),
}
_TEXT_PARTS = frozenset({"", "text", "input_text", "output_text", "refusal"})
_TEXT_KEYS = ("text", "content", "thinking", "think", "value")
_THOUGHT_PARTS = frozenset(
    {"thinking", "think", "reasoning", "thought", "summary_text", "reasoning_text"}
)
_CALL_PARTS = frozenset({"tool_use", "tool_call", "toolcall", "functioncall", "function_call"})
_ANSWER_PARTS = frozenset({"tool_result", "tool_call_response", "function_call_output"})
_DEEPEST = 16  # parts of a content in one another; none is known of more than three
# Where Anthropic's own servers put what was found, next to what only they can read.
_FOUND_PARTS = frozenset({"web_search_result", "web_fetch_result"})
_ANSWERED_KEYS = ("tool_call_id", "toolCallId")
_ANSWERED = frozenset({"completed", "output_available", "result"})
_FAILED = frozenset({"error", "output_error", "output_denied"})


def speaker(name: object) -> Role | None:
    """Return who speaks under a name, in whatever letters; None if it is unknown."""
    return _ROLES.get(name.lower()) if isinstance(name, str) else None


def unknown_speaker(name: str) -> RecordError:
    """Return the refusal of a message whose speaker is unknown."""
    return RecordError(
        f"a message of unknown role {quoted(name, 40)}" if name else "a message without a role"
    )


def add_messages(conversation: Conversation, messages: Iterable[object]) -> Conversation:
    """Add a list of messages to a conversation, and return it."""
    for message in messages:
        add_message(conversation, message)
    return conversation


def add_message(conversation: Conversation, value: object) -> None:
    """Add one message to a conversation; an item of a kind that says nothing adds nothing."""
    message = _unwrapped(as_mapping(value))
    role = role_of(message)
    if role is None:
        if message.get("role") or not _kind(message):
            raise unknown_speaker(as_text(message.get("role")))
        _add_part(conversation, message, "agent")
    elif role == "tool":
        # Some tracers say that the tool speaks where the agent calls it, or is on offer.
        named = [part for part in parts_of(message) if part.get("type") == "function"]
        calls = [part for part in named if "arguments" in as_mapping(part.get("function"))]
        offered = as_mapping(message.get("content"))
        for part in calls:
            _add_call(conversation, part)
        if not calls and not (offered.get("type") == "function" and "function" in offered):
            _add_answers(conversation, message)
    else:
        for thought in (message.get("reasoning_content"), message.get("reasoning")):
            if isinstance(thought, str):
                conversation.think(thought)
        for part in parts_of(message):
            _add_part(conversation, part, role)
        for call in _calls_beside(message):
            _add_call(conversation, call)


def role_of(message: Json) -> Role | None:
    """Return who speaks in a message; None if it does not say so in a known word."""
    if message.get("role"):
        return speaker(message["role"])
    kind = _kind(message)
    return None if kind in _CALL_PARTS | _ANSWER_PARTS else speaker(kind)


def is_message(value: object) -> bool:
    """Return True if a value looks like a message or a response item, whoever speaks in it."""
    message = _unwrapped(as_mapping(value))
    if role_of(message) is not None or isinstance(message.get("role"), str):
        return not message.keys().isdisjoint(("content", "parts", "text", "tool_calls"))
    return message.get("type") in ("function_call", "function_call_output", "reasoning")


def parts_of(message: Json) -> Iterator[Json]:
    """Yield the parts of a message's content; plain text is a part by itself."""
    content = message.get("content")
    if content is None or content == "":
        content = message.get("parts") or message.get("text")
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            yield {"type": "text", "text": part}
        elif isinstance(part, dict) and part.keys() != {"cachePoint"}:  # a mark for the service
            yield _with_type(part)


def calls_made(message: Json) -> Iterator[str]:
    """Yield the ids of the calls in a message's content."""
    return (_call_id(part) for part in parts_of(message) if _is_call(part))


def answered_calls(message: Json) -> Iterator[str]:
    """Yield the ids of the calls that a message answers."""
    if call_id := _first_text(message, _ANSWERED_KEYS):
        yield call_id
    yield from (_answered(part) for part in parts_of(message) if is_result(part))


def is_result(part: Json) -> bool:
    """Return True if a part of a message's content is what a tool answered."""
    kind = _kind(part)
    return kind in _ANSWER_PARTS or kind.endswith("_tool_result")


def content_text(content: object, depth: int = 0) -> str:
    """Return the text of a message's or a tool's content, with notes for pictures and files."""
    if isinstance(content, str):
        return without_images(content)
    if depth < _DEEPEST and isinstance(content, list):
        return "\n".join(filter(None, (content_text(part, depth + 1) for part in content)))
    part = as_mapping(content)
    if not part or depth >= _DEEPEST:
        return without_images(as_text(content))
    kind = _kind(part)
    if medium := medium_in(part, kind):
        return f"[{medium}]"
    written = _written_in(part, kind)
    if written is None and kind in _TEXT_PARTS | _THOUGHT_PARTS:
        written = _first(part, _TEXT_KEYS)
    if written is None and is_result(part):
        written = _answer_of(part)
    return content_text(as_text(part) if written is None else written, depth + 1)


def _first(part: Json, keys: Iterable[str]) -> object:
    return next((part[key] for key in keys if part.get(key) is not None), None)


def _unwrapped(message: Json) -> Json:
    kwargs, names = message.get("kwargs"), message.get("id")
    if isinstance(kwargs, dict) and isinstance(names, list) and names:
        name = as_text(names[-1])
        role = name if speaker(name) else kwargs.get("role") or name
        return {"type": name, **kwargs, "role": role}
    return message


def _kind(part: Json) -> str:
    kind = part.get("type")
    return kind.lower().replace("-", "_") if isinstance(kind, str) else ""


def _is_call(part: Json) -> bool:
    kind = _kind(part)  # those of tools that the model's service brings along say so before it
    return kind in _CALL_PARTS or kind.endswith("_tool_use")


def _with_type(part: Json) -> Json:
    """Return a part as others write it, with a `type`, if it is one of Bedrock's."""
    if "type" in part and "value" not in part:
        return part
    for key, (kind, names) in _BEDROCK_PARTS.items():
        inner = as_mapping(part.get(key))
        if inner and "type" not in part:
            return {**{names.get(name, name): inner[name] for name in inner}, "type": kind}
    if reasoning := as_mapping(part.get("reasoningContent")):
        return {"type": "reasoning", **as_mapping(reasoning.get("reasoningText"))}
    if isinstance(value := part.get("value"), str) and "text" not in part:
        # Data for training has all that a part says in one text, a call as JSON.
        return {"text": value, **part, **(as_mapping(unfolded(value)) if _is_call(part) else {})}
    return part


def _written_in(part: Json, kind: str) -> object:
    """Return what stands in a document that is text, a page that was found, or JSON; else None."""
    if kind == "document":
        source = as_mapping(part.get("source"))
        return source.get("data", source.get("content", part.get("content")))
    if kind in _FOUND_PARTS:
        return [part.get("title") or "", part.get("url") or "", part.get("content") or ""]
    if kind == "json":
        return as_text(part.get("value"))
    return as_text(part["json"]) if part.keys() == {"json"} else None


def _add_part(conversation: Conversation, part: Json, role: Role) -> None:
    kind = _kind(part)
    if function := part.get("function_call") or part.get("functionCall"):
        _add_call(conversation, as_mapping(function))
    elif response := part.get("function_response") or part.get("functionResponse"):
        _add_response(conversation, as_mapping(response))
    elif _holds_answer(part, kind):
        _add_call_and_answer(conversation, part)
    elif _is_call(part):
        _add_call(conversation, part)
    elif is_result(part):
        _add_answer(conversation, part, content_text(_answer_of(part)), _answered(part))
    elif kind in _THOUGHT_PARTS or part.get("thought") is True:
        conversation.think(content_text(part.get("summary") or part))
    elif "role" in part and kind == "message":
        add_message(conversation, {**part, "type": ""})
    else:
        _add_words(conversation, part, role, kind)


def _add_words(conversation: Conversation, part: Json, role: Role, kind: str) -> None:
    if role == "system":
        conversation.instruct(content_text(part))
    elif role == "user":
        conversation.user(own_words(content_text(part)))
    elif kind in _TEXT_PARTS and any(key in part for key in _TEXT_KEYS):
        conversation.say(content_text(part))


def _add_response(conversation: Conversation, response: Json) -> None:
    """Add an answer of Google's dialect: an object, of which the output or the error counts."""
    answer = response.get("response")
    inner = as_mapping(answer)
    found = _first(inner, ("output", "result", "content", "error"))
    if found is None or (len(inner) > 1 and "output" not in inner and not inner.get("error")):
        found = answer
    text, by_code = shell_answer(content_text(found if isinstance(found, list) else as_text(found)))
    status = as_text(response.get("status"))
    stated: StepStatus | None = "ok" if status == "success" else None
    failed = bool(inner.get("error")) or status == "error"
    call_id = as_text(response.get("id"))
    conversation.answer(text, call_id, failed=failed, status=by_code or stated)


def _holds_answer(part: Json, kind: str) -> bool:
    """Return True if a part is a call and what came of it, as opencode and the AI SDK have it."""
    if isinstance(part.get("toolInvocation"), dict):
        return True
    is_named = kind.startswith("tool_") and kind not in _CALL_PARTS | _ANSWER_PARTS
    return "state" in part and (kind in ("tool", "dynamic_tool") or is_named)


def _add_call_and_answer(conversation: Conversation, part: Json) -> None:
    part = as_mapping(part.get("toolInvocation")) or part
    state = part.get("state")
    row = {**part, **as_mapping(state)}
    kind = as_text(part.get("type"))
    name = as_text(part.get("toolName") or part.get("tool") or kind.removeprefix("tool-"))
    call_id = as_text(part.get("callID") or part.get("toolCallId"))
    conversation.call(name, row.get("input", row.get("args")), call_id)
    ended = as_text(row.get("status") or state).replace("-", "_")
    if ended in _ANSWERED | _FAILED:
        failed = ended in _FAILED
        shown = (row.get("errorText") or row.get("error")) if failed else None
        text = content_text(shown or row.get("output", row.get("result")))
        by_code = exit_status(as_mapping(row.get("metadata")).get("exit"))
        conversation.answer(text, call_id, failed=failed, status=by_code or "ok")


def _calls_beside(message: Json) -> Iterator[Json]:
    extra = as_mapping(message.get("additional_kwargs"))
    for call in as_list(message.get("tool_calls")) or as_list(extra.get("tool_calls")):
        yield as_mapping(call)
    if function := as_mapping(message.get("function_call")):
        yield function


def _add_call(conversation: Conversation, call: Json) -> None:
    function = call.get("function")
    named = as_mapping(function) or call
    bare = function if isinstance(function, str) else ""
    name = as_text(named.get("name") or named.get("toolName") or bare)
    if name:
        arguments = _first(named, ("arguments", "args", "input", "parameters"))
        conversation.call(name, arguments, _call_id(call))


def _call_id(call: Json) -> str:
    return _first_text(call, ("call_id", "id", "toolCallId"))


def _answered(part: Json) -> str:
    own = next((key for key in part if key.endswith("tool_use_id")), "tool_use_id")
    return _first_text(part, (own, "call_id", "id", "toolCallId"))


def _first_text(part: Json, keys: tuple[str, ...]) -> str:
    return as_text(next((part[key] for key in keys if part.get(key)), ""))


def _add_answers(conversation: Conversation, message: Json) -> None:
    answers = [part for part in parts_of(message) if is_result(part)]
    for part in answers:
        _add_part(conversation, part, "tool")
    if not answers:
        text = content_text(message.get("content", message.get("parts")))
        _add_answer(conversation, message, text, _first_text(message, _ANSWERED_KEYS))


def _add_answer(conversation: Conversation, answer: Json, text: str, call_id: str) -> None:
    error = answer.get("error")
    marks = [answer.get("is_error"), answer.get("isError")]
    inner = _kind(as_mapping(answer.get("content")))
    failed = bool(error) or answer.get("status") == "error" or any(each is True for each in marks)
    failed = failed or inner.endswith("_tool_result_error")
    is_ok = answer.get("status") == "success" or any(each is False for each in marks)
    if error and error is not True and not text.strip():
        text = content_text(as_mapping(error).get("message") or error)
    stated: StepStatus | None = "ok" if is_ok else None
    status = exit_status(answer.get("exit_code")) or stated
    conversation.answer(without_reminders(text), call_id, failed=failed, status=status)


def _answer_of(part: Json) -> object:
    found = _first(part, ("content", "output", "result", "response"))
    return "" if found is None else found


WENT_BACK = "the conversation went back and on from before"


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
