"""Why an episode failed, by rules: planning, search or operation (CDMem), and what to try next.

Only what the log shows is judged. In ALFWorld the goal's steps are known, so the first one that
was never reached is, too. ScienceWorld is judged by its points, its refusals and its rooms; a shop
by how far the purchase went. Of other agents only refusals are understood: there the kind is
`operation` or `planning`, and never `search`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from deltamem_tui.memory.writers.rules.alfworld_facts import kinds
from deltamem_tui.memory.writers.rules.alfworld_goals import HouseGoal, house_goal
from deltamem_tui.memory.writers.rules.attempts import moves_of, recoveries
from deltamem_tui.memory.writers.rules.dialect import Move
from deltamem_tui.memory.writers.rules.dialects import dialect_of
from deltamem_tui.memory.writers.rules.effects import (
    Command,
    command_of,
    commands,
    is_refused,
    whereabouts,
)
from deltamem_tui.memory.writers.rules.procedure import filled
from deltamem_tui.memory.writers.rules.webshop import CLICK, ITEM
from deltamem_tui.memory.writers.rules.wording import distinct, listed
from deltamem_tui.text import counted
from deltamem_tui.trajectory.domains import key
from deltamem_tui.trajectory.model import Trajectory

Kind = Literal["planning", "search", "operation"]
_LATE = 10  # of so many last steps most are refused in a failure of operation
_SHOWN = 6
_APPLIANCES = {"clean": "sinkbasin", "heat": "microwave", "cool": "fridge"}
_PLACE = re.compile(r"\b[a-z]+ \d+\b")


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why an episode failed. The task's names are left open in all texts but the reflection.

    Attributes:
        kind: `planning`: a step of the goal is missing or was misunderstood. `search`: what the
            goal needs was not found. `operation`: an action did not fit the state.
        reflection: What went wrong, in one sentence, with the names of the episode's own task: it
            tells of that one alone.
        plan: What to try next time, in one sentence.
        action: The action that was refused or cost the episode; empty if there is none.
        answer: What came back, shortened.
        missing: The first step of the goal that was never reached; empty if it is not known.
    """

    kind: Kind
    reflection: str
    plan: str
    action: str = ""
    answer: str = ""
    missing: str = ""


def failure_of(trajectory: Trajectory) -> Diagnosis:
    """Why a failed episode failed, as far as its log tells."""
    read = _READERS.get(key(trajectory.domain))
    found = (read(trajectory) if read else None) or _by_refusals(trajectory)
    names = dict(dialect_of(trajectory.domain).goal(trajectory).slots)
    return replace(found, reflection=filled(found.reflection, names))


def _by_refusals(trajectory: Trajectory) -> Diagnosis:
    """What any log shows: whether it got stuck, and what was offered and never tried."""
    _, moves = moves_of(trajectory)
    if stuck := _stuck(trajectory, moves):
        return stuck
    untried = _unexplored(trajectory)
    last = f", and ended with `{moves[-1].action}`" if moves else ""
    return Diagnosis(
        "planning",
        f"No step was refused often{last}; a step that the task needs is missing or came too late.",
        f"Try what was not tried: {listed(untried, _SHOWN)}."
        if untried
        else "List what the task asks for, and check each part before ending.",
        missing=untried[0] if untried else "",
    )


def _stuck(trajectory: Trajectory, moves: Sequence[Move]) -> Diagnosis | None:
    """A failure of operation, if most of the late steps were refused."""
    late = moves[-_LATE:]
    refused = [move for move in late if move.effect == "refused"]
    if 2 * len(refused) <= len(late):
        return None
    lessons = list(filter(dialect_of(trajectory.domain).is_lesson, refused)) or refused
    counts = Counter((move.action, move.answer) for move in lessons)
    (action, answer), times = counts.most_common(1)[0]
    found = next((each for each in recoveries(trajectory) if each.action == action), None)
    return Diagnosis(
        "operation",
        f"{len(refused)} of the last {len(late)} steps were refused; `{action}` "
        f"({counted(times, 'time')}) was answered: {answer.rstrip('.')}.",
        f"Do `{'`, then `'.join(found.instead)}`, which worked in its place."
        if found
        else f"After one refusal of `{action}`, change what it needs or use another action.",
        action,
        answer,
    )


def _unexplored(trajectory: Trajectory) -> list[str]:
    dialect = dialect_of(trajectory.domain)
    return dialect.unexplored(trajectory, dialect.goal(trajectory))


def _of_house(trajectory: Trajectory) -> Diagnosis | None:
    goal = house_goal(trajectory.task)
    if goal is None:
        return None
    missing, verbs = _missing(goal, [command for _, command in commands(trajectory.steps)])
    _, moves = moves_of(trajectory)
    for step, move in zip(trajectory.steps, moves, strict=True):
        command = command_of(step.action) if is_refused(step) else None
        if command and command.verb in verbs and _is(command.thing, goal.object, goal.tool):
            return Diagnosis(
                "operation",
                f"`{move.action}` was refused where the goal needed it: {move.answer.rstrip('.')}.",
                f"{_REMEDIES[command.verb]}, then {missing}.",
                move.action,
                move.answer,
                missing,
            )
    if verbs == ("take",):
        return _not_found(trajectory, goal, missing)
    return Diagnosis(
        "planning",
        f"The episode had [object] in hand and never came to this step: {missing}.",
        f"Once [object] is in hand: {missing}.",
        missing=missing,
    )


