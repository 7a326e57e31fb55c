"""An episode as a dialogue: what was seen, abstracted to what was needed, and what was done."""

from __future__ import annotations

from deltamem_tui.memory.rules_extractor import skimmed
from deltamem_tui.memory.writers.rules.expert import is_thought
from deltamem_tui.memory.writers.rules.observation import observations
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

SEEN, DONE = "Observation: ", "Action: "


def dialogue_of(episode: Trajectory) -> str:
    """Two lines a step: the observation before it in at most 60 words, and the action.

    Steps at which the agent only thought are left out; so is an observation that says nothing.
    Empty if nothing was done.
    """
    read = skimmed(episode)
    lines: list[str] = []
    for seen, step in zip(observations(read), read.steps, strict=True):
        action = one_line(step.action)
        if action and not is_thought(action):
            lines += [SEEN + seen] * bool(seen) + [DONE + action]
    return "\n".join(lines)
