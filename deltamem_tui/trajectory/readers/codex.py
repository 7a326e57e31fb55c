"""Codex: rollout JSONL, a line for each item of the conversation and each event shown of it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import ClassVar

from deltamem_tui.trajectory.model import StepStatus, Trajectory
from deltamem_tui.trajectory.readers.coding import exit_status, own_words
from deltamem_tui.trajectory.readers.coding_agents import WENT_BACK, pass_over_unknown
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import content_text, speaker, unknown_speaker
from deltamem_tui.trajectory.readers.reader import json_reader
from deltamem_tui.trajectory.readers.sessions import Session, sessions, stray
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text, unfolded
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
    "web_search_call": ("web_search", "action"),
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
_ITEMS = _ANSWERS | _CALLS | _NOTES | _SERVED.keys() | {"message", "reasoning"}


@dataclass(slots=True)
class _CodexSession(Session):
    """What the lines say, the conversation kept in order until all of it is known.

    Events repeat the items, but for one: they alone say what the user really typed. The sets have
    what was typed and told in events, and what the agent said in items.
    """

    names_calls: ClassVar[bool] = True
    facts: dict[str, str] = field(default_factory=dict)
    items: list[Json] = field(default_factory=list)
    rolled_back: list[Json] = field(default_factory=list)
    forks: set[str] = field(default_factory=set)
    typed: set[str] = field(default_factory=set)
    told: set[str] = field(default_factory=set)
    said: set[str] = field(default_factory=set)
    unknown: Counter[str] = field(default_factory=Counter)

    def begins_another(self, value: object) -> bool:
        """Return True if a line is another session's header; a fork opens with two."""
        line = as_mapping(value)
        name = as_text(as_mapping(line.get("payload")).get("id"))
        if line.get("type") != "session_meta" or name in (self.facts.get("id"), *self.forks):
            return False
        return bool(self.items or self.rolled_back)

    def take(self, value: object) -> None:
        line = as_mapping(value)
        if not _has_payload(line):
            raise stray("it has no `type` or no `payload`")
        kind, payload = as_text(line["type"]), as_mapping(line["payload"])
        if kind == "session_meta":
            self.forks.add(as_text(payload.get("forked_from_id")))
            address = as_mapping(payload.get("git")).get("repository_url")
            self._note(id=payload.get("id"), directory=payload.get("cwd"), repository=address)
        elif kind == "turn_context":
            self._note(directory=payload.get("cwd"), agent=payload.get("model"))
        elif kind == "event_msg":
            self._take_event(payload)
        elif kind == "response_item":
            self._take_item(payload)
        elif kind not in _LINE_TYPES:
            self.unknown[kind] += 1

    def _note(self, **facts: object) -> None:
        for name, fact in facts.items():
            self.facts[name] = self.facts.get(name) or as_text(fact)

    def _take_event(self, event: Json) -> None:
        kind = event.get("type")
        if kind == "user_message":
            self.typed.add(_folded(own_words(as_text(event.get("message")))))
            self.items.append({"user_event": event.get("message")})
        elif kind == "agent_message":
            self.items.append({"agent_event": event.get("message")})
            self.told.add(_folded(event.get("message")))
        elif kind == "task_complete":
            if _folded(event.get("last_agent_message")) not in self.told:
                self.items.append({"agent_event": event.get("last_agent_message")})
        elif kind == "thread_rolled_back":
            turns = event.get("num_turns")
            begins = [index for index, item in enumerate(self.items) if self._is_turn(item)]
            if type(turns) is int and turns > 0 and begins:
                first = begins[-min(turns, len(begins))]
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
        if kind not in _ITEMS:
            self.unknown[kind] += 1
        elif item.get("role") == "user":
            systems = _SYSTEM.finditer(content_text(item.get("content")))
            self._note(system=next(filter(None, (match[1].strip() for match in systems)), ""))
            self.items.append({**item, "is_early": not self.typed})
        else:
            if kind == "message":
                self.said.add(_folded(content_text(item.get("content"))))
            self.items.append(item)

    def episode(self, conversation: Conversation) -> Trajectory:
        for item in filter(self._is_new, self.items):
            _add(conversation, item)
        conversation.pass_over("message", WENT_BACK, sum(map(self._is_new, self.rolled_back)))
        pass_over_unknown(conversation, self.unknown)
        places = {key: self.facts.get(key, "") for key in ("repository", "system", "directory")}
        return conversation.episode(
            environment=workspace(**places),
            agent=self.facts.get("agent", ""),
            metadata={"id": self.facts.get("id", "")},
        )


def _add(conversation: Conversation, item: Json) -> None:
    kind, call_id = as_text(item.get("type")), as_text(item.get("call_id"))
    if "agent_event" in item:
        conversation.say(as_text(item["agent_event"]))
    elif "user_event" in item:
        conversation.user(own_words(as_text(item["user_event"])))
    elif kind == "message":
        _add_message(conversation, item)
    elif kind == "reasoning":
        for part in (*as_list(item.get("summary")), *as_list(item.get("content"))):
            conversation.think(content_text(part))
    elif kind in _ANSWERS:
        text, failed, status = _result(item.get("output"))
        conversation.answer(text, call_id, failed=failed, status=status)
    elif kind in _CALLS or kind in _SERVED:
        conversation.call(*_call(kind, item), call_id)


def _add_message(conversation: Conversation, item: Json) -> None:
    who, text = speaker(item.get("role")), content_text(item.get("content"))
    if who is None:
        raise unknown_speaker(as_text(item.get("role")))
    if who == "user":
        conversation.user(own_words(text))
    elif who == "agent":
        conversation.say(text)


def _call(kind: str, item: Json) -> tuple[str, object]:
    """Return the name and the arguments of a call."""
    if kind in _CALLS:
        names = (as_text(item.get("namespace")), as_text(item.get("name")) or "tool")
        return "__".join(filter(None, names)), item.get("arguments", item.get("input"))
    name, key = _SERVED[kind]
    given = as_mapping(item.get(key))
    if kind == "web_search_call":
        return name, {"query": given.get("query")}
    if kind == "local_shell_call":  # without what the program puts beside the command
        return name, {k: v for k, v in given.items() if k != "type" and v not in _NOTHING}
    return name, item.get(key)


def _folded(said: object) -> str:
    """Return what is said, however it is spaced."""
    return " ".join(as_text(said).split())


def _result(output: object) -> tuple[str, bool, StepStatus | None]:
    """Return what a tool answered, whether that is marked as a failure, and how the call ended."""
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
