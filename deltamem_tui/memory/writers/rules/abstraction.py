"""Actions with blanks for what differs between episodes, so that two episodes can be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby

from deltamem_tui.memory.writers.rules.alfworld_facts import kinds
from deltamem_tui.memory.writers.rules.dialect import INSTANCES
from deltamem_tui.memory.writers.rules.dialects import dialect_of
from deltamem_tui.memory.writers.rules.expert import effective_actions
from deltamem_tui.memory.writers.rules.webshop import BUTTONS, CLICK, ITEM, SEARCH
from deltamem_tui.memory.writers.rules.wording import condense
from deltamem_tui.trajectory.domains import key
from deltamem_tui.trajectory.model import Trajectory

_WORDS = 25


def blanked(trajectory: Trajectory, actions: Iterable[str]) -> tuple[str, ...]:
    """Actions of an episode with blanks, one for one.

    Names of the task stand open (`[object]`, `[substance]`), ALFWorld's other things are named by
    their kinds; in WebShop what is searched for, items and options are `{query}`, `{item}` and
    `{option}`; elsewhere addresses, numbers and the like stand as they do in goals.
    """
    goal = dialect_of(trajectory.domain).goal(trajectory)
    blank = _BLANKS.get(key(trajectory.domain), _without_instances)
    return tuple(condense(blank(goal.generalise(action)), _WORDS) for action in actions)


def normalised(trajectory: Trajectory) -> tuple[str, ...]:
    """All actions that had an effect, with blanks; of equal neighbours one."""
    actions = blanked(trajectory, effective_actions(trajectory))
    return tuple(action for action, _ in groupby(actions))


def _without_instances(action: str) -> str:
    for instance, kind in INSTANCES:
        action = instance.sub(kind, action)
    return action


def _in_the_shop(action: str) -> str:
    if SEARCH.fullmatch(action.strip()):
        return "search[{query}]"
    clicked = CLICK.fullmatch(action.strip())
    if clicked and ITEM.fullmatch(clicked[1].strip()):
        return "click[{item}]"
    if clicked and clicked[1].strip().casefold() not in BUTTONS:
        return "click[{option}]"
    return action


def _as_it_stands(action: str) -> str:
    """Rooms and devices are the same in all episodes; a number answers a question."""
    return action


_BLANKS: Mapping[str, Callable[[str], str]] = {
    "alfworld": kinds,
    "scienceworld": _as_it_stands,
    "webshop": _in_the_shop,
}
