"""AgentBoard: indented JSON objects one after another, with goal, is_done and progress_rate."""

from __future__ import annotations

from collections.abc import Iterator

from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcome_keys import explained
from deltamem_tui.trajectory.outcomes import number, stated, together, verdict_of
from deltamem_tui.trajectory.readers.reader import Reader, each_record, share
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text, texts

_METADATA = ("id", "task_name", "difficulty")


def _episode(value: object) -> Trajectory:
    record = as_mapping(value)
    turns = list(_turns(record.get("trajectory")))
    goals = [as_text(turn["Goal"]) for turn in turns if "Goal" in turn]
    opening = next((turn for turn in turns if "Action" not in turn and "Observation" in turn), {})
    return Trajectory(
        task=(as_text(record.get("goal")) or "".join(goals[:1])).strip(),
        environment=as_text(opening.get("Observation")).strip(),
        steps=tuple(_step(turn) for turn in turns if "Action" in turn),
        outcome=_outcome(record),
        metadata=texts(record, _METADATA),
    )


def _turns(trajectory: object) -> Iterator[dict[str, object]]:
    """Turn by turn, whether the log names its turns or lists what happened one by one."""
    if isinstance(trajectory, dict):
        yield from (dict(as_mapping(turn)) for turn in trajectory.values())
        return
    turn: dict[str, object] = {}
    for item in map(as_mapping, as_list(trajectory)):
        facts = {key: value for key, value in item.items() if key != "id"}
        if "Action" in facts or facts.keys() & turn.keys():
            yield turn
            turn = {}
        turn |= facts
    yield turn


def _step(turn: Json) -> Step:
    return Step(
        action=as_text(turn["Action"]),
        observation=as_text(turn.get("Observation")),
        thought=as_text(turn.get("Thought")),
        reward=number(turn.get("Progress Rate")),
    )


def _outcome(record: Json) -> Outcome:
    said = {
        "is_done": verdict_of(record.get("is_done")),
        "progress_rate": stated(record.get("progress_rate")),
    }
    return explained(together(said), record, said)


def _is_example(value: object) -> bool:
    record = as_mapping(value)
    return {"trajectory", "is_done", "progress_rate"} <= record.keys()


def _claims(preview: Preview) -> float:
    return 0.95 * share(preview, _is_example)


READER = Reader(
    name="agentboard",
    description="AgentBoard: objects with goal, trajectory, is_done and progress_rate",
    claims=_claims,
    read=each_record(_episode),
)
