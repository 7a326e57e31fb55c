"""Codex: rollout JSONL, a line for each item of the conversation and each event shown of it."""

from __future__ import annotations

import re

from deltamem_tui.trajectory.model import StepStatus
from deltamem_tui.trajectory.readers.coding import exit_status, own_words
from deltamem_tui.trajectory.readers.coding_agents import AgentSession, Program, agent_reader
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import content_text, speaker, unknown_speaker
from deltamem_tui.trajectory.readers.sessions import WENT_BACK, stray
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text, unfolded

_LINE_TYPES = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "session_state"}
    | {"world_state", "token_usage_record"}
)
_SYSTEM = re.compile(r"<(?:operating_system|os|platform)>([^<]*)</")
_ANSWERS = frozenset(
    {"function_call_output", "custom_tool_call_output", "mcp_tool_call_output"}
    | {"tool_search_output"}
)
_CALLS = frozenset({"function_call", "custom_tool_call"})
# Calls of tools that the model's service brings along, by the name they are shown under, and
# where each says what was asked for.
_SERVED = {
    "local_shell_call": ("local_shell", "action"),
    "tool_search_call": ("tool_search", "arguments"),
    "image_generation_call": ("image_generation", "revised_prompt"),
    "web_search_call": ("web_search", "action"),
}
# What the program puts between the items for itself.
_NOTES = frozenset(
    {"ghost_snapshot", "compaction", "compaction_summary", "context_compaction", "other"}
)
_ITEMS = _ANSWERS | _CALLS | _NOTES | _SERVED.keys() | {"message", "reasoning"}
# What the program puts before the output of a command, and of a tool of another server.
_PRINTED = re.compile(
    r"(?:Chunk ID: .*\n)?(?:Exit code: (?P<early>-?\d{1,9})\n)?Wall time: .*\n"
    r"(?:Process (?:exited with code (?P<code>-?\d{1,9})|running with .*)\n)?"
    r"(?:(?:Original token count|Total output lines): .*\n)*Output:(?:\n|\Z)"
)
# Events that tell what an item may tell too, and where; that of a rollback is a number of turns.
_EVENTS = {
    "user_message": "message",
    "agent_message": "message",
    "task_complete": "last_agent_message",
    "thread_rolled_back": "num_turns",
}


def _take(session: AgentSession, line: Json) -> None:
    kind, payload = line.get("type"), line.get("payload")
    if not isinstance(kind, str) or not isinstance(payload, dict):
        raise stray("it has no `type` or no `payload`")
    inner = as_text(payload.get("type"))
    if kind in ("session_meta", "turn_context"):
        session.forks.add(as_text(payload.get("forked_from_id")))
        address = as_text(as_mapping(payload.get("git")).get("repository_url"))
        session.repository = session.repository or address
        session.directory = session.directory or as_text(payload.get("cwd"))
        session.agent = session.agent or as_text(payload.get("model"))
    elif kind == "event_msg":
        if inner in _EVENTS:
            session.add("", {"event": inner, "told": payload.get(_EVENTS[inner])})
    elif kind == "response_item" and inner in _ITEMS:
        if payload.get("role") == "user":
            found = _SYSTEM.finditer(content_text(payload.get("content")))
            session.system = session.system or next(filter(str.strip, (m[1] for m in found)), "")
        session.add("", payload)
    elif kind == "response_item" or kind not in _LINE_TYPES:
        session.unknown[inner if kind == "response_item" else kind] += 1


