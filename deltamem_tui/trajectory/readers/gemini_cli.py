"""Gemini CLI: a session as one JSON object, or as JSONL with the session's facts first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deltamem_tui.trajectory.logs.log import Preview, Record
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.calls import call_text
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import content_text
from deltamem_tui.trajectory.readers.own_words import own_words
from deltamem_tui.trajectory.readers.reader import Reader, Reading, placed_or_refused, share
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text
from deltamem_tui.trajectory.readers.whole_log import stray, whole_log


def _gather(records: Iterable[Record], log_name: str) -> Iterator[Reading]:  # noqa: ARG001
    facts: Json = {}
    loose: list[object] = []
    first = ""
    for record in records:
        value = as_mapping(record.value)
        name = facts.get("sessionId")
        if loose and name and value.get("sessionId", name) != name:
            # Another session begins, in a file that was put together from several.
            yield placed_or_refused(first, _episode, {**facts, "messages": loose})
            facts, loose, first = {}, [], ""
        if isinstance(value.get("messages"), list):
            yield placed_or_refused(record.position, _episode, value)
        elif value.get("type") in ("user", "gemini"):
            first = first or record.position
            loose.append(value)
        elif "sessionId" in value:
            facts = {**facts, **value}
        elif not isinstance(value.get("type"), str) and not _is_change(value):
            yield stray("it has no `type`", record.position)
    if loose:
        yield placed_or_refused(first, _episode, {**facts, "messages": loose})


def _episode(session: Json) -> Trajectory:
    conversation = Conversation()
    agent = ""
    told: dict[str, int] = {}
    messages = [as_mapping(message) for message in as_list(session.get("messages"))]
    # A JSONL session writes a message again when it has grown: the last one counts.
    for index, message in enumerate(messages):
        told[as_text(message.get("id")) or f"#{index}"] = index
    for name, index in told.items():
        message = messages[index]
        kind = message.get("type")
        if kind == "user":
            conversation.user(own_words(content_text(message.get("content"))))
        elif kind == "gemini":
            agent = agent or as_text(message.get("model"))
            _tell(conversation, message, name)
    return conversation.episode(agent=agent, metadata={"id": as_text(session.get("sessionId"))})


def _tell(conversation: Conversation, message: Json, name: str) -> None:
    for thought in map(as_mapping, as_list(message.get("thoughts"))):
        parts = (as_text(thought.get("subject")), as_text(thought.get("description")))
        conversation.think(": ".join(filter(None, parts)))
    conversation.say(content_text(message.get("content")))
    calls = list(map(as_mapping, as_list(message.get("toolCalls"))))
    # A call and its result stand together, so all calls come first: they were made at once.
    ids = [as_text(call.get("id")) or f"{name}/{index}" for index, call in enumerate(calls)]
    for call, call_id in zip(calls, ids, strict=True):
        conversation.act(call_text(as_text(call.get("name")) or "tool", call.get("args")), call_id)
    for call, call_id in zip(calls, ids, strict=True):
        conversation.answer(_result(call), call_id)


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


def _is_change(line: Json) -> bool:
    """Whether a line changes what is known of the session, as `$set` does."""
    return any(key.startswith("$") for key in line)


def _is_session(value: object) -> bool:
    session = as_mapping(value)
    messages = as_list(session.get("messages"))
    kinds = {as_text(as_mapping(message).get("type")) for message in messages}
    return "sessionId" in session and bool(kinds & {"user", "gemini"})


def _is_line(value: object) -> bool:
    line = as_mapping(value)
    if "sessionId" in line and "projectHash" in line:
        return True
    return line.get("type") in ("user", "gemini") and "content" in line and "message" not in line


def _claims(preview: Preview) -> float:
    has_gemini = any(as_mapping(value).get("type") == "gemini" for value in preview.records)
    lines = share(preview, _is_line) if has_gemini else 0.0
    return 0.95 * max(share(preview, _is_session), lines)


READER = Reader(
    name="gemini-cli",
    description="Gemini CLI: sessions of user and gemini messages with toolCalls",
    claims=_claims,
    read=whole_log(_gather),
)
