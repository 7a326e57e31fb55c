"""ALFWorld: things move between episodes, so places and things are named by their kinds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from deltamem_tui.lab.games.alfworld_goals import (
    REFUSED,
    STATES,
    THING,
    command_of,
    commands,
    house_goal,
    kinds,
    kinds_in,
    needed_steps,
)
from deltamem_tui.lab.games.alfworld_places import (
    GO,
    OPEN,
    OPENED,
    TAKE,
    acts,
    ended,
    likely_places,
    located,
    place_facts,
    place_in,
    place_of,
    shown,
)
from deltamem_tui.memory.domain import Domain, Effect, Goal, Move
from deltamem_tui.memory.places import Chance, Fact, TaskAtHand
from deltamem_tui.memory.procedure import Procedure
from deltamem_tui.text import condense, listed
from deltamem_tui.trajectory.model import Step, Trajectory

_ACT = re.compile(r"(?:take|put|move|heat|cool|clean|slice|use|toggle)\b")
_CLOSED = re.compile(r"The (?P<place>[a-z]+) \d+ is closed")


class AlfworldDomain(Domain):
    """A house of receptacles: go, open, take, put, heat, cool, clean, use."""

    about = "household tasks in text"
    presets = MappingProxyType({"deltamem": {"tau_task": 0.75, "tau_env": 0.85, "k_cons": 5}})
    fact_names = ("do", "state", "object", "receptacle", "tool", "count")

    def goal(self, trajectory: Trajectory) -> Goal:
        """Return the kind of goal in both its wordings, object and receptacle left open."""
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

    def moves(self, trajectory: Trajectory, goal: Goal) -> list[Move]:
        """Return the steps, those marked that brought the goal about."""
        needed = frozenset(needed_steps(trajectory))
        moves = super().moves(trajectory, goal)
        return [replace(move, is_needed=at in needed) for at, move in enumerate(moves)]

    def move(self, step: Step, goal: Goal) -> Move:
        """Return one step, its things named by their kinds."""
        answer = re.sub(r"You arrive at loc \d+\. ", "", step.observation)
        gone = command_of(step.action)
        place = gone.place if gone and gone.verb == "go" else ""
        return Move(
            action=condense(kinds(goal.generalise(step.action)), 12) or "no action",
            answer=condense(_counted(goal.generalise(answer)), 16) or "no answer",
            effect=self.effect(step),
            reward=step.reward or 0.0,
            wording=step.action,
            place=kinds(goal.generalise(place)),
        )

    def effect(self, step: Step) -> Effect:
        """Acting on a thing has an effect; going, opening and looking are search."""
        if REFUSED in step.observation:
            return "refused"
        return "done" if _ACT.match(step.action.strip()) else "looked"

    def procedure(self, moves: Sequence[Move]) -> list[str]:
        """Return the acts that brought the goal about, each with the way to where it is done."""
        lines: list[str] = []
        here = ""
        opened: set[str] = set()
        for at in acts(moves):
            place = place_of(moves, at)
            if place and place != here:
                here, kind = place, place_in(moves[at], place)
                lines.append(f"go to {kind}")
                was_closed = any(move.wording.strip() == f"open {place}" for move in moves[:at])
                act = command_of(moves[at].wording)
                if was_closed and place not in opened and act and act.verb in ("take", "put"):
                    opened.add(place)
                    lines.append(f"open {kind}")
            lines += [] if moves[at].place else [moves[at].action]
        return lines

    def unexplored(self, trajectory: Trajectory, goal: Goal) -> list[str]:
        """Return kinds of places in sight never visited, and things in hand never put down."""
        did = [command for _, command in commands(trajectory.steps)]
        visited = {kinds(each.place) for each in did if each.verb == "go"}
        shown = kinds_in(trajectory.environment)
        never = [f"go to {goal.generalise(kind)}" for kind in shown if kind not in visited]
        of_object = {each.verb for each in did if goal.generalise(each.thing) == "[object]"}
        wanted = any(slot == "receptacle" for slot, _ in goal.slots)
        if "take" in of_object and "put" not in of_object and wanted:
            never.insert(0, "put [object] in/on [receptacle] once it is in hand")
        return never

    def scene(self, trajectory: Trajectory) -> str:
        """Return the room by the kinds of receptacles in it."""
        shown = kinds_in(trajectory.environment)
        if not shown:
            return super().scene(trajectory)
        return f"in the middle of a room, looking around you see a {', a '.join(shown)}"

    def facts(self, trajectory: Trajectory) -> list[Fact]:
        """Return how appliances answered, and which things lie in which kinds of places."""
        return [*self.functions(trajectory), *place_facts(trajectory)]

    def likely_places(
        self, task: TaskAtHand, known: Sequence[Procedure]
    ) -> dict[str, list[Chance]]:
        """Return the kinds of places in the room, by how likely a look there finds the thing."""
        return likely_places(task, known)

    def at_hand(self, procedure: Procedure, task: TaskAtHand) -> list[str]:
        """Return the steps with each thing where it is likeliest to be, and doors opened."""
        closes = {fact.place: False for fact in task.facts}
        closes |= {fact.place: True for fact in task.facts if fact.closes}
        places = likely_places(task, [procedure])
        return super().at_hand(located(procedure, places, task.names, closes), task)

    def source_left_open(self, actions: Iterable[str], names: Mapping[str, str]) -> tuple[str, ...]:
        """Return actions without where the object lay, and the way there: houses differ.

        It is not where the object is to be put, though both may be of one kind.
        """
        steps: list[str] = []
        for action in actions:
            if not action.startswith(TAKE):
                steps.append(action)
                continue
            before = len(steps)
            while steps and steps[-1].startswith((GO, OPEN)):
                steps.pop()
            steps += [f"{GO}[place]"] * (len(steps) < before) + [f"{TAKE}[place]"]
        return tuple(ended(steps, names))

    def places_of_things(self, trajectory: Trajectory) -> Iterator[tuple[str, str]]:
        """Yield instances as they are shown or moved: `mug 1` → `shelf 2`."""
        here = ""
        for step in trajectory.steps:
            if REFUSED in step.observation:
                continue
            command = command_of(step.action)
            here = command.place if command and command.verb == "go" else here
            if command and command.verb == "take":
                yield command.thing, command.place
                yield command.thing, ""
            elif command and command.verb == "put":
                yield command.thing, command.place
            for place, things in shown(step, here):
                yield from ((thing, place) for thing in things)

    def functions(self, trajectory: Trajectory) -> list[Fact]:
        """Return what was heated, cooled, cleaned or used, and with what answer."""
        closed: set[str] = set()
        facts: dict[str, dict[str, None]] = {}
        for step in trajectory.steps:
            closed.update(_CLOSED.findall(step.observation))
            closed.difference_update(OPENED.findall(step.observation))
            command = command_of(step.action)
            if command is None or command.verb not in (*STATES, "use"):
                continue
            device = kinds(command.place or command.thing)
            if REFUSED in step.observation:
                answer = f"{command.verb} did nothing"
            else:
                answer = f"{command.verb} works"
                answer += " with its door closed" * (device in closed)
            facts.setdefault(device, {})[answer] = None
        return [Fact(device, tuple(answers)) for device, answers in facts.items()]

    def task_facts(self, task: str) -> dict[str, str]:
        """Return what is done to which thing, and where."""
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

    def exact_env(self, scene: str) -> str:
        """Return the receptacles with their numbers."""
        return ", ".join(sorted({found[0] for found in THING.finditer(scene)}))

    def env_kind(self, scene: str) -> str:
        """Return the receptacles without their numbers."""
        return ", ".join(sorted({found[1] for found in THING.finditer(scene)}))


def _counted(answer: str) -> str:
    """Return an answer with things named by kind, each kind once."""
    head, see, things = answer.partition("you see ")
    seen = kinds_in(things)
    return f"{kinds(head)}you see {listed(seen, 6)}" if see and seen else kinds(answer)
