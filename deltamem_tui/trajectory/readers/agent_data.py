"""Interchange formats of other projects: the Agent Data Protocol, and ATIF, Harbor's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.model import OUTCOME_SOURCES, Outcome, Trajectory
from deltamem_tui.trajectory.outcomes import number, recorded_anywhere
from deltamem_tui.trajectory.readers.chat import episode, opening_of
from deltamem_tui.trajectory.readers.chat_logs import agent_of
from deltamem_tui.trajectory.readers.coding import tool_names
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import content_text, unknown_speaker
from deltamem_tui.trajectory.readers.reader import (
    Part,
    Reading,
    each_conversation,
    each_part,
    json_reader,
)
from deltamem_tui.trajectory.readers.shapes import (
    Json,
    as_list,
    as_mapping,
    as_text,
    required_list,
    texts,
    unfolded,
    without_images,
)
from deltamem_tui.trajectory.readers.tasks import Opening
from deltamem_tui.trajectory.secrets.redaction import quoted
from deltamem_tui.trajectory.workspace import workspace

_DETAILS = ("exit_status", "dataset", "split", "task_id", "instance_id")
_QUOTED = re.compile(r"\A\"([^\"\\\n]*)\"\Z")
_FINISH = re.compile(r"\A<finish>(.*)</finish>\Z", re.DOTALL)
_DEEPEST = 3  # in a record, where a document of ATIF is looked for


def _read_protocol(log: Log) -> Iterator[Reading]:
    common = opening_of(log, lambda value: [_protocol_messages(as_mapping(value))])
    yield from each_conversation(lambda chat, value: _protocol(chat, value, common))(log)


def _protocol(conversation: Conversation, value: object, common: Opening) -> Trajectory:
    record = as_mapping(value)
    required_list(record, "content")
    messages = list(_protocol_messages(record))
    acts = (index for index, each in enumerate(messages) if each["role"] == "assistant")
    begin = next(acts, len(messages))
    # What the agent saw before it did anything is the scene.
    seen = [as_text(each["content"]) for each in messages[:begin] if each["role"] == "tool"]
    rest = [each for each in messages[:begin] if each["role"] != "tool"] + messages[begin:]
    details = as_mapping(record.get("details"))
    return replace(
        episode(rest, environment="\n".join(seen), conversation=conversation, common=common),
        outcome=recorded_anywhere(details),
        agent=agent_of(details),
        metadata=texts(record, ("id",)) | texts(details, _DETAILS),
    )


def _protocol_messages(record: Json) -> Iterator[Json]:
    items = [*map(as_mapping, as_list(record.get("content")))]
    if items and items[0].get("class_") == "message_action":
        # Data sets of screens have the user's wish first, as if the agent had said it.
        items[0] = {"source": "user", **items[0], "class_": "text_observation"}
    yield from map(_protocol_message, items)


def _protocol_message(item: Json) -> Json:
    kind, text = as_text(item.get("class_")), without_images(as_text(item.get("content")))
    thought = as_text(item.get("description")).strip()
    if kind == "text_observation":
        by_user = "user" if item.get("source") == "user" else "tool"
        return {"role": "system" if item.get("name") == "system" else by_user, "content": text}
    if kind in ("web_observation", "image_observation"):
        return {"role": "tool", "content": _page(item, kind)}
    if kind == "message_action":
        # The mark that the protocol puts around the agent's last words.
        found = _FINISH.match(text)
        said = (found[1].strip() or "finish") if found else text
        return {"role": "assistant", "content": said, "thought": thought}
    if kind == "api_action":
        given = as_mapping(item.get("kwargs")).items()
        arguments: object = {key: _bare(value) for key, value in given}
        name = as_text(item.get("function")) or "tool"
    elif kind == "code_action":
        name = as_text(item.get("language")) or "code"
        arguments = {"command": text} if name == "bash" else text
    else:
        raise RecordError(f"an item of unknown class {quoted(kind or 'none', 40)}")
    call = {"name": name, "arguments": arguments}
    return {"role": "assistant", "content": thought, "tool_calls": [call]}


def _page(item: Json, kind: str) -> str:
    parts = [f"URL: {item['url']}" if item.get("url") else ""]
    parts.append(as_text(item.get("axtree") or item.get("html")))
    if kind == "image_observation" or item.get("image_observation"):
        parts.append("[image]")
    if kind == "image_observation":
        marks = map(as_mapping, as_list(item.get("annotations")))
        parts.append(" | ".join(filter(None, (as_text(mark.get("text")) for mark in marks))))
    return "\n".join(filter(None, parts))


def _bare(value: object) -> object:
    """Return text without the quotation marks that some converters left around it."""
    found = _QUOTED.match(value) if isinstance(value, str) else None
    return found[1] if found else value


def _is_protocol(value: object) -> bool:
    content = as_list(as_mapping(value).get("content"))
    return bool(content) and all("class_" in as_mapping(item) for item in content)


def _atif_parts(value: object) -> Iterator[Part]:
    found = list(_documents(value))
    if not found:
        raise RecordError("not an ATIF document: no `schema_version` and `steps`")
    for place, document in found:
        record = as_mapping(value) if len(found) == 1 else {}
        yield place, partial(_atif, record=record, document=document)


def _documents(value: object, *path: str | int) -> Iterator[tuple[str, Json]]:
    record = as_mapping(value)
    if as_text(record.get("schema_version")).startswith("ATIF") and "steps" in record:
        steps = (f" {key}" if isinstance(key, int) else f".{quoted(key, 40)}" for key in path)
        yield "".join(steps).strip(" ."), record
    elif len(path) < _DEEPEST and record:
        for key, inner in record.items():
            yield from _documents(unfolded(inner), *path, key)
    elif len(path) < _DEEPEST:
        for index, inner in enumerate(as_list(value), 1):
            yield from _documents(inner, *path, index)


def _atif(conversation: Conversation, record: Json, document: Json) -> Trajectory:
    """Return the episode of a document, with the outcome that it states, or what wraps it alone."""
    steps = [*map(as_mapping, required_list(document, "steps"))]
    own = [step for step in steps if not _is_copied(step)]
    # A continuation is still about what was first asked.
    copied = (each for each in steps if _is_copied(each) and each.get("source") == "user")
    conversation.offer_task(content_text(next(copied, {}).get("message")))
    for step in own:
        _add_step(conversation, step)
    agent, extra = as_mapping(document.get("agent")), as_mapping(document.get("extra"))
    tools = workspace(tools=tool_names(agent.get("tool_definitions")))
    facts = {key: as_text(fact) for key, fact in as_mapping(extra.get("metadata")).items()}
    found = conversation.episode(
        environment=tools or conversation.system,
        outcome=_atif_outcome(record, extra),
        agent=as_text(agent.get("model_name")),
        metadata=facts
        or {"id": as_text(document.get("session_id")), "agent": as_text(agent.get("name"))},
    )
    acts = [as_mapping(each.get("extra")) for each in own if each.get("source") == "agent"]
    paid = [number(each.get("reward")) for each in acts]
    if len(paid) != len(found.steps):
        paid = [None] * len(found.steps)
    rewarded = tuple(
        replace(step, reward=each) for step, each in zip(found.steps, paid, strict=True)
    )
    return replace(found, domain=as_text(extra.get("domain")), steps=rewarded)


def _is_copied(step: Json) -> bool:
    return step.get("is_copied_context") is True


def _atif_outcome(record: Json, extra: Json) -> Outcome:
    outcome = recorded_anywhere(record)
    outcome = recorded_anywhere(extra) if outcome == Outcome() else outcome
    source = extra.get("outcome_source")
    if outcome.source == "stated" and source in OUTCOME_SOURCES:  # as `convert` writes it
        reason = as_text(extra.get("outcome_reason"))
        return replace(outcome, source=source, reason=reason)
    return outcome


def _add_step(conversation: Conversation, step: Json) -> None:
    source, text = step.get("source"), content_text(step.get("message"))
    if source == "user":
        conversation.user(text)
    elif source == "system":
        if not conversation.has_task:
            conversation.instruct(text)
    elif source == "agent":
        _add_agent_step(conversation, step, text)
    else:
        raise unknown_speaker(as_text(source))


def _add_agent_step(conversation: Conversation, step: Json, text: str) -> None:
    conversation.think(as_text(step.get("reasoning_content")))
    calls = [as_mapping(call) for call in as_list(step.get("tool_calls"))]
    reply = {} if calls else as_mapping(unfolded(text))
    typed = isinstance(reply.get("commands"), list)
    if typed:  # an agent that writes its commands as JSON into its message
        conversation.think("\n".join(texts(reply, ("analysis", "plan")).values()))
        for action in _keystrokes(reply):
            conversation.act(action, "typed", kind="code")
    else:
        conversation.say(text)
    names = [as_text(call.get("tool_call_id")) for call in calls]
    for call, name in zip(calls, names, strict=True):
        tool = as_text(call.get("function_name")) or "tool"
        conversation.call(tool, call.get("arguments"), name)
    for result in map(as_mapping, as_list(as_mapping(step.get("observation")).get("results"))):
        if result.get("content") is not None:  # else it only points to a sub-agent's trajectory
            name = as_text(result.get("source_call_id"))
            answered = name if name in names else "typed" if typed else ""
            conversation.answer(content_text(result["content"]), answered)


def _keystrokes(reply: Json) -> list[str]:
    commands = [as_mapping(each) for each in as_list(reply["commands"])]
    if not commands:
        return ["task_complete" if reply.get("task_complete") is True else "(wait)"]
    return [as_text(each.get("keystrokes")).rstrip("\n") or "(wait)" for each in commands]


READERS = (
    json_reader(
        name="agent-data-protocol",
        description="Agent Data Protocol: id, content of typed observations and actions, details",
        is_own=_is_protocol,
        read=_read_protocol,
    ),
    json_reader(
        name="atif",
        description="ATIF (Harbor): JSON with schema_version ATIF-…, agent and steps, also wrapped",
        is_own=lambda value: any(_documents(value)),
        sureness=0.98,
        read=each_part(_atif_parts),
    ),
)
