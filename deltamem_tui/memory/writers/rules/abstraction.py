"""Actions with blanks for what differs between episodes, so that two episodes can be compared."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from deltamem_tui.memory.domain import domain_for
from deltamem_tui.memory.wording import condense
from deltamem_tui.memory.writers.rules.expert import effective_actions
from deltamem_tui.trajectory.model import Trajectory

_WORDS = 25


def blanked(trajectory: Trajectory, actions: Iterable[str]) -> tuple[str, ...]:
    """Actions of an episode with blanks, one for one.

    Names of the task stand open (`[object]`, `[substance]`); what else differs between episodes
    has the blanks of the domain.
    """
    domain = domain_for(trajectory.domain)
    goal = domain.goal(trajectory)
    return tuple(condense(domain.blanked(goal.generalise(each)), _WORDS) for each in actions)


def normalised(trajectory: Trajectory) -> tuple[str, ...]:
    """All actions that had an effect, with blanks; of equal neighbours one."""
    actions = blanked(trajectory, effective_actions(trajectory))
    return tuple(action for action, _ in groupby(actions))
