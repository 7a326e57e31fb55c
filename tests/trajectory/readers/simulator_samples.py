"""Small logs of agents in simulated worlds, and what is in them."""

from __future__ import annotations

from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.trajectory.readers.samples import Sample, at, dumped, paid


def _history(score: str) -> dict[str, object]:
    return {
        "taskDescription": "Your task is to boil water.",
        "taskName": "boil",
        "variationIdx": 3,
        "history": [
            {"action": "look around", "observation": "A kitchen.", "score": "0.0",
             "isCompleted": "false"},
            {"action": "open door", "observation": "It is open.", "score": "0.2",
             "isCompleted": "false"},
            {"action": "wait", "observation": "", "score": score, "isCompleted": "true"},
        ],
    }  # fmt: skip


def _boiled(name: str, outcome: Outcome) -> Trajectory:
    return Trajectory(
        "Your task is to boil water.",
        "A kitchen.",
        (Step("open door", "It is open."), Step("wait")),
        outcome,
        at(f"line 1, key {name}"),
        domain="scienceworld",
        metadata={"id": name, "task_type": "boil", "variation": "3"},
    )


SCIENCEWORLD_HISTORY = Sample(
    dumped({"0": {"history": _history("1.0")}, "1": {"history": _history("-100")}}),
    [_boiled("0", paid(1.0)), _boiled("1", paid(0.0))],
)

_LOOK = "Input: Successfully parsed input into single action (look around).\n\n(look around):\n"

SCIENCEWORLD_RECORDING = Sample(
    dumped(
        [
            {"observation": f"{_LOOK}A hall.", "userInput": "go kitchen", "score": 0.0,
             "isCompeted": False, "taslDescription": "Find an animal.", "taskName": "find",
             "variationIdx": 1},
            {"observation": "You move to the kitchen.", "userInput": "take cat", "score": 0.5,
             "isCompeted": False, "taslDescription": "Find an animal."},
            {"observation": "You have the cat.", "userInput": "exit", "score": 1.0,
             "isCompeted": True, "taslDescription": "Find an animal."},
        ]
    ),
    [
        Trajectory(
            "Find an animal.",
            "A hall.",
            (Step("go kitchen", "You move to the kitchen."), Step("take cat", "You have the cat.")),
            paid(1.0),
            at("record 1"),
            domain="scienceworld",
            metadata={"task_type": "find", "variation": "1"},
        )
    ],
)  # fmt: skip

AGENTBOARD = Sample(
    dumped(
        {
            "id": 0,
            "task_name": "alfworld",
            "goal": "put a mug on the desk",
            "difficulty": "easy",
            "is_done": True,
            "progress_rate": 1.0,
            "grounding_acc": 0.5,
            "trajectory": {
                "Interaction Turn 0": {
                    "Goal": "put a mug on the desk",
                    "Observation": "You see a mug 1.",
                    "Action": "go to desk 1",
                    "Progress Rate": 0.5,
                },
                "Interaction Turn 1": {
                    "Action": "put mug 1",
                    "Observation": "",
                    "Progress Rate": 1,
                },
            },
        },
        {
            "id": 1,
            "is_done": False,
            "progress_rate": 0.25,
            "trajectory": [
                {"Goal": "open it", "id": 0},
                {"Observation": "A door.", "id": 0},
                {"Action": "open door", "id": 0},
                {"Observation": "It is stuck.", "id": 0},
                {"Progress Rate": 0.25, "id": 0},
                {"Action": "push", "id": 1},
            ],
        },
        indent=2,
    ),
    [
        Trajectory(
            "put a mug on the desk",
            "",
            (Step("go to desk 1", "You see a mug 1.", "", 0.5), Step("put mug 1", "", "", 1.0)),
            paid(1.0),
            at("record 1"),
            metadata={"id": "0", "task_name": "alfworld", "difficulty": "easy"},
        ),
        Trajectory(
            "open it",
            "A door.",
            (Step("open door", "It is stuck.", "", 0.25), Step("push")),
            paid(0.25),
            at("record 2"),
            metadata={"id": "1"},
        ),
    ],
)
