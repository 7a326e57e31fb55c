"""Scenes: where an episode took place, as the log has it or as a model drew it out of the task.

The env tree is searched by the scene alone (DeltaMem, section 1). Many logs have none: their
task describes surroundings and goal in one text, and a model can draw the scene out of it. An
episode's id is a digest of its task, environment and steps, so a drawn scene is kept in the
metadata, with the model that drew it. A scene that the log has is never replaced.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from deltamem_tui.memory.writers.extraction import Extraction
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

SCENE = "drawn_scene"
MODEL = "drawn_scene_model"
PROMPT = "drawn_scene_prompt"


def scene_of(trajectory: Trajectory) -> str:
    """Return an episode's scene; empty if it has none."""
    if trajectory.environment.strip():
        return trajectory.environment
    return trajectory.metadata.get(SCENE, trajectory.environment)


def lacks_scene(trajectory: Trajectory) -> bool:
    """Return whether the log has no scene, and no model has looked for one in the task yet."""
    return not trajectory.environment.strip() and SCENE not in trajectory.metadata


def with_scene(trajectory: Trajectory, extraction: Extraction) -> Trajectory:
    """Return the same episode, with the same id, and the scene that was drawn for it.

    An empty scene is kept, too: a model has looked and found none.
    """
    facts = {
        SCENE: drawn_text(extraction),
        MODEL: one_line(extraction.model, 200),
        PROMPT: extraction.prompt,
    }
    return replace(trajectory, metadata={**trajectory.metadata, **facts})


def drawn_text(extraction: Extraction) -> str:
    """Return the scene that a model drew out of a task; empty if nothing in it describes one."""
    return (extraction.payload or {}).get("environment", "")


def with_scene_of(trajectory: Trajectory, other: Trajectory) -> Trajectory:
    """Return the episode with the scene that was drawn for another record of it, if one was."""
    facts = (SCENE, MODEL, PROMPT)
    found = {name: other.metadata[name] for name in facts if name in other.metadata}
    if SCENE not in found or not lacks_scene(trajectory):
        return trajectory
    return replace(trajectory, metadata={**trajectory.metadata, **found})


def goal_of(trajectory: Trajectory) -> str:
    """Return the task without the passages that were drawn out of it as the scene."""
    goal = trajectory.task
    for passage in trajectory.metadata.get(SCENE, "").splitlines():
        pattern = r"\s+".join(map(re.escape, passage.split()))
        goal = re.sub(pattern, " ", goal, count=1) if pattern else goal
    return goal.strip() or trajectory.task
