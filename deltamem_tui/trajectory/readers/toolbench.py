"""ToolBench: answers, each with the search that led to it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcome_keys import stated_under
from deltamem_tui.trajectory.outcomes import decided
from deltamem_tui.trajectory.readers.chat import episode
from deltamem_tui.trajectory.readers.coding import call_text
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import (
    each_conversation,
    json_reader,
)
from deltamem_tui.trajectory.readers.shapes import (
    Json,
    as_list,
    as_mapping,
    as_text,
    required_text,
    texts,
)


def _episode(conversation: Conversation, value: object) -> Trajectory:
    record = as_mapping(value)
    answer = as_mapping(record.get("answer_generation"))
    task = required_text(answer, "query").strip()
    conversations = as_list(answer.get("train_messages"))
    if answer.get("valid_data") and conversations:
        messages = _of_the_path(as_list(conversations[-1]))
        trajectory = episode(messages, task=task, conversation=conversation)
    else:
        trajectory = Trajectory(task, steps=tuple(_steps(_last_path(record))))
    return replace(
        trajectory,
        environment=_tools(answer),
        outcome=_win(record),
        domain="toolbench",
        metadata=texts(answer, ("finish_type",)),
    )


def _win(record: Json) -> Outcome:
    """The search's own flag, which does not say that the answer is right."""
    outcome = decided(stated_under(record, "win"))
    given = "an answer was given" if outcome.success else "no answer was given"
    return outcome if outcome.success is None else replace(outcome, reason=f"`win`: {given}")


def _of_the_path(messages: list[object]) -> Iterator[object]:
    """The messages without what the search told the model about its other branches."""
    asked = False
    for message in messages:
        is_user = as_mapping(message).get("role") == "user"
        if not (is_user and asked):
            yield message
        asked = asked or is_user


def _last_path(record: Json) -> list[Json]:
    """From the root to the leaf that the search reached last: what a failed answer ends with."""
    tree = as_mapping(record.get("tree"))
    node = as_mapping(tree.get("tree"))
    path = [node]
    while children := as_list(node.get("children")):
        node = as_mapping(children[-1])
        path.append(node)
    return path


def _steps(path: list[Json]) -> Iterator[Step]:
    thoughts: list[str] = []
    name = ""
    for node in path:
        kind, text = node.get("node_type"), as_text(node.get("description"))
        if kind == "Thought":
            thoughts.append(text.strip())
        elif kind == "Action":
            name = text
        elif kind == "Action Input" and name:
            observation = as_text(node.get("observation"))
            yield Step(call_text(name, text), observation, "\n".join(thoughts))
            thoughts, name = [], ""


def _tools(answer: Json) -> str:
    names = [as_text(as_mapping(tool).get("name")) for tool in as_list(answer.get("function"))]
    return f"Tools: {', '.join(filter(None, names))}" if any(names) else ""


def _is_answer(value: object) -> bool:
    record = as_mapping(value)
    return {"win", "answer_generation"} <= record.keys()


def _checked(conversation: Conversation, value: object) -> Trajectory:
    trajectory = _episode(conversation, value)
    if not trajectory.steps:
        raise RecordError("neither a valid conversation nor a tool call in the tree")
    return trajectory


READER = json_reader(
    name="toolbench",
    description="ToolBench answers: win, tree and answer_generation",
    is_own=_is_answer,
    read=each_conversation(_checked),
)
