"""Coding agents whose sessions are JSON lines with ids: a few lines for each program.

A line that cannot be read loses only itself, since answers name their calls; what the user left by
going back is not part of the episode; kinds of lines that are not known yet are told as a notice.
Sessions in one file, and sub-agents of one, are kept apart by their ids.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Record, located
from deltamem_tui.trajectory.model import FORKED_FROM, StepStatus, Trajectory
from deltamem_tui.trajectory.readers.coding import exit_status, own_words, typed_command, workspace
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import (
    WENT_BACK,
    Branches,
    add_message,
    content_text,
    speaker,
    unknown_speaker,
)
from deltamem_tui.trajectory.readers.reader import (
    UNDISPUTED,
    Reading,
    Records,
    conversation_readings,
    json_reader,
    stray,
    whole_log,
    without_copied,
)
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text, unfolded

_HELPED = "the work of sub-agents is not the session's"


@dataclass(slots=True)
class AgentSession:
    """One conversation of a log, its messages in order: a user's, or one with a sub-agent."""

    id: str
    position: str
    directory: str = ""
    repository: str = ""
    system: str = ""
    agent: str = ""
    branches: Branches = field(default_factory=Branches)
    messages: dict[str, Json] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)
    origin: str = ""
    forks: set[str] = field(default_factory=set)

    def add(self, name: str, message: Json) -> None:
        """Add a message, by the name by which others follow it."""
        self.messages.setdefault(name or f"#{len(self.messages)}", message)


@dataclass(frozen=True, slots=True)
class Program:
    """How a program writes its sessions."""

    take: Callable[[AgentSession, Json], None]
    session: Callable[[Json], str]
    add: Callable[[Conversation, Json], None] = add_message
    helper: Callable[[Json], str | None] = lambda _: None
    settle: Callable[[Conversation, list[Json]], list[Json]] = lambda _, messages: messages
    has_headers: bool = False

    def read(self, log: Log) -> Iterator[Reading]:
        """Yield the episodes of a log: users' conversations, and sub-agents' that stand alone."""
        return whole_log(self._gather)(log)

    def _gather(self, records: Records) -> Iterator[Reading]:
        found: dict[tuple[str, str | None], AgentSession] = {}
        name = ""
        for record, line in _lines_of(records):
            if isinstance(record, RecordError):
                yield record
                continue
            named, at_hand = self.session(line), found.get((name, None))
            if named and name and at_hand and self.has_headers and not at_hand.messages:
                at_hand.forks.add(named)
            if named and named != name and not (at_hand and named in at_hand.forks):
                name = named
            helper = self.helper(line)
            if (name, helper) not in found:
                found[name, helper] = AgentSession(helper or name, record.position)
            try:
                self.take(found[name, helper], line)
            except RecordError as error:
                yield located(error, "", record.position)
        origins = {session.origin for session in found.values()} - {""}
        yield from without_copied(self._episodes(found, has_gaps=records.gaps > 0), origins)

    def _episodes(
        self, found: Mapping[tuple[str, str | None], AgentSession], *, has_gaps: bool
    ) -> Iterator[Reading]:
        mains = {name for (name, helper), each in found.items() if helper is None and each.messages}
        for (name, helper), session in found.items():
            if (helper is not None and name in mains) or not (session.messages or len(found) == 1):
                continue
            others = (each for key, each in found.items() if key[0] == name and key[1] is not None)
            helped = sum(len(each.messages) for each in others) if helper is None else 0
            yield from conversation_readings(
                session.position, self._episode, session, helped, has_gaps=has_gaps
            )

    def _episode(
        self, conversation: Conversation, session: AgentSession, helped: int, *, has_gaps: bool
    ) -> Trajectory:
        conversation.has_gaps = has_gaps
        branch = session.branches.taken(session.messages)
        for message in self.settle(conversation, [session.messages[name] for name in branch]):
            self.add(conversation, message)
        conversation.pass_over("message", WENT_BACK, len(session.messages) - len(branch))
        conversation.pass_over("message", _HELPED, helped)
        for kind, count in session.unknown.items():
            conversation.pass_over_kind("line", kind, count)
        return conversation.episode(
            environment=workspace(
                repository=session.repository, system=session.system, directory=session.directory
            ),
            agent=session.agent,
            metadata={"id": session.id, FORKED_FROM: session.origin},
        )


def _lines_of(records: Records) -> Iterator[tuple[Record | RecordError, Json]]:
    """Yield the lines of a log; a session of Claude Code on the web is one object."""
    for record in records:
        value = as_mapping(None if isinstance(record, RecordError) else record.value)
        listed = value.get("loglines")
        for line in listed if isinstance(listed, list) else [value]:
            yield record, as_mapping(line)


