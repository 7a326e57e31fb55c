"""Claude Code: JSONL sessions, a line for each message, block or note of the program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from deltamem_tui.trajectory.logs.record import Notice, Record, located
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.coding import typed_command
from deltamem_tui.trajectory.readers.conversation import Conversation, are_left_out
from deltamem_tui.trajectory.readers.messages import add_message, content_text
from deltamem_tui.trajectory.readers.reader import Reading, conversation_readings, json_reader
from deltamem_tui.trajectory.readers.sessions import (
    Branches,
    Records,
    SessionMessage,
    before_in,
    branch_notices,
    stray,
    stray_kind,
    whole_log,
)
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text
from deltamem_tui.trajectory.workspace import workspace

_NOT_A_MODEL = "<synthetic>"
_OWN_KEYS = ("uuid", "sessionId", "leafUuid", "messageId")
# What the program writes between the messages for itself, in sessions and in streams of them.
_NOTES = frozenset(
    {"summary", "task-summary", "system", "attachment", "progress", "queue-operation", "todo"}
    | {"file-history-snapshot", "file-history-delta", "attribution-snapshot", "checkpoint"}
    | {"ai-title", "custom-title", "agent-name", "agent-color", "agent-setting", "tag"}
    | {"mode", "permission-mode", "last-prompt", "pr-link", "worktree-state", "relocated"}
    | {"content-replacement", "speculation-accept", "marble-origami-commit", "diagnostic"}
    | {"marble-origami-snapshot", "compact", "compact-boundary", "fork-context-ref"}
    | {"bridge-session", "frame-link", "atis-latch", "started", "result", "stream_event"}
    | {"rate_limit_event", "tool_progress", "tool_use_summary", "auth_status"}
)


def _gather(records: Records) -> Iterator[Reading]:
    sessions: defaultdict[str, _ClaudeSession] = defaultdict(_ClaudeSession)
    for record in chain.from_iterable(map(_lines_of, records)):
        line = as_mapping(record.value)
        kind = line.get("type")
        session = sessions[as_text(line.get("sessionId"))]
        session.branches.add(as_text(line.get("uuid")), before_in(line, "parentUuid"))
        if not isinstance(kind, str):
            yield stray("it has no `type`", record.position)
        elif kind in ("user", "assistant"):
            if not isinstance(line.get("message"), dict):
                yield stray("it has no `message`", record.position)
                continue
            session.add(line, record.position, records.gaps)
        elif isinstance(line.get("message"), dict):
            yield located(stray_kind(kind, "a message"), "", record.position)
        elif kind not in _NOTES:
            yield located(stray_kind(kind), "", record.position)
    for name, session in sessions.items():
        yield from session.readings(name)


def _lines_of(record: Record) -> Iterable[Record]:
    """Return a line, or the lines of a session on the web, which are one object."""
    lines = as_mapping(record.value).get("loglines")
    if not isinstance(lines, list):
        return [record]
    return (Record(line, f"{record.position}, line {i}") for i, line in enumerate(lines, 1))


@dataclass(slots=True)
class _Strand:
    """One conversation of a session: the user's own, or one with a sub-agent."""

    position: str
    gaps: int  # in the log when it was last heard of; any of them may have been its own
    has_gaps: bool = False
    messages: list[SessionMessage] = field(default_factory=list)
    directory: str = ""
    agent: str = ""


class _ClaudeSession:
    """One session, gathered line by line."""

    def __init__(self) -> None:
        self.branches = Branches()
        self._main: _Strand | None = None
        self._aside: dict[str, _Strand] = {}
        self._seen: set[str] = set()

    def add(self, line: Json, position: str, gaps: int) -> None:
        """Add a line, unless it was there before, as in a resumed session."""
        uuid = as_text(line.get("uuid"))
        if uuid and uuid in self._seen:
            return
        self._seen.add(uuid)
        strand = self._strand(line, position, gaps)
        strand.has_gaps = strand.has_gaps or strand.gaps != gaps
        strand.directory = strand.directory or as_text(line.get("cwd"))
        if _is_the_programs(line):
            return
        message = as_mapping(line["message"])
        model = as_text(message.get("model"))
        if model == _NOT_A_MODEL:
            return  # an error of the service, in the model's place
        strand.agent = strand.agent or model
        message = {**message, "role": line["type"]}
        strand.messages.append(SessionMessage(as_text(line.get("uuid")), position, message))

    def readings(self, name: str) -> Iterator[Reading]:
        """Yield the episodes: the main conversation, or the sub-agents' if there is none."""
        if self._main and (self._main.messages or not self._aside):
            yield from self._told(self._main, name)
            helped = (strand.messages for strand in self._aside.values())
            yield from _helper_notices([*chain.from_iterable(helped)])
            return
        for agent, strand in self._aside.items():
            # What is said of the session is not said of its helpers. Older logs do not name them,
            # so the tasks of several may stand in one strand.
            yield from self._told(strand, agent or name, one_task=bool(agent))

    def _told(self, strand: _Strand, name: str, *, one_task: bool = True) -> Iterator[Reading]:
        taken, left = self.branches.parted(strand.messages, one_task=one_task)
        yield from conversation_readings(strand.position, _episode, strand, taken, name)
        yield from branch_notices(left)

    def _strand(self, line: Json, position: str, gaps: int) -> _Strand:
        if line.get("isSidechain") is True:
            return self._aside.setdefault(as_text(line.get("agentId")), _Strand(position, gaps))
        self._main = self._main or _Strand(position, gaps)
        return self._main


def _episode(
    conversation: Conversation, strand: _Strand, taken: list[SessionMessage], name: str
) -> Trajectory:
    conversation.has_gaps = strand.has_gaps
    for message in (message.message for message in taken):
        if message["role"] == "user":
            conversation.offer_task(typed_command(content_text(message.get("content"))))
        add_message(conversation, message)
    return conversation.episode(
        environment=workspace(directory=strand.directory), agent=strand.agent, metadata={"id": name}
    )


def _helper_notices(message: list[SessionMessage]) -> Iterator[Notice]:
    """Yield a notice of what sub-agents did for a session, if they did anything."""
    if message:
        left_out = are_left_out("message", len(message), " of sub-agents")
        yield Notice(
            f"{left_out}: their work is not the session's",
            position=message[0].position,
            hint="a file of a sub-agent alone is an episode",
        )


def _is_the_programs(line: Json) -> bool:
    """Return True if a line is in another's name but written by the program."""
    return any(line.get(key) is True for key in ("isMeta", "isCompactSummary", "isApiErrorMessage"))


def _is_line(value: object) -> bool:
    line = as_mapping(value)
    if lines := as_list(line.get("loglines")):
        return "message" in as_mapping(lines[0]) or _is_line(lines[0])
    if line.get("type") in ("user", "assistant"):
        return isinstance(line.get("message"), dict) and ("sessionId" in line or "uuid" in line)
    if "payload" in line:  # as Codex has it
        return False
    return isinstance(line.get("type"), str) and any(key in line for key in _OWN_KEYS)


READER = json_reader(
    name="claude-code",
    description="Claude Code: JSONL sessions, and those of the web as `loglines`",
    is_own=_is_line,
    read=whole_log(_gather),
)