def _missing(goal: HouseGoal, did: Sequence[Command]) -> tuple[str, tuple[str, ...]]:
    """The first step of a goal that commands do not reach, and the verbs that reach it."""

    def things(*verbs: str, place: str = "") -> set[str]:
        return {
            each.thing
            for each in did
            if each.verb in verbs
            and _is(each.thing, goal.object)
            and (not place or _is(each.place, place))
        }

    held = things("take")
    if len(held) < goal.count:
        return f"take {'a second ' if held else ''}[object]", ("take",)
    if goal.tool:
        lit = any(each.verb == "use" and _is(each.thing, goal.tool) for each in did)
        if lit:
            return f"hold [object] where the {goal.tool} stands that is turned on", ()
        return f"go to the {goal.tool} with [object] in hand and use it", ("use",)
    if goal.treatment and not things(goal.treatment):
        device = _APPLIANCES[goal.treatment]
        return f"{goal.treatment} [object] with the {device}", (goal.treatment,)
    placed = things("put", place=goal.receptacle)
    if len(placed) >= goal.count:
        return "put [object] in/on [receptacle] again, as the last step", ("put",)
    second = "a second " if placed else ""
    return f"put {second}[object] in/on [receptacle]", ("put",)


_REMEDIES = {
    "take": "Stand at the place that holds [object], open it if it is closed, with empty hands",
    "put": "Go to [receptacle] with [object] in hand and open it if it is closed",
    "use": "Go to the place where the lamp stands",
    "heat": "Go to a microwave with [object] in hand",
    "cool": "Go to a fridge with [object] in hand",
    "clean": "Go to a sinkbasin with [object] in hand",
}


def _not_found(trajectory: Trajectory, goal: HouseGoal, missing: str) -> Diagnosis:
    """A failure of search: where it looked, and where it did not."""
    did = [command for _, command in commands(trajectory.steps)]
    visited = distinct(each.place for each in did if each.verb == "go")
    shown = distinct(_PLACE.findall(trajectory.environment))
    left = [place for place in shown if place not in visited]
    looked = listed(distinct(map(kinds, visited)), _SHOWN)
    others = distinct(map(kinds, left))
    new = [kind for kind in others if kind not in set(map(kinds, visited))]
    taken = {each.thing for each in did if each.verb == "take"}
    seen = [
        place
        for thing, place in whereabouts(trajectory)
        if place and thing not in taken and _is(thing, goal.object)
    ]
    if seen:
        plan = f"Take [object] from the {kinds(seen[0])} where it was seen."
    elif new:
        plan = f"Look next in: {listed(new, _SHOWN)}."
    elif others:
        plan = f"Look in every place of these kinds: {listed(others, _SHOWN)}."
    else:
        plan = "Open what is closed, and look again where nothing was opened."
    second = "a second " if "second" in missing else ""
    reflection = f"It never had {second}[object] in hand; it looked in: {looked or 'no place'}."
    return Diagnosis("search", reflection, plan, missing=missing)


def _is(instance: str, *wanted: str) -> bool:
    return kinds(instance) in wanted


def _of_science(trajectory: Trajectory) -> Diagnosis | None:
    _, moves = moves_of(trajectory)
    wrong = next((move for move in moves if move.reward <= -100), None)
    if wrong:
        return Diagnosis(
            "planning",
            f"`{wrong.action}` ended the episode: it is not what the task asks for.",
            "Focus only on what the task names, and only once it is in the state that it asks for.",
            wrong.action,
            wrong.answer,
        )
    if stuck := _stuck(trajectory, moves):
        return stuck
    untried = _unexplored(trajectory)
    rooms = [each.removeprefix("go to ") for each in untried if each.startswith("go to ")]
    if rooms:
        entered = distinct(move.place for move in moves)
        return Diagnosis(
            "search",
            f"It never entered: {listed(rooms, _SHOWN)}; it was in: "
            f"{listed(entered, _SHOWN) or 'its first room'}.",
            f"Go to: {listed(rooms, _SHOWN)}.",
            missing=f"go to {rooms[0]}",
        )
    missing = next((each for each in untried if not each.startswith("go to ")), "")
    paid = [move.action for move in moves if move.reward > 0]
    points = sum(move.reward for move in moves if move.reward > 0)
    won = f"It won {points:g} points, the last for `{paid[-1]}`" if paid else "It won no points"
    return Diagnosis(
        "planning",
        f"{won}; a later step of the task is missing.",
        f"Next: {missing}."
        if missing
        else f"Go on from there with what the task asks{_after(paid)}.",
        missing=missing,
    )


def _after(paid: Sequence[str]) -> str:
    return f" after `{paid[-1]}`" if paid else " first"


def _of_shop(trajectory: Trajectory) -> Diagnosis | None:
    _, moves = moves_of(trajectory)
    clicked = [
        found[1].strip()
        for step in trajectory.steps
        if (found := CLICK.fullmatch(step.action.strip()))
    ]
    untried = _unexplored(trajectory)
    if not any(ITEM.fullmatch(name) for name in clicked):
        plan = "Search with fewer words, and open an item that fits the price."
        return Diagnosis("search", "No item was opened.", plan, missing="click[{item}]")
    if stuck := _stuck(trajectory, moves):
        return stuck
    if "buy now" not in map(str.casefold, clicked):
        plan = "Choose the options that the task names and click[Buy Now] before the steps run out."
        return Diagnosis("planning", "Nothing was bought.", plan, missing="click[Buy Now]")
    options = [each for each in untried if each.startswith("click a ")]
    if options:
        return Diagnosis(
            "planning",
            f"It bought without choosing: {listed(options, 2).replace('click a ', '')}.",
            f"Before click[Buy Now], {options[0]}.",
            missing=options[0],
        )
    plan = "Compare the items of the results with each attribute and the price before buying."
    return Diagnosis("search", "What was bought is not what the task asks for.", plan)


_READERS: Mapping[str, Callable[[Trajectory], Diagnosis | None]] = {
    "alfworld": _of_house,
    "scienceworld": _of_science,
    "webshop": _of_shop,
}
