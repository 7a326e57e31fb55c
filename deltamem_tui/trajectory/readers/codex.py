"""Codex: rollout JSONL, a line for each item of the conversation and each event shown of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from deltamem_tui.trajectory.logs.log import Preview, Record
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.calls import call_text
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import content_text
from deltamem_tui.trajectory.readers.own_words import own_words
from deltamem_tui.trajectory.readers.reader import Reader, Reading, placed_or_refused, share
from deltamem_tui.trajectory.readers.roles import speaker, unknown_speaker
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text, unfolded
from deltamem_tui.trajectory.readers.whole_log import stray, whole_log
from deltamem_tui.trajectory.readers.workspace import workspace

_LINE_TYPES = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "session_state"}
)
_SYSTEM = re.compile(r"<(?:operating_system|os|platform)>([^<]*)</")
_ANSWERS = frozenset({"function_call_output", "custom_tool_call_output"})


@dataclass(slots=True)
class _Session:
    """What the lines say, the conversation kept in order until all of it is known."""

    position: str = ""
    id: str = ""
    directory: str = ""
    repository: str = ""
    system: str = ""
    agent: str = ""
    items: list[Json] = field(default_factory=list)
    has_user_events: bool = False
    has_items: bool = False


def _gather(records: Iterable[Record], log_name: str) -> Iterator[Reading]:  # noqa: ARG001
    session = _Session()
    for record in records:
        line = as_mapping(record.value)
        if not _has_payload(line):
            yield stray("it has no `type` or no `payload`", record.position)
            continue
        if session.items and _begins_another(session, line):
            yield placed_or_refused(session.position, _episode, session)
            session = _Session()
        session.position = session.position or record.position
        _take(session, line)
    if session.position:
        yield placed_or_refused(session.position, _episode, session)


def _begins_another(session: _Session, line: Json) -> bool:
    """Whether a line opens another session, as in files that were put together.

    A forked session opens with its own header and its parent's, and only then says anything.
    """
    name = as_text(as_mapping(line["payload"]).get("id"))
    return line["type"] == "session_meta" and session.id not in ("", name)


def _episode(session: _Session) -> Trajectory:
    return _conversation(session).episode(
        environment=workspace(
            repository=session.repository,
            system=session.system,
            directory=session.directory,
        ),
        agent=session.agent,
        metadata={"id": session.id},
    )


def _take(session: _Session, line: Json) -> None:
    kind, payload = line.get("type"), as_mapping(line.get("payload"))
    if kind == "session_meta":
        session.id = session.id or as_text(payload.get("id"))
        session.directory = session.directory or as_text(payload.get("cwd"))
        address = as_mapping(payload.get("git")).get("repository_url")
        session.repository = session.repository or as_text(address)
    elif kind == "turn_context":
        session.directory = session.directory or as_text(payload.get("cwd"))
        session.agent = session.agent or as_text(payload.get("model"))
    elif kind == "event_msg":
        _take_event(session, payload)
    elif kind == "response_item":
        _take_item(session, payload)


def _take_event(session: _Session, event: Json) -> None:
    """Events repeat the items, but for one thing: they alone say what the user really typed."""
    if event.get("type") == "user_message":
        session.has_user_events = True
        session.items.append({"user_event": event.get("message")})
    elif event.get("type") == "agent_message":
        session.items.append({"agent_event": event.get("message")})


def _take_item(session: _Session, item: Json) -> None:
    if item.get("role") == "user":
        found = (match[1].strip() for match in _SYSTEM.finditer(content_text(item.get("content"))))
        session.system = session.system or next(filter(None, found), "")
    elif item.get("type") in ("message", "function_call", "custom_tool_call"):
        session.has_items = True
    session.items.append(item)


def _conversation(session: _Session) -> Conversation:
    conversation = Conversation()
    for item in session.items:
        if "user_event" in item:
            conversation.user(own_words(as_text(item["user_event"])))
        elif "agent_event" in item:
            if not session.has_items:
                conversation.say(as_text(item["agent_event"]))
        elif item.get("role") == "user":
            if not session.has_user_events:
                conversation.user(own_words(content_text(item.get("content"))))
        else:
            _tell(conversation, item)
    return conversation


def _tell(conversation: Conversation, item: Json) -> None:
    kind, call_id = as_text(item.get("type")), as_text(item.get("call_id"))
    if kind == "message":
        who = speaker(item.get("role"))
        if who is None:
            raise unknown_speaker(as_text(item.get("role")))
        if who == "agent":
            conversation.say(content_text(item.get("content")))
    elif kind == "reasoning":
        for part in (*as_list(item.get("summary")), *as_list(item.get("content"))):
            conversation.think(content_text(part))
    elif kind in ("function_call", "custom_tool_call"):
        arguments = item.get("arguments", item.get("input"))
        conversation.act(call_text(as_text(item.get("name")) or "tool", arguments), call_id)
    elif kind == "local_shell_call":
        conversation.act(call_text("local_shell", item.get("action")), call_id)
    elif kind == "web_search_call":
        query = as_mapping(item.get("action")).get("query")
        conversation.act(call_text("web_search", {"query": query}), call_id)
    elif kind in _ANSWERS:
        conversation.answer(_output(item.get("output")), call_id)


def _output(output: object) -> str:
    """What a tool printed, out of the JSON text that wraps it, with an exit code that is not 0."""
    wrapped = as_mapping(unfolded(output))
    if "output" not in wrapped and "content" not in wrapped:
        return content_text(output)
    text = content_text(wrapped.get("output", wrapped.get("content")))
    code = as_mapping(wrapped.get("metadata")).get("exit_code")
    return f"{text.rstrip()}\n(exit code {code})".lstrip() if code else text


def _is_line(value: object) -> bool:
    line = as_mapping(value)
    return _has_payload(line) and line["type"] in _LINE_TYPES


def _has_payload(line: Json) -> bool:
    return isinstance(line.get("type"), str) and isinstance(line.get("payload"), dict)


def _claims(preview: Preview) -> float:
    return 0.95 * share(preview, _is_line)


READER = Reader(
    name="codex",
    description="Codex: rollout JSONL of response items and events",
    claims=_claims,
    read=whole_log(_gather),
)
