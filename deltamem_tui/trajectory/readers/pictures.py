"""Pictures that are written into texts: left out, with a note that they were there."""

from __future__ import annotations

import re
from dataclasses import replace

from deltamem_tui.trajectory.model import Trajectory

_DATA_IMAGE = re.compile(r"data:image/[\w.+-]+;base64,[A-Za-z0-9+/=]+")


def without_images(text: str) -> str:
    """The text with a note in place of each picture that was written into it."""
    return _DATA_IMAGE.sub("[image]", text) if _may_hold_images(text) else text


def without_pictures(trajectory: Trajectory) -> Trajectory:
    """The episode with a note in place of each picture that was written into a text."""
    steps = trajectory.steps
    texts = (text for step in steps for text in (step.observation, step.action, step.thought))
    if not any(map(_may_hold_images, (trajectory.task, trajectory.environment, *texts))):
        return trajectory
    return replace(
        trajectory,
        task=without_images(trajectory.task),
        environment=without_images(trajectory.environment),
        steps=tuple(step.with_texts(without_images) for step in steps),
    )


def _may_hold_images(text: str) -> bool:
    return ";base64," in text
