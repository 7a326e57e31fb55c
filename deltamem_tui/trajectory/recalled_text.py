"""What an agent was told out of a memory, left out of its log: nothing is learnt from itself."""

from __future__ import annotations

import re

from deltamem_tui.trajectory.model import Trajectory

FENCE = "past_experience"
"""The element that a context stands in."""

_OPENING = f"<{FENCE}>"
_RECALLED = re.compile(rf"\s*<{FENCE}>.*?</{FENCE}>[ \t]*\n*", re.DOTALL)


def without_recalled(trajectory: Trajectory) -> Trajectory:
    """The episode without the contexts that its agent was given, wherever its log has them.

    A fence that does not end is somebody's own words.
    """
    if _OPENING.encode() not in trajectory.searchable:
        return trajectory
    return trajectory.with_texts(lambda _, text: _left(text))


def _left(text: str) -> str:
    return _RECALLED.sub("\n", text).strip("\n") if _OPENING in text else text
