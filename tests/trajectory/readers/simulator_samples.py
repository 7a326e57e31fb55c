"""Small logs of agents in simulated worlds, and what is in them."""

from __future__ import annotations

from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.trajectory.readers.samples import Sample, at, paid, sample_log


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
    sample_log("scienceworld_history.json"),
    [_boiled("0", paid(1.0)), _boiled("1", paid(0.0))],
)


SCIENCEWORLD_RECORDING = Sample(
    sample_log("scienceworld_recording.json"),
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
    sample_log("agentboard.txt"),
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
