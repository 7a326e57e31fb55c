"""Recalled texts, left out of an agent's log: nothing is learnt from itself."""

from __future__ import annotations

import re

from deltamem_tui.trajectory.model import Trajectory

FENCE = "past_experience"
"""The element that a context stands in."""

# Gemini CLI escapes what a hook says, and puts it into an element of its own.
_LESS, _MORE = "(?:<|&lt;)", "(?:>|&gt;)"
_RECALLED = re.compile(rf"\s*{_LESS}{FENCE}{_MORE}.*?{_LESS}/{FENCE}{_MORE}[ \t]*\n*", re.DOTALL)
_EMPTIED = re.compile(r"\s*<hook_context>\s*</hook_context>[ \t]*")


def without_recalled(trajectory: Trajectory) -> Trajectory:
    """Return the episode without the contexts that its agent was given."""
    if FENCE.encode() not in trajectory.searchable:
        return trajectory
    return trajectory.with_texts(lambda _, text: _left(text))


def _left(text: str) -> str:
    left, contexts = _RECALLED.subn("\n", text) if FENCE in text else (text, 0)
    return _EMPTIED.sub("", left).strip("\n") if contexts else text
