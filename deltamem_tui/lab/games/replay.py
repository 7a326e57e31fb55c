"""Which steps of an ALFWorld episode its goal needs: those that no replay reaches it without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TypeVar

from deltamem_tui.lab.games.alfworld_goals import house_goal
from deltamem_tui.lab.games.effects import Command, House, commands, reaches
from deltamem_tui.trajectory.model import Trajectory

_Item = TypeVar("_Item")
_MOST_REPLAYED = 300
_MOST_IN_PAIRS = 40


def needed(trajectory: Trajectory) -> tuple[int, ...]:
    """The numbers of the steps that the goal is not reached without, from 0.

    Empty if a replay of all steps does not reach it: then nothing is proved.
    """
    goal, house = house_goal(trajectory.task), House.seen_in(trajectory)
    known = commands(trajectory.steps)
    if goal is None or len(known) > _MOST_REPLAYED:
        return ()

    def holds(part: Sequence[tuple[int, Command]]) -> bool:
        return reaches(house, goal, (command for _, command in part))

    # A lamp is best lit with the thing in hand: then nothing has to be come back to.
    early = [each for each in known if each[1].verb == "use"][:-1]
    late = [each for each in known if each not in early]
    whole = next((part for part in (late, known) if holds(part)), [])
    return tuple(at for at, _ in shrunk(whole, holds))


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
