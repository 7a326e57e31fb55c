"""Codex: rollout JSONL, a line for each item of the conversation and each event shown of it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import ClassVar

from deltamem_tui.trajectory.model import StepStatus, Trajectory
from deltamem_tui.trajectory.readers.coding import exit_status, own_words
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import content_text, speaker, unknown_speaker
from deltamem_tui.trajectory.readers.reader import json_reader
from deltamem_tui.trajectory.readers.sessions import (
    Session,
    SessionMessage,
    branch_notices,
    sessions,
    stray,
    stray_kind,
)
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text, unfolded
from deltamem_tui.trajectory.secrets.redaction import quoted
from deltamem_tui.trajectory.workspace import workspace

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
}
# What the program puts before the output of a command, and of a tool of another server.
_PRINTED = re.compile(
    r"(?:Chunk ID: .*\n)?(?:Exit code: (?P<early>-?\d{1,9})\n)?Wall time: .*\n"
    r"(?:Process (?:exited with code (?P<code>-?\d{1,9})|running with .*)\n)?"
    r"(?:(?:Original token count|Total output lines): .*\n)*Output:(?:\n|\Z)"
)
_NOTHING: tuple[object, ...] = (None, "", {})
# What the program puts between the items for itself.
_NOTES = frozenset(
    {"ghost_snapshot", "compaction", "compaction_summary", "context_compaction", "other"}
)
_ITEM_TYPES = (
    _ANSWERS | _CALLS | _NOTES | _SERVED.keys() | {"message", "reasoning", "web_search_call"}
)


@dataclass(slots=True)
class _CodexSession(Session):
    """What the lines say, the conversation kept in order until all of it is known."""

    names_calls: ClassVar[bool] = True
    id: str = ""
    directory: str = ""
    repository: str = ""
    system: str = ""
    agent: str = ""
    items: list[SessionMessage] = field(default_factory=list)
    rolled_back: list[SessionMessage] = field(default_factory=list)
    forks: set[str] = field(default_factory=set)
    typed: set[str] = field(default_factory=set)  # by the user, as events tell it
    unknown: Counter[str] = field(default_factory=Counter)
    # What the agent says in items, and in events that mostly repeat them.
    said: set[str] = field(default_factory=set)
    told: set[str] = field(default_factory=set)

    def begins_another(self, value: object) -> bool:
        """Return True if a line is another session's header; a fork opens with two."""
        line = as_mapping(value)
        name = as_text(as_mapping(line.get("payload")).get("id"))
        if line.get("type") != "session_meta" or name in (self.id, *self.forks):
            return False
        return bool(self.items or self.rolled_back) or self.breaks_off

    def take(self, value: object) -> None:
        line = as_mapping(value)
        if not _has_payload(line):
            raise stray("it has no `type` or no `payload`")
        kind, payload = as_text(line["type"]), as_mapping(line["payload"])
        if kind == "session_meta":
            self.id = self.id or as_text(payload.get("id"))
            if forked := as_text(payload.get("forked_from_id")):
                self.forks.add(forked)
            self.directory = self.directory or as_text(payload.get("cwd"))
            address = as_mapping(payload.get("git")).get("repository_url")
            self.repository = self.repository or as_text(address)
        elif kind == "turn_context":
            self.directory = self.directory or as_text(payload.get("cwd"))
            self.agent = self.agent or as_text(payload.get("model"))
        elif kind == "event_msg":
            self._take_event(payload)
        elif kind == "response_item":
            self._take_item(payload)
        elif kind not in _LINE_TYPES:
            self.unknown[kind] += 1

    def _take_event(self, event: Json) -> None:
        """Events repeat the items, but for one: they alone say what the user really typed."""
        if event.get("type") == "user_message":
            self.typed.add(_folded(own_words(as_text(event.get("message")))))
            self._add_item({"user_event": event.get("message")})
        elif event.get("type") == "agent_message":
            self._add_item({"agent_event": event.get("message")})
            self.told.add(_folded(event.get("message")))
        elif event.get("type") == "task_complete":
            if _folded(event.get("last_agent_message")) not in self.told:
                self._add_item({"agent_event": event.get("last_agent_message")})
        elif event.get("type") == "thread_rolled_back":
            self._roll_back(event.get("num_turns"))

    def _add_item(self, item: Json) -> None:
        self.items.append(SessionMessage("", self.position, item))

    def _roll_back(self, turns: object) -> None:
        begins = [index for index, said in enumerate(self.items) if self._is_turn(said.message)]
        count = turns if type(turns) is int else 0
        if count > 0 and begins:
            first = begins[-min(count, len(begins))]
            self.rolled_back += self.items[first:]
            del self.items[first:]

    def _is_turn(self, item: Json) -> bool:
        """Return True if an item is what the user says, which begins a turn."""
        return "user_event" in item or (item.get("role") == "user" and self._is_new(item))

    def _is_new(self, item: Json) -> bool:
        """Return True if an item is part of the conversation, and no event repeats it."""
        if "agent_event" in item:
            return _folded(item["agent_event"]) not in self.said
        if item.get("role") != "user":
            return True
        words = _folded(own_words(content_text(item.get("content"))))
        # Before the first words that an event tells, the program gives its context.
        is_context = bool(self.typed) and item.get("is_early") is True
        return bool(words) and not is_context and words not in self.typed

    def _take_item(self, item: Json) -> None:
        kind = as_text(item.get("type"))
        if kind not in _ITEM_TYPES:
            raise stray_kind(kind, "an item")
        if item.get("role") == "user":
            systems = _SYSTEM.finditer(content_text(item.get("content")))
            found = (match[1].strip() for match in systems)
            self.system = self.system or next(filter(None, found), "")
            item = {**item, "is_early": not self.typed}
        elif kind == "message":
            self.said.add(_folded(content_text(item.get("content"))))
        self._add_item(item)

    def episode(self, conversation: Conversation) -> Trajectory:
        self.remarks.extend(
            branch_notices([s for s in self.rolled_back if self._is_new(s.message)])
        )
        self._add_to(conversation)
        for kind, count in self.unknown.items():
            conversation.pass_over("line", f"of the unknown kind {quoted(kind, 40)}", count)
        return conversation.episode(
            environment=workspace(
                repository=self.repository, system=self.system, directory=self.directory
            ),
            agent=self.agent,
            metadata={"id": self.id},
        )

    def _add_to(self, conversation: Conversation) -> None:
        for item in (said.message for said in self.items if self._is_new(said.message)):
            if "user_event" in item:
                conversation.user(own_words(as_text(item["user_event"])))
            elif "agent_event" in item:
                conversation.say(as_text(item["agent_event"]))
            elif item.get("role") == "user":
                conversation.user(own_words(content_text(item.get("content"))))
            else:
                _add(conversation, item)


