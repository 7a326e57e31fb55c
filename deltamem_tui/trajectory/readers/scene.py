"""What a first observation says about the scene, parted from what it says about the goal."""

from __future__ import annotations

import re

# A goal may come with its own paragraph mark; the welcome line greets every game alike.
GOAL_LINE = re.compile(r"^[ \t]*Your task is to:?[ \t]+(?P<goal>.*)$", re.MULTILINE)
_BANNER = re.compile(r"^[ \t]*-= Welcome to [^\n]*=-[ \t]*$", re.MULTILINE)


def scene_of(observation: str) -> str:
    """The observation without its goal line and the game's welcome banner."""
    return _BANNER.sub("", GOAL_LINE.sub("", observation)).strip()
