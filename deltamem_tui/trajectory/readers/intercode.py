"""InterCode: a run in one object, each episode with parallel lists of actions and answers."""

from __future__ import annotations

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import Step, Trajectory
from deltamem_tui.trajectory.outcome_keys import stated_under
from deltamem_tui.trajectory.outcomes import number
from deltamem_tui.trajectory.readers.keyed import each_entry, share_of_entries
from deltamem_tui.trajectory.readers.reader import Reader
from deltamem_tui.trajectory.readers.shapes import (
    Json,
    as_list,
    as_mapping,
    as_text,
    required_list,
    required_text,
    texts,
)


def _episode(name: str, value: object) -> Trajectory:
    record = as_mapping(value)
    turns = as_mapping(record.get("turn_history"))
    count = len(required_list(turns, "actions"))
    return Trajectory(
        task=required_text(record, "query").strip(),
        steps=tuple(_step(turns, index) for index in range(count)),
        outcome=stated_under(as_mapping(record.get("summary")), "max_reward"),
        domain=as_text(record.get("environment")),
        metadata={"id": name, **texts(record, ("task_id", "dataset", "hardness"))},
    )


def _step(turns: Json, index: int) -> Step:
    action, observation, thought, reward = (
        _at(as_list(turns.get(key)), index)
        for key in ("actions", "observations", "thoughts", "rewards")
    )
    if not as_text(action).strip():
        raise RecordError(f"step {index + 1} has no action")
    return Step(as_text(action), as_text(observation), as_text(thought), number(reward))


def _at(values: list[object], index: int) -> object:
    """The lists are of one length, unless the run broke off in the middle of a turn."""
    return values[index] if index < len(values) else None


def _is_entry(value: object) -> bool:
    record = as_mapping(value)
    return "actions" in as_mapping(record.get("turn_history")) and "query" in record


def _claims(preview: Preview) -> float:
    return 0.95 * share_of_entries(preview, _is_entry)


READER = Reader(
    name="intercode",
    description="InterCode: episodes by id, with query, turn_history and summary",
    claims=_claims,
    read=each_entry(_episode),
)
