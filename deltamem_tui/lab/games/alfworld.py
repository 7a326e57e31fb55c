"""ALFWorld: things move between episodes, so places and things are named by their kinds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from types import MappingProxyType

from deltamem_tui.lab.games.alfworld_facts import (
    THING,
    VISIT,
    appliances,
    kinds,
    kinds_in,
    place_facts,
    thing_facts,
)
from deltamem_tui.lab.games.alfworld_goals import STATES, HouseGoal, house_goal, treatments
from deltamem_tui.lab.games.alfworld_way import at_hand, likely_places
from deltamem_tui.lab.games.effects import Command, command_of, commands, is_refused, whereabouts
from deltamem_tui.lab.games.replay import needed
from deltamem_tui.lab.games.source_place import source_left_open
from deltamem_tui.memory.chances import Chance, TaskAtHand
from deltamem_tui.memory.domain import Diagnosis, Domain, Effect, Fact, Goal, Move, Shortcut
from deltamem_tui.memory.findings import moves_of, of_actions
from deltamem_tui.memory.procedure import Procedure
from deltamem_tui.memory.wording import condense, distinct, listed
from deltamem_tui.trajectory.model import Step, Trajectory

_ACT = re.compile(r"(?:take|put|move|heat|cool|clean|slice|use|toggle)\b")
_WHAT = re.compile(
    r"(?P<verb>take|put|move|heat|cool|clean|slice|use|toggle) (?P<thing>[a-z]+ \d+)"
)
_WHERE = re.compile(r" (?:from|in/on|in|on|to|with) (?P<place>[a-z]+ \d+)$")
_GONE = re.compile(r"^go to ([a-z]+)$", re.MULTILINE)
_INSTANCE = re.compile(r"\b([a-z]+) (\d{1,6})\b")
_SHOWN = 6
_APPLIANCES = {"clean": "sinkbasin", "heat": "microwave", "cool": "fridge"}
_PLACE = re.compile(r"\b[a-z]+ \d+\b")
_SOUGHT = ("object", "tool")


class AlfworldDomain(Domain):
    """A house of receptacles: go, open, take, put, heat, cool, clean, use."""

    about = "household tasks in text"
    presets = MappingProxyType({"deltamem": {"tau_task": 0.75, "tau_env": 0.85, "k_cons": 5}})
    fact_names = ("do", "state", "object", "receptacle", "tool", "count")

    def goal(self, trajectory: Trajectory) -> Goal:
        """The kind of goal in both of its wordings, with blanks for object and receptacle."""
        asked = house_goal(trajectory.task)
        if asked is None:
            return super().goal(trajectory)
        known = (("object", asked.object), ("receptacle", asked.receptacle), ("tool", asked.tool))
        slots = tuple((slot, name) for slot, name in known if name)
        return Goal(
            trigger=asked.trigger,
            variant=listed([name for slot, name in slots if slot != "tool"]),
            names=tuple((re.compile(rf"\b{name}(?: \d+)?\b"), f"[{slot}]") for slot, name in slots),
            slots=slots,
            understood=True,
        )

    def contradicts(self, task: str, condition: str) -> bool:
        """Whether both ask for a treatment, and not for the same."""
        asked, known = treatments(task), treatments(condition)
        return bool(asked and known and not asked & known)

    def moves(self, trajectory: Trajectory, goal: Goal) -> list[Move]:
        """The steps, those marked that a replay does not reach the goal without."""
        proved = frozenset(needed(trajectory))
        moves = super().moves(trajectory, goal)
        return [replace(move, is_needed=at in proved) for at, move in enumerate(moves)]

    def move(self, step: Step, goal: Goal) -> Move:
        """One step, its things named by their kinds."""
        visit = VISIT.fullmatch(step.action.strip())
        answer = re.sub(r"You arrive at loc \d+\. ", "", step.observation)
        return Move(
            action=condense(kinds(goal.generalise(step.action)), 12) or "no action",
            answer=condense(_counted(goal.generalise(answer)), 16) or "no answer",
            effect=self.effect(step),
            reward=step.reward or 0.0,
            wording=step.action,
            place=kinds(goal.generalise(visit["place"])) if visit else "",
        )

    def effect(self, step: Step) -> Effect:
        """Acting on a thing has an effect; going, opening and looking are search."""
        if is_refused(step):
            return "refused"
        return "done" if _ACT.match(step.action.strip()) else "looked"

    def procedure(self, moves: Sequence[Move]) -> list[str]:
        """The acts that brought the goal about, each with the way to where it is done."""
        lines: list[str] = []
        here = ""
        opened: set[str] = set()
        for at in _acts(moves):
            place = _place_of(moves, at)
            if place and place != here:
                here, kind = place, _place_in(moves[at], place)
                lines.append(f"go to {kind}")
                was_closed = any(move.wording.strip() == f"open {place}" for move in moves[:at])
                through = _WHAT.match(moves[at].wording)
                if was_closed and place not in opened and through and through["verb"] not in STATES:
                    opened.add(place)
                    lines.append(f"open {kind}")
            lines += [] if moves[at].place else [moves[at].action]
        return lines

    def unexplored(self, trajectory: Trajectory, goal: Goal) -> list[str]:
        """Kinds of places in sight never visited, and things in hand never put down."""
        visited = {found["kind"] for step in trajectory.steps if (found := _visit(step))}
        shown = kinds_in(trajectory.environment)
        never = [f"go to {goal.generalise(kind)}" for kind in shown if kind not in visited]
        acts = [goal.generalise(step.action).split(" ")[:2] for step in trajectory.steps]
        held = ["take", "[object]"] in acts
        put = ["put", "[object]"] in acts or ["move", "[object]"] in acts
        if held and not put and any(kind == "[receptacle]" for _, kind in goal.names):
            never.insert(0, "put [object] in/on [receptacle] once it is in hand")
        return never

    def scene(self, trajectory: Trajectory) -> str:
        """The room by the kinds of receptacles in it."""
        shown = kinds_in(trajectory.environment)
        if not shown:
            return super().scene(trajectory)
        return f"in the middle of a room, looking around you see a {', a '.join(shown)}"

    def facts(self, trajectory: Trajectory) -> list[Fact]:
        """Which kinds of things are in which kinds of places, and how appliances answered."""
        return [*appliances(trajectory), *place_facts(trajectory)]

    def further_facts(self, trajectory: Trajectory) -> list[Fact]:
        """How appliances answered, and where the things of the task were looked for."""
        wanted = [name for kind, name in self.goal(trajectory).slots if kind in _SOUGHT]
        sought = [fact for name in wanted for fact in thing_facts(trajectory, name)]
        return [*sought, *appliances(trajectory)]

    def likely_places(
        self, task: TaskAtHand, known: Sequence[Procedure]
    ) -> dict[str, list[Chance]]:
        """The kinds of places in the room, by how likely a look there finds the thing."""
        return likely_places(task, known)

    def at_hand(self, procedure: Procedure, task: TaskAtHand) -> list[str]:
        """Each thing is taken or used where it is likeliest to be, and doors are opened."""
        return super().at_hand(at_hand(procedure, task), task)

    def lacking(self, steps: Sequence[str], task: TaskAtHand) -> list[str]:
        """The kinds of places gone to that are not in the room, if it is described."""
        shown = kinds_in(task.scene)
        gone = distinct(_GONE.findall("\n".join(steps)))
        return [kind for kind in gone if kind not in shown] if shown else []

    def is_effective(self, move: Move) -> bool:
        """Going, opening and closing are part of what was done, too."""
        return super().is_effective(move) or (
            move.effect == "looked" and command_of(move.wording) is not None
        )

    def blanked(self, action: str) -> str:
        """Things and places are named by their kinds."""
        return kinds(action)

    def source_left_open(self, actions: Iterable[str]) -> tuple[str, ...]:
        """Where the object lay, and the way there, differ from house to house."""
        return source_left_open(actions)

    def abridged(self, actions: Sequence[str]) -> list[str]:
        """Visits to places of one kind in a row as one: `go to cabinet 1–4, open 2`."""
        return in_ranges(actions)

    def shortcut(self, trajectory: Trajectory) -> Shortcut | None:
        """The steps without which a replay in a model of the house does not reach the goal."""
        numbers = needed(trajectory)
        way = tuple(trajectory.steps[at].action.strip() for at in numbers)
        return of_actions(trajectory, way, verified=True) if way else None

    def places_of_things(self, trajectory: Trajectory) -> Iterator[tuple[str, str]]:
        """Instances: `mug 1` → `shelf 2`."""
        for thing, place in whereabouts(trajectory):
            yield thing, place or self.in_hand

    def kind_of(self, thing: str) -> str:
        """`drawer 3` is a `drawer`."""
        return kinds(thing)

    def functions(self, trajectory: Trajectory) -> Sequence[Fact]:
        """Appliance and lamp, that they worked or `did nothing`."""
        return appliances(trajectory)

    def diagnosis(self, trajectory: Trajectory) -> Diagnosis | None:
        """The goal's steps are known, so the first one that was never reached is, too."""
        return _of_house(trajectory)

    def task_facts(self, task: str) -> dict[str, str]:
        """What is done to which thing, and where."""
        return _task_facts(task)

    def exact_env(self, scene: str) -> str:
        """The receptacles with their numbers."""
        return _listed(f"{kind} {number}" for kind, number in _INSTANCE.findall(scene))

    def env_kind(self, scene: str) -> str:
        """The receptacles without their numbers."""
        return _listed(kind for kind, _ in _INSTANCE.findall(scene))


