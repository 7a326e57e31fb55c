"""mini-swe-agent: an object with `messages`, or a bare list of them; actions in bash blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePath

from deltamem_tui.trajectory.logs.record import Preview, Record
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.in_full import in_full
from deltamem_tui.trajectory.readers.messages import content_text, tell_message
from deltamem_tui.trajectory.readers.reader import Reader, Reading, share
from deltamem_tui.trajectory.readers.sessions import Session, sessions
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text
from deltamem_tui.trajectory.readers.whole_log import stray
from deltamem_tui.trajectory.readers.workspace import repository_of_issue, workspace

_BLOCK = re.compile(r"```(?:mswea_bash_command|bash|sh)[ \t]*\n(?P<command>.*?)\n?```", re.DOTALL)
_THOUGHT_LABEL = re.compile(r"^\s*THOUGHT:\s*")
_OWN_MARKS = ("mswea_bash_command", "<returncode>", "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")


@dataclass(slots=True)
class _Session(Session):
    """A bare list of messages, each of which is a record by itself."""

    messages: list[Json] = field(default_factory=list)

    def whole(self, record: Record) -> list[Reading] | None:
        run = as_mapping(record.value)
        if isinstance(record.value, list):
            run = {"messages": record.value}
        if "messages" not in run:
            return None
        return list(in_full(record.position, _episode, run, self.log_name))

    def begins_another(self, value: object) -> bool:
        """Whether an agent is told anew what it is for."""
        return as_mapping(value).get("role") == "system" and (
            self.breaks_off or any(message.get("role") != "system" for message in self.messages)
        )

    def take(self, value: object) -> None:
        message = as_mapping(value)
        if not isinstance(message.get("role"), str):
            raise stray("neither a message nor a run with `messages`")
        self.messages.append(message)

    def episode(self) -> Trajectory:
        conversation = Conversation()
        episode = _episode(conversation, {"messages": self.messages}, self.log_name)
        self.told.extend(conversation.unheard())
        return episode


def _episode(conversation: Conversation, run: Json, log_name: str) -> Trajectory:
    for message in map(as_mapping, as_list(run.get("messages"))):
        _tell(conversation, message)
    info = as_mapping(run.get("info"))
    config = as_mapping(info.get("config"))
    name = as_text(run.get("instance_id")) or _named_after(PurePath(log_name).name)
    return conversation.episode(
        environment=workspace(
            repository=repository_of_issue(name),
            directory=as_text(as_mapping(config.get("environment")).get("cwd")),
        ),
        agent=as_text(as_mapping(config.get("model")).get("model_name")),
        metadata={
            "id": name,
            "exit_status": as_text(info.get("exit_status")),
        },
    )


def _named_after(file: str) -> str:
    """The issue's id in a file's name, which may have a point of its own: `a__chart.js-7.traj`."""
    name, found, _ = file.partition(".traj")
    return name if found else file.partition(".")[0]


def _tell(conversation: Conversation, message: Json) -> None:
    role = message.get("role")
    if role == "exit":
        return  # the program's own note on how the run ended, with the patch
    text = content_text(message.get("content"))
    if role == "assistant" and not message.get("tool_calls"):
        _tell_reply(conversation, text)
    elif role == "user" and conversation.has_task:
        conversation.answer(text)
    else:
        tell_message(conversation, message)


def _tell_reply(conversation: Conversation, text: str) -> None:
    block = _BLOCK.search(text)
    if block is None:
        conversation.act(text.strip() or "(no reply)")
        return
    conversation.think(_THOUGHT_LABEL.sub("", text[: block.start()]))
    conversation.act(block["command"].strip())


def _is_run(value: object) -> bool:
    run = as_mapping(value)
    if not isinstance(run.get("messages"), list):
        return False
    info = as_mapping(run.get("info"))
    return as_text(run.get("trajectory_format")).startswith("mini-swe-agent") or (
        "mini_version" in info or ("exit_status" in info and "submission" in info)
    )


def _is_message(value: object) -> bool:
    message = as_mapping(value)
    return isinstance(message.get("role"), str) and "content" in message


def _claims(preview: Preview) -> float:
    if all(map(_is_message, preview.records)):
        own = preview.layout != "lines" and any(mark in preview.head for mark in _OWN_MARKS)
        return 0.96 * own * share(preview, _is_message)
    return 0.96 * share(preview, _is_run)


READER = Reader(
    name="mini-swe-agent",
    description="mini-swe-agent: messages with bash blocks; outcome from a side file",
    claims=_claims,
    read=sessions(_Session),
)