# What Claude Code writes between the messages for itself, in sessions and in streams of them.
_CLAUDE_NOTES = frozenset(
    {"summary", "task-summary", "system", "attachment", "progress", "queue-operation", "todo"}
    | {"file-history-snapshot", "file-history-delta", "attribution-snapshot", "checkpoint"}
    | {"ai-title", "custom-title", "agent-name", "agent-color", "agent-setting", "tag"}
    | {"mode", "permission-mode", "last-prompt", "pr-link", "worktree-state", "relocated"}
    | {"content-replacement", "speculation-accept", "marble-origami-commit", "diagnostic"}
    | {"marble-origami-snapshot", "compact", "compact-boundary", "fork-context-ref"}
    | {"bridge-session", "frame-link", "atis-latch", "started", "result", "stream_event"}
    | {"rate_limit_event", "tool_progress", "tool_use_summary", "auth_status"}
)
_CLAUDE_KEYS = ("uuid", "sessionId", "leafUuid", "messageId")
_NOT_SAID = ("isMeta", "isCompactSummary", "isApiErrorMessage")


def _take_claude(session: AgentSession, line: Json) -> None:
    kind, message = line.get("type"), line.get("message")
    name = as_text(line.get("uuid"))
    session.branches.add(name, as_text(line.get("parentUuid")))
    if not isinstance(kind, str):
        raise stray("it has no `type`")
    origin = as_mapping(line.get("forkedFrom")).get("sessionId")
    session.origin = session.origin or as_text(origin)
    if kind not in ("user", "assistant"):
        session.unknown.update([] if kind in _CLAUDE_NOTES else [kind])
        return
    if not isinstance(message, dict):
        raise stray("it has no `message`")
    session.directory = session.directory or as_text(line.get("cwd"))
    model = as_text(message.get("model"))
    # An error of the service stands in the model's place.
    if any(line.get(key) is True for key in _NOT_SAID) or model == "<synthetic>":
        return
    session.agent = session.agent or model
    said = {key: message[key] for key in ("id", "content") if key in message}
    session.add(name, {"role": kind, **said})


def _add_claude(conversation: Conversation, message: Json) -> None:
    if message["role"] == "user":
        conversation.offer_task(typed_command(content_text(message.get("content"))))
    add_message(conversation, message)


def _is_claude(value: object) -> bool:
    line = as_mapping(value)
    if lines := as_list(line.get("loglines")):
        return "message" in as_mapping(lines[0]) or _is_claude(lines[0])
    if "payload" in line or not isinstance(line.get("type"), str):  # which Codex has
        return False
    message = as_mapping(line.get("message"))
    if line["type"] in ("user", "assistant"):
        return "message" in line and "parts" not in message and any(k in line for k in _CLAUDE_KEYS)
    return any(key in line for key in _CLAUDE_KEYS)


CLAUDE_CODE = json_reader(
    "claude-code",
    "Claude Code: JSONL sessions, and those of the web as `loglines`",
    _is_claude,
    Program(
        _take_claude,
        lambda line: as_text(line.get("sessionId")),
        _add_claude,
        lambda line: as_text(line.get("agentId")) if line.get("isSidechain") is True else None,
    ).read,
    UNDISPUTED,
)


# Codex: a line for each item of the conversation and each event shown of it.
_CODEX_LINES = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "session_state"}
    | {"world_state", "token_usage_record"}
)
_CODEX_SYSTEM = re.compile(r"<(?:operating_system|os|platform)>([^<]*)</")
_CODEX_ANSWERS = frozenset(
    {"function_call_output", "custom_tool_call_output", "mcp_tool_call_output"}
    | {"tool_search_output"}
)
_CODEX_CALLS = frozenset({"function_call", "custom_tool_call"})
# Calls of tools that the model's service brings along, by the name they are shown under, and
# where each says what was asked for.
_CODEX_SERVED = {
    "local_shell_call": ("local_shell", "action"),
    "tool_search_call": ("tool_search", "arguments"),
    "image_generation_call": ("image_generation", "revised_prompt"),
    "web_search_call": ("web_search", "action"),
}
# What the program puts between the items for itself.
_CODEX_NOTES = frozenset(
    {"ghost_snapshot", "compaction", "compaction_summary", "context_compaction", "other"}
)
_CODEX_ITEMS = (
    _CODEX_ANSWERS | _CODEX_CALLS | _CODEX_NOTES | _CODEX_SERVED.keys() | {"message", "reasoning"}
)
# What the program puts before the output of a command, and of a tool of another server.
_CODEX_PRINTED = re.compile(
    r"(?:Chunk ID: .*\n)?(?:Exit code: (?P<early>-?\d{1,9})\n)?Wall time: .*\n"
    r"(?:Process (?:exited with code (?P<code>-?\d{1,9})|running with .*)\n)?"
    r"(?:(?:Original token count|Total output lines): .*\n)*Output:(?:\n|\Z)"
)
# Events that tell what an item may tell too, and where; that of a rollback is a number of turns.
_CODEX_EVENTS = {
    "user_message": "message",
    "agent_message": "message",
    "task_complete": "last_agent_message",
    "thread_rolled_back": "num_turns",
}


