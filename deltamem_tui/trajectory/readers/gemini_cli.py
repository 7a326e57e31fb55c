"""Gemini CLI: a session as one JSON object, or as JSONL with the session's facts first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from deltamem_tui.trajectory.logs.record import Preview, Record
from deltamem_tui.trajectory.model import StepStatus, Trajectory
from deltamem_tui.trajectory.readers.coding import is_command, own_words, shell_answer
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import content_text
from deltamem_tui.trajectory.readers.reader import Reader, Reading, share
from deltamem_tui.trajectory.readers.sessions import Session, session_of, sessions, stray_kind
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text
from deltamem_tui.trajectory.workspace import workspace

# What the program notes among the messages.
_NOTES = frozenset({"info", "error", "warning"})
_DIRECTORY = re.compile(r"Workspace Directories:\*{0,2}\n\s+- ([^\n]+)")
_STATUSES: dict[str, StepStatus] = {"success": "ok", "error": "error"}


@dataclass(slots=True)
class _GeminiSession(Session):
    """A session that comes line by line."""

    id: str = ""
    messages: list[Json] = field(default_factory=list)

    def whole(self, record: Record) -> Iterator[Reading] | None:
        session = as_mapping(record.value)
        messages = session.get("messages")
        if not isinstance(messages, list):
            return None
        whole = _GeminiSession(id=as_text(session.get("sessionId")))
        return session_of(whole, messages, record.position, "message")

    def begins_another(self, value: object) -> bool:
        line = as_mapping(value)
        name = as_text(line.get("sessionId")) if _is_header(line) else ""
        return name not in ("", self.id) and (bool(self.messages) or self.breaks_off)

    def take(self, value: object) -> None:
        line = as_mapping(value)
        if _is_message(line):
            self.messages.append(line)
        elif isinstance(known := as_mapping(line.get("$set")).get("messages"), list):
            self.messages += [each for each in map(as_mapping, known) if _is_message(each)]
        elif _is_header(line):
            self.id = self.id or as_text(line["sessionId"])
        elif not _is_note(line):
            raise stray_kind(as_text(line.get("type")))

    def episode(self, conversation: Conversation) -> Trajectory:
        return _episode(conversation, self.id, self.messages)


def _episode(conversation: Conversation, session: str, messages: list[Json]) -> Trajectory:
    agent = directory = ""
    places: dict[str, int] = {}
    # A JSONL session writes a message again when it has grown: the last one counts.
    for index, message in enumerate(messages):
        places[as_text(message.get("id")) or f"#{index}"] = index
    for name, index in places.items():
        message = messages[index]
        if message.get("type") == "user":
            directory = directory or _directory(content_text(message.get("content")))
            _add_user(conversation, _typed(message.get("content")))
        else:
            agent = agent or as_text(message.get("model"))
            _add(conversation, message, name)
    environment = workspace(directory=directory)
    return conversation.episode(environment=environment, agent=agent, metadata={"id": session})


def _typed(content: object) -> str:
    parts = [each for each in as_list(content) if "functionResponse" not in as_mapping(each)]
    return own_words(content_text(parts if isinstance(content, list) else content).strip())


def _directory(text: str) -> str:
    found = _DIRECTORY.search(text) if text.startswith("<session_context>") else None
    return found[1] if found else ""


def _add_user(conversation: Conversation, text: str) -> None:
    if is_command(text):
        conversation.offer_task(text)
    else:
        conversation.user(text)


def _add(conversation: Conversation, message: Json, name: str) -> None:
    for thought in map(as_mapping, as_list(message.get("thoughts"))):
        parts = (as_text(thought.get("subject")), as_text(thought.get("description")))
        conversation.think(": ".join(filter(None, parts)))
    said = message.get("content")
    if isinstance(said, list):  # a session that was resumed has the calls among the words too
        said = [each for each in said if "functionCall" not in as_mapping(each)]
    conversation.say(content_text(said))
    calls = list(map(as_mapping, as_list(message.get("toolCalls"))))
    # A call and its result stand together, so all calls come first: they were made at once.
    ids = [as_text(call.get("id")) or f"{name}/{index}" for index, call in enumerate(calls)]
    for call, call_id in zip(calls, ids, strict=True):
        conversation.call(as_text(call.get("name")) or "tool", call.get("args"), call_id)
    for call, call_id in zip(calls, ids, strict=True):
        status = _STATUSES.get(as_text(call.get("status")))
        text, by_code = shell_answer(_result(call))
        conversation.answer(text, call_id, failed=status == "error", status=by_code or status)


def _result(call: Json) -> str:
    texts = []
    for part in as_list(call.get("result")):
        response = as_mapping(as_mapping(part).get("functionResponse")).get("response")
        answer = as_mapping(response)
        found = answer.get("output", answer.get("error", response))
        texts.append(content_text(part if found is None else found))
    shown = "\n".join(filter(None, texts))
    shown = shown or content_text(call.get("result") if not texts else call.get("resultDisplay"))
    status = as_text(call.get("status"))
    return shown or (f"({status})" if status in ("error", "cancelled") else "")


def _is_message(line: Json) -> bool:
    return line.get("type") in ("user", "gemini") and "message" not in line


def _is_header(line: Json) -> bool:
    """Return True if a line says of which session those are that follow."""
    return "sessionId" in line and "type" not in line


def _is_note(line: Json) -> bool:
    return as_text(line.get("type")) in _NOTES or any(key.startswith("$") for key in line)


def _is_session(value: object) -> bool:
    session = as_mapping(value)
    messages = as_list(session.get("messages"))
    kinds = {as_text(as_mapping(message).get("type")) for message in messages}
    return "sessionId" in session and bool(kinds & {"user", "gemini"})


def _is_line(value: object) -> bool:
    line = as_mapping(value)
    if ("sessionId" in line and "projectHash" in line) or "$set" in line:
        return True
    return line.get("type") in ("user", "gemini") and "content" in line and "message" not in line


def _claims(preview: Preview) -> float:
    has_gemini = any(
        as_mapping(value).get("type") == "gemini"
        or {"sessionId", "projectHash", "kind"} <= as_mapping(value).keys()
        for value in preview.records
    )
    lines = share(preview, _is_line) if has_gemini else 0.0
    return 0.95 * max(share(preview, _is_session), lines)


READER = Reader(
    name="gemini-cli",
    description="Gemini CLI: sessions of user and gemini messages with toolCalls",
    claims=_claims,
    read=sessions(_GeminiSession),
)
