"""The shortest way that an episode is known to contain (CDMem's shortcut).

In ALFWorld the steps are replayed in a model of the house, and each goes that the goal is reached
without. Elsewhere nothing can be verified: ScienceWorld's way is found backwards from the points
by what its steps share, WebShop's is the last search and what led from it to the purchase, and of
any other episode, and where nothing was bought, all steps that had an effect remain.
"""

from __future__ import annotations

from dataclasses import dataclass

from deltamem_tui.memory.writers.rules.abstraction import blanked
from deltamem_tui.memory.writers.rules.dialect import Goal
from deltamem_tui.memory.writers.rules.dialects import dialect_of
from deltamem_tui.memory.writers.rules.expert import effective_actions
from deltamem_tui.memory.writers.rules.replay import needed
from deltamem_tui.memory.writers.rules.source_place import source_left_open
from deltamem_tui.memory.writers.rules.webshop import purchase
from deltamem_tui.trajectory.domains import key
from deltamem_tui.trajectory.model import Trajectory

UNVERIFIED = "unverified"
"""What a text says of a shortcut that was not replayed."""


@dataclass(frozen=True, slots=True)
class Shortcut:
    """What of an episode leads to its goal.

    Attributes:
        actions: The commands as the log has them, in order.
        plan: The same with blanks, for other instances of the goal; where its object lay is open.
        verified: Whether a replay of just these commands reaches the goal, and of no fewer by one
            or two of them. What the model of the house does not know may still refuse them.
    """

    actions: tuple[str, ...]
    plan: tuple[str, ...]
    verified: bool = False


def shortcut(trajectory: Trajectory) -> Shortcut:
    """The shortest way known; of a failure, what it did."""
    domain = key(trajectory.domain)
    if domain == "alfworld" and (numbers := needed(trajectory)):
        way = tuple(trajectory.steps[at].action.strip() for at in numbers)
        return Shortcut(way, _plan(trajectory, way), verified=True)
    if domain == "scienceworld":
        return Shortcut(_sliced(trajectory, Goal("")), _sliced(trajectory))
    bought = purchase(trajectory) if domain == "webshop" else ()
    way = bought or effective_actions(trajectory)
    return Shortcut(way, _plan(trajectory, way))


def _plan(trajectory: Trajectory, way: tuple[str, ...]) -> tuple[str, ...]:
    return source_left_open(blanked(trajectory, way))


def _sliced(trajectory: Trajectory, goal: Goal | None = None) -> tuple[str, ...]:
    """The way to the points with the names that a goal leaves open, by default the episode's."""
    dialect = dialect_of(trajectory.domain)
    moves = dialect.moves(trajectory, goal or dialect.goal(trajectory))
    return tuple(dialect.procedure(moves))