def _add(conversation: Conversation, item: Json) -> None:
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
    elif kind in _CALLS:
        arguments = item.get("arguments", item.get("input"))
        names = (as_text(item.get("namespace")), as_text(item.get("name")) or "tool")
        conversation.call("__".join(filter(None, names)), arguments, call_id)
    elif kind in _SERVED:
        name, key = _SERVED[kind]
        given = item.get(key)
        conversation.call(name, _asked(given) if kind == "local_shell_call" else given, call_id)
    elif kind == "web_search_call":
        query = as_mapping(item.get("action")).get("query")
        conversation.call("web_search", {"query": query}, call_id)
    elif kind in _ANSWERS:
        output = item.get("output")
        conversation.answer(
            _output(output), call_id, failed=_has_failed(output), status=_status(output)
        )


def _folded(said: object) -> str:
    """Return what is said, however it is spaced."""
    return " ".join(as_text(said).split())


def _asked(action: object) -> Json:
    """Return what a shell was asked for, without what the program puts beside it whatever it is."""
    given = as_mapping(action)
    return {key: value for key, value in given.items() if key != "type" and value not in _NOTHING}


def _exit_code(printed: re.Match[str] | None) -> int | None:
    code = printed and (printed["code"] or printed["early"])
    return int(code) if code else None


def _output(output: object) -> str:
    wrapped = as_mapping(unfolded(output))
    if "output" not in wrapped and "content" not in wrapped:
        text = content_text(output)
        printed = _PRINTED.match(text)
        text = text[printed.end() :] if printed else text
        exited = _exit_code(printed)
        return f"{text.rstrip()}\n(exit code {exited})".lstrip() if exited else text
    text = content_text(wrapped.get("output", wrapped.get("content")))
    code = as_mapping(wrapped.get("metadata")).get("exit_code")
    return f"{text.rstrip()}\n(exit code {code})".lstrip() if code else text


def _status(output: object) -> StepStatus | None:
    """Return how a call ended, by its exit code or its mark of success."""
    wrapped = as_mapping(unfolded(output))
    code = as_mapping(wrapped.get("metadata")).get("exit_code")
    if not wrapped:
        code = _exit_code(_PRINTED.match(content_text(output)))
    if (status := exit_status(code)) is not None:
        return status
    return "ok" if wrapped.get("success") is True or wrapped.get("isError") is False else None


def _has_failed(output: object) -> bool:
    wrapped = as_mapping(unfolded(output))
    is_answer = "content" in wrapped or "output" in wrapped
    return is_answer and (wrapped.get("success") is False or wrapped.get("isError") is True)


def _is_line(value: object) -> bool:
    line = as_mapping(value)
    return _has_payload(line) and line["type"] in _LINE_TYPES


def _has_payload(line: Json) -> bool:
    return isinstance(line.get("type"), str) and isinstance(line.get("payload"), dict)


READER = json_reader(
    name="codex",
    description="Codex: rollout JSONL of response items and events",
    is_own=_is_line,
    read=sessions(_CodexSession),
)
