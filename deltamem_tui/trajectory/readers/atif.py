"""ATIF, Harbor's interchange format: one trajectory a JSON object, call and answer in one step."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import OUTCOME_SOURCES, Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcome_keys import recorded_anywhere
from deltamem_tui.trajectory.outcomes import number
from deltamem_tui.trajectory.readers.coding import tool_names
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import content_text, unknown_speaker
from deltamem_tui.trajectory.readers.reader import Part, each_part, json_reader
from deltamem_tui.trajectory.readers.shapes import (
    Json,
    as_list,
    as_mapping,
    as_text,
    required_list,
    texts,
    unfolded,
)
from deltamem_tui.trajectory.secrets.redaction import quoted
from deltamem_tui.trajectory.workspace import workspace

# How deep in a record a document is looked for.
_DEEPEST = 3


def _episode(conversation: Conversation, value: object) -> Trajectory:
    record = as_mapping(value)
    steps = [*map(as_mapping, required_list(record, "steps"))]
    # A continuation is still about what was first asked.
    copied = (each for each in steps if _is_copied(each) and each.get("source") == "user")
    conversation.offer_task(content_text(next(copied, {}).get("message")))
    for index, step in enumerate(steps):
        if not _is_copied(step):
            _add(conversation, step, f"step {index}")
    agent = as_mapping(record.get("agent"))
    tools = workspace(tools=tool_names(agent.get("tool_definitions")))
    return conversation.episode(
        environment=tools or conversation.system,
        agent=as_text(agent.get("model_name")),
        metadata={"id": as_text(record.get("session_id")), "agent": as_text(agent.get("name"))},
    )


def _add(conversation: Conversation, step: Json, name: str) -> None:
    source, text = step.get("source"), content_text(step.get("message"))
    if source == "user":
        conversation.user(text)
    elif source == "system":
        if not conversation.has_task:
            conversation.instruct(text)
    elif source == "agent":
        _tell_agent(conversation, step, text, name)
    else:
        raise unknown_speaker(as_text(source))


def _tell_agent(conversation: Conversation, step: Json, text: str, name: str) -> None:
    conversation.think(as_text(step.get("reasoning_content")))
    calls = [as_mapping(call) for call in as_list(step.get("tool_calls"))]
    typed = [] if calls else list(_keystrokes(text))
    if typed:
        conversation.think(_plan(text))
    else:
        conversation.say(text)
    for call in calls:
        tool = as_text(call.get("function_name")) or "tool"
        conversation.call(
            tool, call.get("arguments"), f"{name}/{as_text(call.get('tool_call_id'))}"
        )
    for action in typed:
        conversation.act(action, name, kind="code")
    called = {as_text(call.get("tool_call_id")) for call in calls}
    for result in map(as_mapping, as_list(as_mapping(step.get("observation")).get("results"))):
        if result.get("content") is None:
            continue  # it only points to a sub-agent's own trajectory
        source = as_text(result.get("source_call_id"))
        answered = f"{name}/{source}" if source in called else name if typed else ""
        conversation.answer(content_text(result["content"]), answered)


def _keystrokes(text: str) -> Iterator[str]:
    """Yield the commands of an agent that writes them as JSON into its message."""
    commands = _reply(text).get("commands")
    if not isinstance(commands, list):
        return
    for command in map(as_mapping, commands):
        yield as_text(command.get("keystrokes")).rstrip("\n") or "(wait)"
    if not commands:
        yield "task_complete" if _reply(text).get("task_complete") is True else "(wait)"


def _plan(text: str) -> str:
    reply = _reply(text)
    return "\n".join(filter(None, (as_text(reply.get("analysis")), as_text(reply.get("plan")))))


def _reply(text: str) -> Json:
    return as_mapping(unfolded(text))


def _is_atif(value: object) -> bool:
    record = as_mapping(value)
    version = record.get("schema_version")
    return isinstance(version, str) and version.startswith("ATIF") and "steps" in record


def _documents(value: object, *path: str | int) -> Iterator[tuple[str, Json]]:
    if _is_atif(value):
        steps = (f" {key}" if isinstance(key, int) else f".{quoted(key, 40)}" for key in path)
        yield "".join(steps).strip(" ."), as_mapping(value)
    elif len(path) < _DEEPEST and isinstance(value, dict):
        for key, inner in value.items():
            yield from _documents(unfolded(inner), *path, key)
    elif len(path) < _DEEPEST and isinstance(value, list):
        for index, inner in enumerate(value, 1):
            yield from _documents(inner, *path, index)


def _parts(value: object) -> Iterator[Part]:
    found = list(_documents(value))
    if not found:
        raise RecordError("no document of ATIF in it, with `schema_version` and `steps`")
    for place, document in found:
        yield place, partial(_told, record=value, document=document)


def _told(conversation: Conversation, record: object, document: Json) -> Trajectory:
    """Return the episode of a document, with the outcome that it states, or what wraps it alone."""
    trajectory, extra = _episode(conversation, document), as_mapping(document.get("extra"))
    is_alone = len(list(_documents(record))) == 1
    outcome = recorded_anywhere(as_mapping(record)) if is_alone else Outcome()
    outcome = recorded_anywhere(extra) if outcome == Outcome() else outcome
    source = as_text(extra.get("outcome_source"))
    if outcome.source == "stated" and source in OUTCOME_SOURCES:  # as `convert` writes it
        outcome = replace(outcome, source=source, reason=as_text(extra.get("outcome_reason")))
    facts = texts(as_mapping(extra.get("metadata")), tuple(as_mapping(extra.get("metadata"))))
    return replace(
        trajectory,
        outcome=outcome,
        domain=as_text(extra.get("domain")),
        metadata=facts or trajectory.metadata,
        steps=tuple(map(_paid, trajectory.steps, _rewards(document, len(trajectory.steps)))),
    )


def _rewards(document: Json, count: int) -> list[float | None]:
    steps = map(as_mapping, as_list(document["steps"]))
    agents = [each for each in steps if each.get("source") == "agent" and not _is_copied(each)]
    paid = [number(as_mapping(step.get("extra")).get("reward")) for step in agents]
    return paid if len(paid) == count else [None] * count


def _is_copied(step: Json) -> bool:
    return step.get("is_copied_context") is True


def _paid(step: Step, reward: float | None) -> Step:
    return step if reward is None else replace(step, reward=reward)


READER = json_reader(
    name="atif",
    description="ATIF (Harbor): JSON with schema_version ATIF-…, agent and steps, also wrapped",
    is_own=lambda value: any(_documents(value)),
    sureness=0.98,
    read=each_part(_parts),
)
