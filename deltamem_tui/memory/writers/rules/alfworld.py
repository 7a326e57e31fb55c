"""ALFWorld: things move between episodes, so places and things are named by their kinds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from deltamem_tui.memory.writers.rules.alfworld_facts import (
    THING,
    VISIT,
    appliances,
    kinds,
    kinds_in,
    place_facts,
    thing_facts,
)
from deltamem_tui.memory.writers.rules.alfworld_goals import STATES, house_goal, treatments
from deltamem_tui.memory.writers.rules.alfworld_way import at_hand, likely_places
from deltamem_tui.memory.writers.rules.chances import Chance, TaskAtHand
from deltamem_tui.memory.writers.rules.dialect import Dialect, Effect, Fact, Goal, Move
from deltamem_tui.memory.writers.rules.effects import is_refused
from deltamem_tui.memory.writers.rules.procedure import Procedure
from deltamem_tui.memory.writers.rules.replay import needed
from deltamem_tui.memory.writers.rules.wording import condense, distinct, listed
from deltamem_tui.trajectory.model import Step, Trajectory

_ACT = re.compile(r"(?:take|put|move|heat|cool|clean|slice|use|toggle)\b")
_WHAT = re.compile(
    r"(?P<verb>take|put|move|heat|cool|clean|slice|use|toggle) (?P<thing>[a-z]+ \d+)"
)
_WHERE = re.compile(r" (?:from|in/on|in|on|to|with) (?P<place>[a-z]+ \d+)$")
_GONE = re.compile(r"^go to ([a-z]+)$", re.MULTILINE)
_SOUGHT = ("object", "tool")


class AlfworldDialect(Dialect):
    """A house of receptacles: go, open, take, put, heat, cool, clean, use."""

    def speaks(self, task: str) -> bool:
        """Whether a task is one of the simulator's goals."""
        return house_goal(task) is not None

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