def _visit(step: Step) -> re.Match[str] | None:
    return VISIT.fullmatch(step.action.strip())


def _counted(answer: str) -> str:
    """An answer with things named by kind, each kind once."""
    head, see, things = answer.partition("you see ")
    seen = distinct(kind if number else "" for kind, number in THING.findall(things))
    if not see or not seen:
        return kinds(answer)
    return f"{kinds(head)}you see {listed(seen, 6)}"


def _acts(moves: Sequence[Move]) -> list[int]:
    """Which moves brought the goal about: those that are proved, else all with what it names.

    The way to them goes without saying, if it is not the last that is needed.
    """
    proved = [at for at, move in enumerate(moves) if move.is_needed]
    if proved:
        return [at for at in proved if moves[at].effect == "done" or at == proved[-1]]
    done = [at for at, move in enumerate(moves) if move.effect == "done"]
    return [at for at in done if "[object]" in moves[at].action] or done


def _place_of(moves: Sequence[Move], at: int) -> str:
    """The place, with its number, where a move was made: named by it, else last gone to."""
    words = moves[at].wording.strip()
    if found := _WHERE.search(words):
        return found["place"]
    visits = (VISIT.fullmatch(move.wording.strip()) for move in reversed(moves[:at]))
    return next((visit["place"] for visit in visits if visit), "")


