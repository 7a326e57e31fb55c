"""Coding agents whose sessions are JSON lines with ids: a few lines for each program.

A line that cannot be read loses only itself, since answers name their calls; what the user left by
going back is not part of the episode; kinds of lines that are not known yet are told as a notice.
Sessions in one file, and sub-agents of one, are kept apart by their ids.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview, Record, located
from deltamem_tui.trajectory.model import StepStatus, Trajectory
from deltamem_tui.trajectory.readers.coding import (
    is_command,
    own_words,
    shell_answer,
    typed_command,
)
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import add_message, content_text
from deltamem_tui.trajectory.readers.reader import (
    Reader,
    Reading,
    conversation_readings,
    json_reader,
    share,
)
from deltamem_tui.trajectory.readers.sessions import (
    WENT_BACK,
    Branches,
    Records,
    SessionMessage,
    stray,
    whole_log,
)
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text
from deltamem_tui.trajectory.secrets.redaction import quoted
from deltamem_tui.trajectory.workspace import workspace

_HELPED = "the work of sub-agents is not the session's"
_STATUSES: dict[str, StepStatus] = {
    **dict.fromkeys(("success", "true"), "ok"),
    **dict.fromkeys(("error", "false"), "error"),
}


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
    messages: dict[str, SessionMessage] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)
    forks: set[str] = field(default_factory=set)

    def add(self, name: str, message: Json, *, grows: bool = False) -> None:
        """Add a message, by the name by which others follow it; if it `grows`, the last counts."""
        key = name or f"#{len(self.messages)}"
        if grows or key not in self.messages:
            self.messages[key] = SessionMessage(name, message)


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
            named, at_hand = self.session(line), found.get((name, None))
            if named and name and at_hand and self.has_headers and not at_hand.messages:
                at_hand.forks.add(named)
            if named and not (at_hand and named in at_hand.forks):
                name = named
            helper = self.helper(line)
            fresh = AgentSession(helper or name, record.position)
            session = found.setdefault((name, helper), fresh)
            try:
                self.take(session, line)
            except RecordError as error:
                yield located(error, "", record.position)
        mains = {name for (name, helper), each in found.items() if helper is None and each.messages}
        for (name, helper), session in found.items():
            if (helper is not None and name in mains) or not (session.messages or len(found) == 1):
                continue
            others = (each for key, each in found.items() if key[0] == name and key[1] is not None)
            helped = sum(len(each.messages) for each in others) if helper is None else 0
            has_gaps = records.gaps > 0
            yield from conversation_readings(
                session.position, self._episode, session, helped, has_gaps=has_gaps
            )

    def _episode(
        self, conversation: Conversation, session: AgentSession, helped: int, *, has_gaps: bool
    ) -> Trajectory:
        conversation.has_gaps = has_gaps
        branch = session.branches.taken([*session.messages.values()])
        taken = self.settle(conversation, [each.message for each in branch])
        for message in taken:
            self.add(conversation, message)
        conversation.pass_over("message", WENT_BACK, len(session.messages) - len(branch))
        conversation.pass_over("message", _HELPED, helped)
        for kind, count in session.unknown.items():
            why = f"of the unknown kind {quoted(kind, 40)}" if kind else "of no kind"
            conversation.pass_over("line", why, count)
        return conversation.episode(
            environment=workspace(
                repository=session.repository, system=session.system, directory=session.directory
            ),
            agent=session.agent,
            metadata={"id": session.id},
        )


def _lines_of(records: Records) -> Iterator[tuple[Record, Json]]:
    """Yield the lines of a log; a session of Claude Code on the web is one object."""
    for record in records:
        value = as_mapping(record.value)
        listed = value.get("loglines")
        for line in listed if isinstance(listed, list) else [value]:
            yield record, as_mapping(line)


def agent_reader(
    name: str, description: str, is_own: Callable[[object], bool], program: Program
) -> Reader:
    """Return the reader of a program's sessions."""
    return json_reader(name, description, is_own, program.read, sureness=0.96)


def _session_id(line: Json) -> str:
    return as_text(line.get("sessionId"))


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
    session.add(name, {**message, "role": kind})


def _add_claude(conversation: Conversation, message: Json) -> None:
    if message["role"] == "user":
        conversation.offer_task(typed_command(content_text(message.get("content"))))
    add_message(conversation, message)


def _claude_helper(line: Json) -> str | None:
    return as_text(line.get("agentId")) if line.get("isSidechain") is True else None


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