def _take_codex(session: AgentSession, line: Json) -> None:
    kind, payload = line.get("type"), line.get("payload")
    if not isinstance(kind, str) or not isinstance(payload, dict):
        raise stray("it has no `type` or no `payload`")
    inner = as_text(payload.get("type"))
    if kind in ("session_meta", "turn_context"):
        origin = as_text(payload.get("forked_from_id"))
        session.forks.add(origin)
        if not isinstance(payload.get("source"), dict):  # else it is a sub-agent's
            session.origin = session.origin or origin
        address = as_text(as_mapping(payload.get("git")).get("repository_url"))
        session.repository = session.repository or address
        session.directory = session.directory or as_text(payload.get("cwd"))
        session.agent = session.agent or as_text(payload.get("model"))
    elif kind == "event_msg":
        if inner in _CODEX_EVENTS:
            session.add("", {"event": inner, "told": payload.get(_CODEX_EVENTS[inner])})
    elif kind == "response_item" and inner in _CODEX_ITEMS:
        if payload.get("role") == "user":
            found = _CODEX_SYSTEM.finditer(content_text(payload.get("content")))
            session.system = session.system or next(filter(str.strip, (m[1] for m in found)), "")
        session.add("", payload)
    elif kind == "response_item" or kind not in _CODEX_LINES:
        session.unknown[inner if kind == "response_item" else kind] += 1


def _settled(conversation: Conversation, items: list[Json]) -> list[Json]:
    """Return what was said and done, once each, without the turns that were rolled back."""
    typed = {_codex_words(item) for item in items if item.get("event") == "user_message"}
    told = {_codex_words(item) for item in items if item.get("event") == "agent_message"}
    said = {_codex_words(item) for item in items if item.get("role") not in ("user", None)}
    begun = not typed  # before the first words that an event tells, the program gives its context
    kept: list[Json] = []
    for item in items:
        event, words = item.get("event"), _codex_words(item)
        begun = begun or event == "user_message"
        if event == "thread_rolled_back":
            turns = [i for i, each in enumerate(kept) if _codex_speaker(each) == "user"]
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


def _codex_words(item: Json) -> str:
    text = as_text(item.get("told")) if "event" in item else content_text(item.get("content"))
    return " ".join((own_words(text) if _codex_speaker(item) == "user" else text).split())


def _codex_speaker(item: Json) -> object:
    event = item.get("event")
    return item.get("role") if event is None else "user" if event == "user_message" else "agent"


def _add_codex(conversation: Conversation, item: Json) -> None:
    kind, call_id = as_text(item.get("type")), as_text(item.get("call_id"))
    if "event" in item or kind == "message":
        text = as_text(item.get("told")) if "event" in item else content_text(item.get("content"))
        who = speaker(_codex_speaker(item))
        if who is None:
            raise unknown_speaker(as_text(item.get("role")))
        if who == "user":
            conversation.user(own_words(text))
        elif who == "agent":
            conversation.say(text)
    elif kind == "reasoning":
        for part in (*as_list(item.get("summary")), *as_list(item.get("content"))):
            conversation.think(content_text(part))
    elif kind in _CODEX_ANSWERS:
        text, failed, status = _codex_result(item.get("output"))
        conversation.answer(text, call_id, failed=failed, status=status)
    elif kind in _CODEX_CALLS or kind in _CODEX_SERVED:
        conversation.call(*_codex_call(kind, item), call_id)


def _codex_call(kind: str, item: Json) -> tuple[str, object]:
    if kind in _CODEX_CALLS:
        names = (as_text(item.get("namespace")), as_text(item.get("name")) or "tool")
        return "__".join(filter(None, names)), item.get("arguments", item.get("input"))
    name, key = _CODEX_SERVED[kind]
    given = as_mapping(item.get(key))
    if kind == "web_search_call":
        return name, {"query": given.get("query")}
    if kind == "local_shell_call":  # without what the program puts beside the command
        return name, {k: v for k, v in given.items() if k != "type" and v not in (None, "", {})}
    return name, item.get(key)


def _codex_result(output: object) -> tuple[str, bool, StepStatus | None]:
    wrapped = as_mapping(unfolded(output))
    inner = wrapped.get("output", wrapped.get("content"))
    text = content_text(output if inner is None else inner)
    code = as_mapping(wrapped.get("metadata")).get("exit_code")
    if inner is None and (printed := _CODEX_PRINTED.match(text)):
        text = text[printed.end() :]
        found = printed["code"] or printed["early"]
        code = int(found) if found else None
    marks = (wrapped.get("success"), wrapped.get("isError"))
    failed = inner is not None and (marks[0] is False or marks[1] is True)
    status = exit_status(code) or ("ok" if marks[0] is True or marks[1] is False else None)
    return (f"{text.rstrip()}\n(exit code {code})".lstrip() if code else text), failed, status


def _codex_session(line: Json) -> str:
    payload = as_mapping(line.get("payload"))
    return as_text(payload.get("id")) if line.get("type") == "session_meta" else ""


def _is_codex(value: object) -> bool:
    line = as_mapping(value)
    return line.get("type") in tuple(_CODEX_LINES) and isinstance(line.get("payload"), dict)


CODEX = json_reader(
    "codex",
    "Codex: rollout JSONL of response items and events",
    _is_codex,
    Program(_take_codex, _codex_session, _add_codex, settle=_settled, has_headers=True).read,
    UNDISPUTED,
)

READERS = (CODEX, CLAUDE_CODE)
