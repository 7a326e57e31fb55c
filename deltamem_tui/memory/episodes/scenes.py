"""Scenes: where an episode took place, as its log has it."""

from __future__ import annotations

from deltamem_tui.trajectory.model import Trajectory


def scene_of(trajectory: Trajectory) -> str:
    """Return an episode's scene; empty if it has none.

    Banks of earlier versions may have one in the metadata that a model drew out of the task.
    """
    if trajectory.environment.strip():
        return trajectory.environment
    return trajectory.metadata.get("drawn_scene", trajectory.environment)
