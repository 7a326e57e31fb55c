"""OpenClaw: JSONL sessions, a line for each message."""

from __future__ import annotations

from dataclasses import dataclass, field

from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import add_messages
from deltamem_tui.trajectory.readers.reader import Reader, share
from deltamem_tui.trajectory.readers.sessions import (
    Branches,
    Session,
    SessionMessage,
    before_in,
    branch_notices,
    sessions,
    stray_kind,
)
from deltamem_tui.trajectory.readers.shapes import Json, as_mapping, as_text
from deltamem_tui.trajectory.workspace import workspace

_NOTES = frozenset(
    {"session", "model_change", "thinking_level_change", "compaction", "branch_summary"}
    | {"custom", "custom_message", "label", "session_info"}
)
# Who is neither the user nor the agent nor its tools: what the user tried in the shell beside the
# chat, what extensions put in, and the program's own summaries.
_ASIDE = frozenset({"bashExecution", "custom", "hookMessage", "branchSummary", "compactionSummary"})


@dataclass(slots=True)
class _OpenClawSession(Session):
    """What the lines say of one session."""

    id: str = ""
    directory: str = ""
    agent: str = ""
    messages: list[SessionMessage] = field(default_factory=list)
    branches: Branches = field(default_factory=Branches)
    seen: set[str] = field(default_factory=set)

    def begins_another(self, value: object) -> bool:
        line = as_mapping(value)
        if line.get("type") != "session" or as_text(line.get("id")) == self.id:
            return False
        return bool(self.messages) or self.breaks_off

    def take(self, value: object) -> None:
        line = as_mapping(value)
        kind = as_text(line.get("type"))
        if kind == "message" or kind in _NOTES:
            self.branches.add(as_text(line.get("id")), before_in(line, "parentId"))
        if kind == "session":
            self.id = self.id or as_text(line.get("id"))
            self.directory = self.directory or as_text(line.get("cwd"))
        elif kind == "model_change":
            self.agent = self.agent or as_text(line.get("modelId"))
        elif kind == "message":
            self._take_message(as_text(line.get("id")), as_mapping(line.get("message")))
        elif kind not in _NOTES:
            raise stray_kind(kind)

    def _take_message(self, name: str, message: Json) -> None:
        if name and name in self.seen:
            return
        self.seen.add(name)
        self.agent = self.agent or as_text(message.get("model"))
        if as_text(message.get("role")) not in _ASIDE:
            self.messages.append(SessionMessage(name, self.position, message))

    def episode(self, conversation: Conversation) -> Trajectory:
        taken, left = self.branches.parted(self.messages)
        self.remarks.extend(branch_notices(left))
        add_messages(conversation, [said.message for said in taken])
        return conversation.episode(
            environment=workspace(directory=self.directory),
            agent=self.agent,
            metadata={"id": self.id},
        )


def _is_line(value: object) -> bool:
    line = as_mapping(value)
    if line.get("type") == "message":
        return isinstance(as_mapping(line.get("message")).get("role"), str)
    return as_text(line.get("type")) in _NOTES and "id" in line


def _claims(preview: Preview) -> float:
    messages = any(as_mapping(value).get("type") == "message" for value in preview.records)
    begins = any(as_mapping(value).get("type") == "session" for value in preview.records)
    return 0.95 * share(preview, _is_line) if messages or begins else 0.0


READER = Reader(
    name="openclaw",
    description="OpenClaw: JSONL sessions of user, assistant and toolResult messages",
    claims=_claims,
    read=sessions(_OpenClawSession),
)
