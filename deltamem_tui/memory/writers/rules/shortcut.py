"""The shortest way that an episode is known to contain (CDMem's shortcut).

Where the domain cannot tell it, all steps that had an effect remain.
"""

from __future__ import annotations

from deltamem_tui.memory.domain import Shortcut, domain_for
from deltamem_tui.memory.writers.rules.abstraction import blanked
from deltamem_tui.memory.writers.rules.expert import effective_actions
from deltamem_tui.trajectory.model import Trajectory

UNVERIFIED = "unverified"
"""What a text says of a shortcut that was not replayed."""


def shortcut(trajectory: Trajectory) -> Shortcut:
    """The shortest way known; of a failure, what it did."""
    return domain_for(trajectory.domain).shortcut(trajectory) or of_actions(
        trajectory, effective_actions(trajectory)
    )


def of_actions(
    trajectory: Trajectory, actions: tuple[str, ...], *, verified: bool = False
) -> Shortcut:
    """Actions of an episode as its shortcut."""
    domain = domain_for(trajectory.domain)
    plan = domain.source_left_open(blanked(trajectory, actions))
    return Shortcut(actions, plan, verified)
