"""Copilot CLI and Qwen Code: JSONL sessions, a line for each event.

Calls and answers name each other, so a line that cannot be read loses only itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from deltamem_tui.trajectory.model import StepStatus, Trajectory
from deltamem_tui.trajectory.readers.coding import exit_status, own_words, shell_answer
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import add_message, content_text
from deltamem_tui.trajectory.readers.reader import json_reader
from deltamem_tui.trajectory.readers.sessions import Session, sessions, stray
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text
from deltamem_tui.trajectory.workspace import workspace

_Act = Callable[[Conversation], None]
_STATUSES: dict[str, StepStatus] = {
    **dict.fromkeys(("success", "true"), "ok"),
    **dict.fromkeys(("error", "false"), "error"),
}


@dataclass(slots=True, kw_only=True)
class _Events(Session):
    """A session, and what happens in it, in order.

    Attributes:
        add_line: Adds a line of the format to the session.
        names_session: The id of the session that a line opens or is of; empty if it does not say.
    """

    names_calls: ClassVar[bool] = True
    add_line: Callable[[_Events, Json], None]
    names_session: Callable[[Json], str]
    id: str = ""
    directory: str = ""
    repository: str = ""
    agent: str = ""
    acts: list[_Act] = field(default_factory=list)

    def begins_another(self, value: object) -> bool:
        name = self.names_session(as_mapping(value))
        return name not in ("", self.id) and bool(self.acts)

    def take(self, value: object) -> None:
        self.add_line(self, as_mapping(value))

    def episode(self, conversation: Conversation) -> Trajectory:
        for act in self.acts:
            act(conversation)
        return conversation.episode(
            environment=workspace(repository=self.repository, directory=self.directory),
            agent=self.agent,
            metadata={"id": self.id},
        )


_COPILOT_KINDS = ("session.", "user.", "system.", "assistant.", "tool.", "hook.", "subagent.")
_SHELL_END = re.compile(r"\n?<shellId: \S+ completed with exit code (-?\d{1,9})>\s*\Z")


def _copilot_session(line: Json) -> str:
    data = as_mapping(line.get("data"))
    return as_text(data.get("sessionId")) if line.get("type") == "session.start" else ""


def _add_copilot(session: _Events, line: Json) -> None:
    """Add a line of Copilot CLI."""
    kind, data = as_text(line.get("type")), as_mapping(line.get("data"))
    if not kind.startswith(_COPILOT_KINDS):
        raise stray("it is no event of a session")
    if kind == "session.start":
        context = as_mapping(data.get("context"))
        session.id = session.id or as_text(data.get("sessionId"))
        session.directory = session.directory or as_text(context.get("cwd"))
        session.repository = session.repository or as_text(context.get("repository"))
        session.agent = session.agent or as_text(data.get("selectedModel"))
    elif data.get("parentToolCallId"):
        if kind == "assistant.message":
            session.acts.append(lambda conversation: conversation.pass_over("message", _HELPERS))
    elif kind == "user.message":
        session.acts.append(lambda conversation: _copilot_user(conversation, data))
    elif kind == "assistant.message":
        session.acts.append(lambda conversation: _copilot_agent(conversation, data))
    elif kind == "tool.execution_complete":
        session.acts.append(lambda conversation: _copilot_answer(conversation, data))


_HELPERS = "of a sub-agent, whose work is not the session's"


def _copilot_user(conversation: Conversation, data: Json) -> None:
    conversation.user(own_words(content_text(data.get("content"))))


def _copilot_agent(conversation: Conversation, data: Json) -> None:
    conversation.think(as_text(data.get("reasoningText")))
    conversation.say(content_text(data.get("content")))
    for call in map(as_mapping, as_list(data.get("toolRequests"))):
        name, call_id = as_text(call.get("name")), as_text(call.get("toolCallId"))
        conversation.call(name or "tool", call.get("arguments"), call_id)


def _copilot_answer(conversation: Conversation, data: Json) -> None:
    result, error = as_mapping(data.get("result")), as_mapping(data.get("error"))
    text = content_text(result.get("content") or error.get("message") or "")
    status = exit_status(as_mapping(data.get("shellExecution")).get("exitCode"))
    status = status or _STATUSES.get(as_text(data.get("success")))
    failed = data.get("success") is False
    if end := _SHELL_END.search(text):
        text = text[: end.start()]
        text = f"{text}\n(exit code {end[1]})".lstrip() if end[1] != "0" else text
    conversation.answer(text, as_text(data.get("toolCallId")), failed=failed, status=status)


def _is_copilot(value: object) -> bool:
    line = as_mapping(value)
    return (
        isinstance(line.get("data"), dict)
        and "parentId" in line
        and as_text(line.get("type")).startswith(_COPILOT_KINDS)
    )


COPILOT = json_reader(
    name="copilot-cli",
    description="Copilot CLI: JSONL of events with type, data and parentId",
    is_own=_is_copilot,
    sureness=0.97,
    read=sessions(lambda _: _Events(add_line=_add_copilot, names_session=_copilot_session)),
)


def _add_qwen(session: _Events, line: Json) -> None:
    """Add a line of Qwen Code."""
    kind, message = as_text(line.get("type")), as_mapping(line.get("message"))
    session.id = session.id or as_text(line.get("sessionId"))
    session.directory = session.directory or as_text(line.get("cwd"))
    session.agent = session.agent or as_text(line.get("model"))
    if kind == "tool_result":
        result = as_mapping(line.get("toolCallResult"))
        session.acts.append(lambda conversation: _qwen_answers(conversation, message, result))
    elif kind in ("user", "assistant"):
        session.acts.append(lambda conversation: add_message(conversation, message))
    elif kind != "system":
        raise stray("it is no line of a session")


def _qwen_answers(conversation: Conversation, message: Json, result: Json) -> None:
    for part in map(as_mapping, as_list(message.get("parts"))):
        response = as_mapping(part.get("functionResponse"))
        answer = as_mapping(response.get("response"))
        error = answer.get("error")
        text, status = shell_answer(content_text(answer.get("output") or error or ""))
        status = status or _STATUSES.get(as_text(result.get("status")))
        name = as_text(response.get("id"))
        conversation.answer(text, name, failed=bool(error), status=status)


def _is_qwen(value: object) -> bool:
    line = as_mapping(value)
    if line.get("type") == "system":
        return "subtype" in line and "sessionId" in line and "version" in line
    parts = as_mapping(line.get("message")).get("parts")
    return "sessionId" in line and isinstance(parts, list)


QWEN = json_reader(
    name="qwen-code",
    description="Qwen Code: JSONL sessions with sessionId and message of role and parts",
    is_own=_is_qwen,
    sureness=0.97,
    read=sessions(
        lambda _: _Events(
            add_line=_add_qwen, names_session=lambda line: as_text(line.get("sessionId"))
        )
    ),
)
