"""The shortest way that an episode is known to contain (CDMem's shortcut).

In ALFWorld the steps are replayed in a model of the house, and each goes that the goal is reached
without. Elsewhere nothing can be verified: ScienceWorld's way is found backwards from the points
by what its steps share, WebShop's is the last search and what led from it to the purchase, and of
any other episode, and where nothing was bought, all steps that had an effect remain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

from deltamem_tui.memory.writers.rules.abstraction import blanked
from deltamem_tui.memory.writers.rules.alfworld_goals import house_goal
from deltamem_tui.memory.writers.rules.dialect import Goal
from deltamem_tui.memory.writers.rules.dialects import dialect_of
from deltamem_tui.memory.writers.rules.effects import House, commands, reaches
from deltamem_tui.memory.writers.rules.expert import effective_actions
from deltamem_tui.memory.writers.rules.webshop import purchase
from deltamem_tui.trajectory.domains import key
from deltamem_tui.trajectory.model import Trajectory

UNVERIFIED = "unverified"
"""What a text says of a shortcut that was not replayed."""

_Item = TypeVar("_Item")
_MOST_REPLAYED = 300
_MOST_IN_PAIRS = 40


@dataclass(frozen=True, slots=True)
class Shortcut:
    """What of an episode leads to its goal.

    Attributes:
        actions: The commands as the log has them, in order.
        plan: The same with blanks, for other instances of the goal.
        verified: Whether a replay of just these commands reaches the goal, and of no fewer by one
            or two of them. What the model of the house does not know may still refuse them.
    """

    actions: tuple[str, ...]
    plan: tuple[str, ...]
    verified: bool = False


def shortcut(trajectory: Trajectory) -> Shortcut:
    """The shortest way known; of a failure, what it did."""
    domain = key(trajectory.domain)
    if domain == "alfworld" and (way := _replayed(trajectory)):
        return Shortcut(way, blanked(trajectory, way), verified=True)
    if domain == "scienceworld":
        return Shortcut(_sliced(trajectory, Goal("")), _sliced(trajectory))
    bought = purchase(trajectory) if domain == "webshop" else ()
    way = bought or effective_actions(trajectory)
    return Shortcut(way, blanked(trajectory, way))


def _replayed(trajectory: Trajectory) -> tuple[str, ...]:
    """The commands that the goal is not reached without; empty if the replay does not reach it."""
    goal, house = house_goal(trajectory.task), House.seen_in(trajectory)
    known = commands(trajectory.steps)
    if goal is None or len(known) > _MOST_REPLAYED:
        return ()
    if not reaches(house, goal, (command for _, command in known)):
        return ()
    needed = shrunk(known, lambda kept: reaches(house, goal, (command for _, command in kept)))
    return tuple(trajectory.steps[at].action.strip() for at, _ in needed)


def _sliced(trajectory: Trajectory, goal: Goal | None = None) -> tuple[str, ...]:
    """The way to the points with the names that a goal leaves open, by default the episode's."""
    dialect = dialect_of(trajectory.domain)
    moves = dialect.moves(trajectory, goal or dialect.goal(trajectory))
    return tuple(dialect.procedure(moves))


def shrunk(items: Sequence[_Item], holds: Callable[[Sequence[_Item]], bool]) -> list[_Item]:
    """A part that holds, of which no item can be dropped, and of up to forty no pair either.

    The later an item, the sooner it is dropped; pairs are tried when no item can go alone.

    Args:
        items: What holds as it stands, in order.
        holds: Whether a part does. More need not hold where less does.
    """
    kept = list(items)
    while True:
        before = len(kept)
        for at in reversed(range(before)):
            fewer = kept[:at] + kept[at + 1 :]
            kept = fewer if holds(fewer) else kept
        if len(kept) == before:
            kept = _without_a_pair(kept, holds)
        if len(kept) == before:
            return kept


def _without_a_pair(kept: list[_Item], holds: Callable[[Sequence[_Item]], bool]) -> list[_Item]:
    if len(kept) > _MOST_IN_PAIRS:
        return kept
    for late, early in combinations(reversed(range(len(kept))), 2):
        fewer = [*kept[:early], *kept[early + 1 : late], *kept[late + 1 :]]
        if holds(fewer):
            return fewer
    return kept
