"""tau-bench and tau2-bench: customers, agents and tools, with rewards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.outcome_keys import stated_under
from deltamem_tui.trajectory.readers.chat import episode
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import json_reader
from deltamem_tui.trajectory.readers.records import Part, each_conversation, each_part
from deltamem_tui.trajectory.readers.shapes import (
    Json,
    as_list,
    as_mapping,
    as_text,
    required_list,
    texts,
)
from deltamem_tui.trajectory.secrets.quoting import quoted


def _tau_episode(conversation: Conversation, value: object) -> Trajectory:
    record = as_mapping(value)
    info = as_mapping(record.get("info"))
    messages = required_list(record, "traj")
    if not messages:
        fault = quoted(as_text(info.get("error")), 120)
        raise RecordError(f"no messages; the run broke off: {fault}" if fault else "no messages")
    # What the simulated customer was told to want; the agent never saw it.
    script = as_text(as_mapping(info.get("task")).get("instruction"))
    metadata = texts(record, ("task_id", "trial"))
    return replace(
        episode(messages, conversation=conversation),
        outcome=stated_under(record, "reward"),
        metadata={**metadata, "user_script": script} if script else metadata,
    )


def _tau_is_run(value: object) -> bool:
    record = as_mapping(value)
    return isinstance(record.get("traj"), list) and {"task_id", "reward", "info"} <= record.keys()


TAU_BENCH = json_reader(
    name="tau-bench",
    description="tau-bench: runs with task_id, reward, info, traj and trial",
    is_own=_tau_is_run,
    read=each_conversation(_tau_episode),
)


_METADATA = ("id", "task_id", "trial", "termination_reason")


def _simulations(value: object) -> Iterator[Part]:
    run = as_mapping(value)
    tasks = {as_text(task.get("id")): task for task in map(as_mapping, as_list(run.get("tasks")))}
    info = as_mapping(run.get("info"))
    for number, each in enumerate(required_list(run, "simulations"), 1):
        episode_of = partial(_tau2_episode, simulation=as_mapping(each), tasks=tasks, info=info)
        yield f"simulation {number}", episode_of


def _tau2_episode(
    conversation: Conversation, simulation: Json, tasks: Mapping[str, Json], info: Json
) -> Trajectory:
    if simulation.get("messages") is None:
        raise RecordError("no messages, as in runs by voice")
    task = tasks.get(as_text(simulation.get("task_id")), {})
    place = as_mapping(info.get("environment_info"))
    metadata = texts(simulation, _METADATA)
    # What the simulated customer was told to want; the agent never saw it.
    script = as_text(as_mapping(task.get("user_scenario")).get("instructions"))
    messages = list(_of_the_agent(required_list(simulation, "messages")))
    policy = as_text(place.get("policy")).strip()
    return replace(
        episode(
            messages,
            task=as_text(task.get("ticket")),
            environment=policy,
            conversation=conversation,
        ),
        outcome=stated_under(as_mapping(simulation.get("reward_info")), "reward"),
        domain=as_text(place.get("domain_name")),
        agent=as_text(as_mapping(info.get("agent_info")).get("llm")),
        metadata={**metadata, "user_script": script} if script else metadata,
    )


def _of_the_agent(messages: list[object]) -> Iterator[Json]:
    """The messages without the tools that the simulated customer used on its own side."""
    for message in map(as_mapping, messages):
        parts = as_list(message.get("tool_messages"))
        for part in map(as_mapping, parts or [message]):
            if part.get("requestor") == "user":
                continue
            if part.get("role") == "tool":
                yield {**part, "tool_call_id": part.get("tool_call_id") or part.get("id")}
            elif part.get("role") == "user":
                yield {**part, "tool_calls": None}
            else:
                yield part


def _tau2_is_run(value: object) -> bool:
    record = as_mapping(value)
    return isinstance(record.get("simulations"), list) and isinstance(record.get("tasks"), list)


TAU2_BENCH = json_reader(
    name="tau2-bench",
    description="tau2-bench: an object of tasks and simulations",
    is_own=_tau2_is_run,
    read=each_part(_simulations),
)