def _place_in(act: Move, place: str) -> str:
    """A place as the act itself calls it: `[receptacle]` where the goal names it, else its kind."""
    kind = kinds(place)
    return "[receptacle]" if _WHERE.search(act.wording.strip()) and kind not in act.action else kind


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(set(names)))


def in_ranges(actions: Sequence[str]) -> list[str]:
    """ALFWorld's actions with visits to places of one kind in a row as one.

    Places that were opened on the way are named: `go to cabinet 1–4, open 2`. Actions of other
    domains come back as they are.
    """
    lines: list[str] = []
    for kind, run in groupby(actions, _visited):
        texts = list(run)
        found = [command for text in texts if (command := command_of(text))]
        visits = [_number(each.place) for each in found if each.verb == "go"]
        opened = [_number(each.place) for each in found if each.verb == "open"]
        if not kind or len(visits) < 2:
            lines += texts
            continue
        aside = f", open {_ranges(opened)}" if opened else ""
        lines.append(f"go to {kind} {_ranges(visits)}{aside}")
    return lines


def _visited(action: str) -> str:
    """The kind of place that an action goes to, opens or closes; empty if it does another thing."""
    command = command_of(action)
    return command.place.split(" ")[0] if command and not command.thing else ""


def _number(instance: str) -> int:
    return int(instance.split(" ")[1])


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers in their order, those that follow on each other as ranges: `3, 1–2`."""
    starts = [0, *(at for at, (one, two) in enumerate(pairwise(numbers), 1) if two != one + 1)]
    parts = [numbers[start:end] for start, end in pairwise([*starts, len(numbers)])]
    return ", ".join(f"{part[0]}–{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)


def _task_facts(task: str) -> dict[str, str]:
    goal = house_goal(task)
    if goal is None:
        return {}
    return {
        "do": goal.treatment or ("look at" if goal.tool else "put"),
        "state": goal.state,
        "object": goal.object,
        "receptacle": goal.receptacle,
        "tool": goal.tool,
        "count": "two" if goal.count > 1 else "",
    }


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
