from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from tests.trajectory.readers.samples import only, readings

RECORD = {
    "id": "alfworld/1",
    "env": "alfworld",
    "split": "train",
    "task_type": "pick_and_place_simple",
    "kind": "planner",
    "task_description": "put a mug on the desk.",
    "initial_observation": "-= Welcome to TextWorld, ALFRED! =-\n\nYou are in a room. You see "
    "a desk 1.\n\nYour task is to: put a mug on the desk.",
    "steps": [
        {"t": 0, "action": "go to desk 1", "observation": "You see a mug 1.", "reward": 0},
        {"t": 1, "action": "look", "observation": "", "reward": 1, "thought": "where?"},
    ],
    "success": True,
    "reward": 1.0,
    "stop_reason": "won",
}


def read(tmp_path: Path, **changes: object) -> Trajectory:
    return only(readings(tmp_path, orjson.dumps({**RECORD, **changes}), "rollouts.jsonl"))


def test_an_episode(tmp_path: Path) -> None:
    assert read(tmp_path) == Trajectory(
        task="put a mug on the desk.",
        environment="You are in a room. You see a desk 1.",
        steps=(Step("go to desk 1", "You see a mug 1.", "", 0.0), Step("look", "", "where?", 1.0)),
        outcome=Outcome(True, 1.0, "stated", "won"),
        source=LogSource("rollouts.jsonl", "line 1", "rollout"),
        domain="alfworld",
        metadata={
            "id": "alfworld/1",
            "kind": "planner",
            "split": "train",
            "task_type": "pick_and_place_simple",
        },
    )


@pytest.mark.parametrize(
    ("changes", "success", "reward"),
    [
        (
            {"env": "scienceworld", "final_score": 25, "max_score": 25, "success": False},
            False,
            0.25,
        ),
        (
            {"env": "scienceworld", "final_score": -100, "max_score": 8, "success": False},
            False,
            0.0,
        ),
        ({"env": "scienceworld", "final_score": 100, "max_score": 100}, True, 1.0),
        ({"env": "scienceworld", "final_score": "50", "success": "false"}, False, 0.5),
        ({"env": "maze", "final_score": 3, "max_score": 12, "success": False}, False, 0.25),
        # The episode's own highest score is not what there was to be had.
        ({"env": "maze", "final_score": 3, "max_score": 3, "success": False}, False, None),
        ({"success": None, "reward": 0.4}, False, 0.4),
        ({"success": None, "reward": None}, None, None),
        ({"success": 0, "reward": None}, False, 0.0),
    ],
)
def test_outcomes(
    tmp_path: Path, changes: dict[str, object], success: bool | None, reward: float | None
) -> None:
    outcome = read(tmp_path, **changes).outcome
    assert (outcome.success, outcome.reward) == (success, reward)
    assert outcome.source == ("unknown" if success is None else "stated")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"steps": [{"observation": "x"}]}, "for step 1, not text"),
        ({"steps": []}, "no steps"),
        ({"task_description": "  "}, "`task` gave"),
    ],
)
def test_what_is_refused(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    good, refused = readings(
        tmp_path,
        orjson.dumps(RECORD) + b"\n" + orjson.dumps({**RECORD, **changes}),
        "rollouts.jsonl",
    )
    assert isinstance(good, Trajectory)
    assert isinstance(refused, RecordError)
    assert refused.position == "line 2"
    assert refused.source == "rollouts.jsonl"
    assert words in str(refused)
