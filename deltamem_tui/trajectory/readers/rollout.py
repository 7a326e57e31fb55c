"""Episodes rolled out on a simulator: one JSON object each, with the simulator's own verdict."""

from __future__ import annotations

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcome_keys import explained
from deltamem_tui.trajectory.outcomes import number, together, unit_reward, verdict_of
from deltamem_tui.trajectory.readers.reader import each_record, json_reader
from deltamem_tui.trajectory.readers.shapes import (
    Json,
    as_list,
    as_mapping,
    as_text,
    required_list,
    required_text,
    texts,
)
from deltamem_tui.trajectory.readers.tasks import scene_of

_METADATA = ("id", "kind", "split", "variation", "game")
# ScienceWorld pays 100 points for a whole task and -100 for spoiling it.
_POINTS = {"scienceworld": 100.0}


def _episode(value: object) -> Trajectory:
    record = as_mapping(value)
    steps = required_list(record, "steps")
    metadata = texts(record, _METADATA)
    task_type = as_text(record.get("task_type") or record.get("task"))
    if task_type:
        metadata["task_type"] = task_type
    return Trajectory(
        task=required_text(record, "task_description").strip(),
        environment=scene_of(as_text(record.get("initial_observation"))),
        steps=tuple(_step(step, index) for index, step in enumerate(steps, 1)),
        outcome=_outcome(record),
        domain=as_text(record.get("env")),
        agent=as_text(record.get("model")),
        metadata=metadata,
    )


def _step(value: object, index: int) -> Step:
    step = as_mapping(value)
    action = step.get("action")
    if not isinstance(action, str):
        raise RecordError(f"step {index} has no action")
    return Step(
        action=action,
        observation=as_text(step.get("observation")),
        thought=as_text(step.get("thought")),
        reward=number(step.get("reward")),
    )


def _outcome(record: Json) -> Outcome:
    outcomes = {"success": verdict_of(record.get("success"))}
    reward = _reward(record)
    if reward is not None:
        name = "reward" if record.get("final_score") is None else "final_score"
        outcomes[name] = Outcome(reward=reward, source="stated")
    outcome = explained(together(outcomes), record, ("success", "final_score", "reward"))
    if outcome.source == "unknown":
        return outcome
    return replace(outcome, reason=as_text(record.get("stop_reason")))


def _reward(record: Json) -> float | None:
    """The share of the task that was solved."""
    # `max_score` helps only where it lies above all that the episode reached: some simulators
    # write there what is to be had, others the episode's own highest score.
    if record.get("final_score") is None:
        return unit_reward(record.get("reward"))
    best = _POINTS.get(as_text(record.get("env")).lower())
    if best is None:
        reached = [number(as_mapping(step).get("score")) for step in as_list(record.get("steps"))]
        reached.append(number(record["final_score"]))
        highest = max((score for score in reached if score is not None), default=0.0)
        named = number(record.get("max_score"))
        best = named if named is not None and named > highest else 1.0
    return unit_reward(record["final_score"], best)


def _is_rollout(value: object) -> bool:
    record = as_mapping(value)
    return (
        isinstance(record.get("task_description"), str)
        and isinstance(record.get("steps"), list)
        and ("success" in record or "final_score" in record or "initial_observation" in record)
    )


READER = json_reader(
    name="rollout",
    description="simulator rollouts: JSON with task_description, steps and success",
    is_own=_is_rollout,
    read=each_record(_episode),
)
