"""Steps as texts: what an episode did, with blanks, and whether a workflow occurs in it.

A step is a numbered line, `1. go to [place]`; the lines below it that have no number are remarks.
What stands in square brackets is a blank, which any words fill.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from deltamem_tui.bank.node import Node
from deltamem_tui.memory.procedure import numbered
from deltamem_tui.memory.rules_extractor import skimmed
from deltamem_tui.memory.writers.rules.abstraction import blanked
from deltamem_tui.memory.writers.rules.expert import effective_actions
from deltamem_tui.memory.writers.rules.shortcut import UNVERIFIED, shortcut
from deltamem_tui.trajectory.model import Trajectory

_STEP = re.compile(r"\s*\d{1,4}[.)]\s+(\S.*)")
_BLANK = re.compile(r"(?<!\w)\[[^\[\]]+\]")  # brackets after a word are the shop's: click[{item}]


def actions_in(text: str) -> list[str]:
    """The actions of numbered steps, with single spaces."""
    found = (_STEP.fullmatch(line) for line in text.splitlines())
    return [" ".join(step[1].split()) for step in found if step]


def same_steps(text: str) -> str:
    """What two workflows with the same steps have in common, whatever is remarked on them."""
    return "\n".join(actions_in(text)).casefold()


def way_of(episode: Trajectory) -> str:
    """The shortest way to the goal that an episode shows, as numbered steps with blanks.

    A last line says so if its steps were not replayed. Empty if nothing was done.
    """
    way = shortcut(skimmed(episode))
    lines = numbered(way.plan)
    return "\n".join([*lines, *[UNVERIFIED] * (bool(lines) and not way.verified)])


def solved_text(solved: Node) -> str:
    """A solved task as a writer reads it."""
    return f"Task: {solved.payload['task']}\n{solved.payload['actions']}"


def was_done(steps: str, episode: Trajectory) -> bool:
    """Whether the steps of a workflow occur in an episode in their order, whatever lies between."""
    read = skimmed(episode)
    done = blanked(read, effective_actions(read)), actions_in(way_of(episode))
    return any(occur(actions_in(steps), each) for each in done)


def occur(steps: Sequence[str], actions: Iterable[str]) -> bool:
    """Whether actions fill all steps in their order; of no steps it is not said."""
    rest = iter(actions)
    return bool(steps) and all(any(_fills(step, action) for action in rest) for step in steps)


def _fills(step: str, action: str) -> bool:
    """Whether an action is a step, with any words at its blanks."""
    first, *rest = _BLANK.split(_folded(step))
    action = _folded(action)
    if not rest:
        return action == first
    *middle, end = rest
    if not (action.startswith(first) and action.endswith(end)):
        return False
    at = len(first)
    for piece in middle:
        at = action.find(piece, at + 1)
        if at < 0:
            return False
        at += len(piece)
    return at < len(action) - len(end)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