def _settled(conversation: Conversation, items: list[Json]) -> list[Json]:
    """Return what was said and done, once each, without the turns that were rolled back."""
    typed = {_words(item) for item in items if item.get("event") == "user_message"}
    told = {_words(item) for item in items if item.get("event") == "agent_message"}
    said = {_words(item) for item in items if item.get("role") not in ("user", None)}
    begun = not typed  # before the first words that an event tells, the program gives its context
    kept: list[Json] = []
    for item in items:
        event, words = item.get("event"), _words(item)
        begun = begun or event == "user_message"
        if event == "thread_rolled_back":
            turns = [i for i, each in enumerate(kept) if _speaker(each) == "user"]
            count = item["told"] if type(item["told"]) is int else 0
            first = turns[-min(count, len(turns))] if turns and count > 0 else len(kept)
            conversation.pass_over("message", WENT_BACK, len(kept) - first)
            del kept[first:]
        elif event == "task_complete":
            kept += [item] if words not in told | said else []
        elif event == "agent_message":
            kept += [item] if words not in said else []
        elif item.get("role") != "user" or (begun and words and words not in typed):
            kept.append(item)
    return kept


def _words(item: Json) -> str:
    text = as_text(item.get("told")) if "event" in item else content_text(item.get("content"))
    return " ".join((own_words(text) if _speaker(item) == "user" else text).split())


def _speaker(item: Json) -> object:
    event = item.get("event")
    return item.get("role") if event is None else "user" if event == "user_message" else "agent"


def _add(conversation: Conversation, item: Json) -> None:
    kind, call_id = as_text(item.get("type")), as_text(item.get("call_id"))
    if "event" in item or kind == "message":
        text = as_text(item.get("told")) if "event" in item else content_text(item.get("content"))
        who = speaker(_speaker(item))
        if who is None:
            raise unknown_speaker(as_text(item.get("role")))
        if who == "user":
            conversation.user(own_words(text))
        elif who == "agent":
            conversation.say(text)
    elif kind == "reasoning":
        for part in (*as_list(item.get("summary")), *as_list(item.get("content"))):
            conversation.think(content_text(part))
    elif kind in _ANSWERS:
        text, failed, status = _result(item.get("output"))
        conversation.answer(text, call_id, failed=failed, status=status)
    elif kind in _CALLS or kind in _SERVED:
        conversation.call(*_call(kind, item), call_id)


def _call(kind: str, item: Json) -> tuple[str, object]:
    if kind in _CALLS:
        names = (as_text(item.get("namespace")), as_text(item.get("name")) or "tool")
        return "__".join(filter(None, names)), item.get("arguments", item.get("input"))
    name, key = _SERVED[kind]
    given = as_mapping(item.get(key))
    if kind == "web_search_call":
        return name, {"query": given.get("query")}
    if kind == "local_shell_call":  # without what the program puts beside the command
        return name, {k: v for k, v in given.items() if k != "type" and v not in (None, "", {})}
    return name, item.get(key)


def _result(output: object) -> tuple[str, bool, StepStatus | None]:
    wrapped = as_mapping(unfolded(output))
    inner = wrapped.get("output", wrapped.get("content"))
    text = content_text(output if inner is None else inner)
    code = as_mapping(wrapped.get("metadata")).get("exit_code")
    if inner is None and (printed := _PRINTED.match(text)):
        text = text[printed.end() :]
        found = printed["code"] or printed["early"]
        code = int(found) if found else None
    marks = (wrapped.get("success"), wrapped.get("isError"))
    failed = inner is not None and (marks[0] is False or marks[1] is True)
    status = exit_status(code) or ("ok" if marks[0] is True or marks[1] is False else None)
    return (f"{text.rstrip()}\n(exit code {code})".lstrip() if code else text), failed, status


def _session(line: Json) -> str:
    payload = as_mapping(line.get("payload"))
    return as_text(payload.get("id")) if line.get("type") == "session_meta" else ""


def _is_line(value: object) -> bool:
    line = as_mapping(value)
    return line.get("type") in tuple(_LINE_TYPES) and isinstance(line.get("payload"), dict)


READER = agent_reader(
    "codex",
    "Codex: rollout JSONL of response items and events",
    _is_line,
    Program(_take, _session, _add, settle=_settled, has_headers=True),
)
