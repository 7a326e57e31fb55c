"""Episodes of real work, written down shortly."""

from __future__ import annotations

from collections.abc import Sequence

from deltamem_tui import Outcome, Step, Trajectory

Steps = Sequence[tuple[str, str]]


def episode(task: str, steps: Steps, success: bool = True, environment: str = "") -> Trajectory:
    said = tuple(Step(action, observation) for action, observation in steps)
    return Trajectory(task, environment, said, Outcome(success, source="stated"))