CLAUDE_CODE = agent_reader(
    "claude-code",
    "Claude Code: JSONL sessions, and those of the web as `loglines`",
    _is_claude,
    Program(_take_claude, _session_id, _add_claude, _claude_helper),
)


_DIRECTORY = re.compile(
    r"<session_context>.*?Workspace Directories:\*{0,2}\n\s+- ([^\n]+)", re.DOTALL
)


def _gemini_session(line: Json) -> str:
    return _session_id(line) if "type" not in line else ""


def _take_gemini(session: AgentSession, line: Json) -> None:
    messages = line.get("messages", as_mapping(line.get("$set")).get("messages"))
    for message in map(as_mapping, as_list(messages) if isinstance(messages, list) else [line]):
        kind = as_text(message.get("type"))
        if kind in ("user", "gemini") and "message" not in message:
            session.add(as_text(message.get("id")), message, grows=True)
            session.agent = session.agent or as_text(message.get("model"))
            found = (
                _DIRECTORY.match(content_text(message.get("content"))) if kind == "user" else None
            )
            session.directory = session.directory or (found[1] if found else "")
        elif kind not in ("info", "error", "warning") and not _gemini_session(message):
            is_note = any(key.startswith("$") for key in message)
            session.unknown.update([] if is_note else [kind])


def _add_gemini(conversation: Conversation, message: Json) -> None:
    content = message.get("content")
    # A session that was resumed has calls and answers among the words too.
    apart = {"functionCall", "functionResponse"}
    parts = [each for each in as_list(content) if apart.isdisjoint(as_mapping(each))]
    text = content_text(parts if isinstance(content, list) else content)
    if message["type"] == "user":
        typed = own_words(text.strip())
        (conversation.offer_task if is_command(typed) else conversation.user)(typed)
        return
    for thought in map(as_mapping, as_list(message.get("thoughts"))):
        parts_of_it = (as_text(thought.get("subject")), as_text(thought.get("description")))
        conversation.think(": ".join(filter(None, parts_of_it)))
    conversation.say(text)
    # A call and its result stand together, so all calls come first: they were made at once.
    calls = list(map(as_mapping, as_list(message.get("toolCalls"))))
    place = as_text(message.get("id")) or str(id(message))
    ids = [as_text(call.get("id")) or f"{place}/{index}" for index, call in enumerate(calls)]
    for call, call_id in zip(calls, ids, strict=True):
        conversation.call(as_text(call.get("name")) or "tool", call.get("args"), call_id)
    for call, call_id in zip(calls, ids, strict=True):
        status = _STATUSES.get(as_text(call.get("status")))
        shown, by_code = shell_answer(_gemini_result(call))
        conversation.answer(shown, call_id, failed=status == "error", status=by_code or status)


def _gemini_result(call: Json) -> str:
    texts = []
    for part in as_list(call.get("result")):
        response = as_mapping(as_mapping(part).get("functionResponse")).get("response")
        found = as_mapping(response).get("output", as_mapping(response).get("error", response))
        texts.append(content_text(part if found is None else found))
    shown = "\n".join(filter(None, texts))
    shown = shown or content_text(call.get("result") if not texts else call.get("resultDisplay"))
    status = as_text(call.get("status"))
    return shown or (f"({status})" if status in ("error", "cancelled") else "")


def _is_gemini(value: object) -> bool:
    line = as_mapping(value)
    if messages := as_list(line.get("messages")):
        kinds = {as_text(as_mapping(message).get("type")) for message in messages}
        return "sessionId" in line and not kinds.isdisjoint({"user", "gemini"})
    if ("sessionId" in line and "projectHash" in line) or "$set" in line:
        return True
    return line.get("type") in ("user", "gemini") and "content" in line and "message" not in line


def _claims_gemini(preview: Preview) -> float:
    lines = list(map(as_mapping, preview.records))
    keys = {"sessionId", "projectHash"}
    is_sure = any(line.get("type") == "gemini" or "messages" in line for line in lines)
    is_sure = is_sure or any(keys <= line.keys() and "kind" in line for line in lines)
    return 0.95 * share(preview, _is_gemini) if is_sure else 0.0


_GEMINI = Program(_take_gemini, _gemini_session, _add_gemini)
READERS = (
    CLAUDE_CODE,
    Reader(
        "gemini-cli",
        "Gemini CLI: sessions of user and gemini messages with toolCalls",
        _claims_gemini,
        _GEMINI.read,
    ),
)
