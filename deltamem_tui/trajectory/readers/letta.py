"""Letta agent files: an agent's state, in which the last messages may be an episode."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.coding import tool_names
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import add_message, content_text
from deltamem_tui.trajectory.readers.reader import Part, each_part, json_reader
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text, unfolded
from deltamem_tui.trajectory.workspace import workspace


def _agents(value: object) -> Iterator[Part]:
    file = as_mapping(value)
    # The first version of the format is one agent, with its messages, and no list.
    for agent in list(map(as_mapping, as_list(file.get("agents")))) or [file]:
        name = f"agent {as_text(agent.get('name'))}".strip()
        yield name, partial(_episode, agent=agent, file=file)


def _episode(conversation: Conversation, agent: Json, file: Json) -> Trajectory:
    for message in map(as_mapping, as_list(agent.get("messages"))):
        _add(conversation, message)
    model = as_mapping(agent.get("llm_config")).get("model")
    given = {as_text(name) for name in as_list(agent.get("tool_ids"))}
    tools = [
        tool
        for tool in map(as_mapping, as_list(file.get("tools")))
        if not given or as_text(tool.get("id")) in given
    ]
    try:
        return conversation.episode(
            environment=workspace(tools=tool_names(tools)),
            agent=as_text(model),
            metadata={"name": as_text(agent.get("name"))},
        )
    except RecordError as error:
        raise RecordError(
            f"an agent's state without an episode in it: {error.message}",
            hint="an agent file keeps the messages in the agent's window only, not its log",
        ) from error


def _add(conversation: Conversation, message: Json) -> None:
    text = content_text(message.get("content"))
    role = message.get("role")
    if role == "user":
        conversation.user(_spoken(text))
    elif role == "tool":
        returned = map(as_mapping, as_list(message.get("tool_returns")))
        failed = any(each.get("status") == "error" for each in returned)
        conversation.answer(text, as_text(message.get("tool_call_id")), failed=failed)
    elif role != "system":
        add_message(conversation, message)


def _spoken(text: str) -> str:
    """Return what the user said, out of the JSON it comes in; empty for a login or a heartbeat."""
    event = as_mapping(unfolded(text))
    if "type" not in event:
        return text
    return as_text(event.get("message")) if event["type"] == "user_message" else ""


def _is_agent_file(value: object) -> bool:
    file = as_mapping(value)
    agents = as_list(file.get("agents"))
    agent = as_mapping(agents[0]) if agents else file
    return "llm_config" in agent and "agent_type" in agent


READER = json_reader(
    name="letta",
    description="Letta agent files: the messages in an agent's window",
    is_own=_is_agent_file,
    read=each_part(_agents),
)
