"""An episode as an expert notes it: where things are, what devices do, what was done (CDMem)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from deltamem_tui.memory.domain import Fact, domain_for
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

_THOUGHT = re.compile(r"think(?::|\[| :)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Expert:
    """What an episode shows beside its outcome.

    Attributes:
        locations: Thing → where it was last seen or put; empty where nothing has a place.
        functions: What devices and commands did.
        actions: The commands that had an effect, as the log has them.
    """

    locations: Mapping[str, str]
    functions: tuple[Fact, ...]
    actions: tuple[str, ...]


def expert(trajectory: Trajectory) -> Expert:
    """What an expert notes of an episode, whatever its outcome."""
    domain = domain_for(trajectory.domain)
    return Expert(
        dict(domain.places_of_things(trajectory)),
        tuple(domain.functions(trajectory)),
        effective_actions(trajectory),
    )


def effective_actions(trajectory: Trajectory) -> tuple[str, ...]:
    """The commands that had an effect, as the log has them; see `effective_steps`."""
    return tuple(one_line(trajectory.steps[at].action) for at in effective_steps(trajectory))


def effective_steps(trajectory: Trajectory) -> tuple[int, ...]:
    """The numbers, from 0, of the steps that had an effect: no thought, no look, nothing refused.

    What was paid for is among them.
    """
    domain = domain_for(trajectory.domain)
    return tuple(
        at
        for at, move in enumerate(domain.moves(trajectory, domain.goal(trajectory)))
        if domain.is_effective(move) and one_line(move.wording) and not is_thought(move.wording)
    )


def is_thought(action: str) -> bool:
    """Whether an action only says what the agent thinks (`think: …`, `think[…]`)."""
    return bool(_THOUGHT.match(action.strip()))
