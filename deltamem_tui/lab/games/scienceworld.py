"""ScienceWorld: the rooms are fixed, so facts are exact; tasks differ in their substances."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from types import MappingProxyType

from deltamem_tui.lab.games.scienceworld_goals import (
    ROOMS,
    task_facts,
    task_goal,
)
from deltamem_tui.lab.games.scienceworld_rooms import (
    TRANSFER,
    command_facts,
    doors_of,
    in_rooms,
    is_lesson,
    is_sensible,
    room_facts,
    room_of,
    scene_of,
)
from deltamem_tui.memory.domain import Domain, Effect, Goal, Move
from deltamem_tui.memory.places import Chance, Fact, TaskAtHand, chances
from deltamem_tui.memory.procedure import Procedure
from deltamem_tui.text import clean, distinct
from deltamem_tui.trajectory.model import Step, Trajectory

_REFUSED = re.compile(
    r"No known action|Unknown action|not open|not clear how|can't move something into itself"
    r"|not sure how|appears broken|does not appear to produce|so there are no items"
)
_NEEDLESS = re.compile(r"is already|already connected")
_LOOKING = re.compile(r"(?:look|inventory|task|objects|help|examine|read|wait)")
_ENTERED = re.compile(r"You move to the ([\w ]+)\.")
_CHOSEN = re.compile(r"focus on [^\[]+$")
_ANYWHERE = re.compile(r"\b(?:around|in|near) the (?:house|building)\b")

_Act = tuple[list[tuple[str, str]], Move]


class ScienceWorldDomain(Domain):
    """Ten rooms, exact commands, points for sub-goals."""

    answer_words = 14
    about = "school science in text"
    presets = MappingProxyType({"deltamem": {"tau_task": 0.82, "tau_env": 0.82, "k_cons": 3}})
    fact_names = ("verb", "target", "instrument", "place")

    def goal(self, trajectory: Trajectory) -> Goal:
        """Return the task's own sentences with substances, colours, rooms and degrees left open."""
        return task_goal(trajectory)

    def move(self, step: Step, goal: Goal) -> Move:
        """Return one step, with the room it led to."""
        entered = _ENTERED.match(step.observation)
        return replace(super().move(step, goal), place=entered[1] if entered else "")

    def moves(self, trajectory: Trajectory, goal: Goal) -> list[Move]:
        """Return the steps, each with the room it was made in."""
        room = room_of(trajectory.environment)
        moves = []
        for step, move in zip(trajectory.steps, super().moves(trajectory, goal), strict=True):
            moves.append(replace(move, room=room))
            room = move.place or room_of(step.observation) or room
        return moves

    def effect(self, step: Step) -> Effect:
        """Tell what changed something: looking, reading and waiting do not."""
        if _REFUSED.search(step.observation[:300]) or step.observation.startswith("Ambiguous"):
            return "refused"
        needless = _NEEDLESS.search(step.observation[:300])
        return "looked" if needless or _LOOKING.match(step.action.strip()) else "done"

    def is_lesson(self, move: Move) -> bool:
        """Return what the simulator has no command for, or lets one do with anything, teaches
        nothing.
        """
        return is_lesson(move)

    def procedure(self, moves: Sequence[Move]) -> list[str]:
        """Return what led to the points: the last use of each thing backwards, and the way
        between.

        It begins with the room where something is done first, wherever the episode began.
        """
        doors = {move.action for move in moves if move.action.startswith("open door")}
        acts = list(_acts(shortest(moves)))
        chosen = next((at for at, (_, act) in enumerate(acts) if _CHOSEN.match(act.action)), -1)
        lines: list[str] = []
        for at, (route, act) in enumerate(acts):
            start = route[-1:] or [(act.room, act.room)] * bool(act.room)
            rooms = route if lines else start
            for room, name in rooms:
                opened = bool(lines) and f"open door to {name}" in doors
                # The task means the room where something is done, and not where a thing was
                # found that it leaves to be chosen.
                meant = name if room == rooms[-1][0] and at > chosen else room
                lines += [f"open door to {meant}"] * opened + [f"go to {meant}"]
            lines += act.action.split("\n")
        return lines

    def likely_places(
        self,
        task: TaskAtHand,
        known: Sequence[Procedure],  # noqa: ARG002
    ) -> dict[str, list[Chance]]:
        """Return where things were seen; not that of which the task says itself where it is."""
        told = ("substance",) if "room" in task.names else ()
        likely = {slot: chances(task.facts, thing) for slot, thing in task.names.items()}
        return {slot: some for slot, some in likely.items() if some and slot not in told}

    def unexplored(self, trajectory: Trajectory, goal: Goal) -> list[str]:
        """Return what the task asks to focus on, and the rooms it names that were not entered."""
        did = [goal.generalise(step.action) for step in trajectory.steps]
        never = []
        if "focus on" in trajectory.task and not any("focus on" in action for action in did):
            never.append("focus on what the task names")
        entered = {room for step in trajectory.steps for room in _ENTERED.findall(step.observation)}
        entered.add(room_of(trajectory.environment))
        shown = [trajectory.environment, *(step.observation for step in trajectory.steps)]
        doors = distinct(room for text in shown for room in doors_of(text))
        anywhere = _ANYWHERE.search(trajectory.task)
        wanted = [room for room in doors if anywhere or room in trajectory.task]
        return never + [f"go to {room}" for room in wanted if room not in entered]

    def scene(self, trajectory: Trajectory) -> str:
        """Return the room, its things and its doors, without what changes between episodes."""
        if room_of(trajectory.environment):
            return scene_of(trajectory.environment)
        return super().scene(trajectory)

    def facts(self, trajectory: Trajectory) -> list[Fact]:
        """Return each room's things and doors, then the commands that worked."""
        return [*room_facts(trajectory), *self.functions(trajectory)]

    def places_of_things(self, trajectory: Trajectory) -> Iterator[tuple[str, str]]:
        """Things by room, those in another one with it, as each description lists them in turn."""
        return in_rooms(trajectory)

    def functions(self, trajectory: Trajectory) -> Sequence[Fact]:
        """Return commands that worked, by room."""
        return command_facts(self.moves(trajectory, self.goal(trajectory)))

    def task_facts(self, task: str) -> dict[str, str]:
        """Return what is done to what, with what and where."""
        return task_facts(task, dict(self.goal(Trajectory(clean(task), "", ())).slots))

    def exact_env(self, scene: str) -> str:
        """Return the room."""
        return room_of(scene)


# The way to the points


_MEASURING = re.compile(r"(?:look at|examine|read|wait)")
_LOOK = re.compile(r"(?:look at|examine|use thermometer\b.* on) .+|wait1?")
_WAIT = re.compile(r"wait1?")
_LONG_WAIT = 10  # iterations that a single `wait` takes; any other action takes one
_OPENING = re.compile(r"open (?!door)")
_WORD = re.compile(r"\[[^\]]+\]|[a-z]{3,}")
_SWITCHES = ("activate", "deactivate")
_SMALL = "and the with into from for inventory containing"
_COMMON = frozenset([*_SMALL.split(" "), *re.split(r"\W", ROOMS)])


def shortest(moves: Sequence[Move]) -> list[Move]:
    """Return the moves that led to the points, and the way between."""
    return [move for run in _looks_apart(_relevant(_answered(moves))) for move in run]


def _looks_apart(moves: Iterable[Move]) -> Iterator[list[Move]]:
    """Yield the moves; what only looked while time passed as waiting for as long, and a last look.

    Where nothing was looked at, time counts to the tick if what was paid for came next.
    """
    runs = [(looked, list(run)) for looked, run in groupby(moves, _only_looked)]
    for (looked, run), (_, after) in pairwise([*runs, (False, [])]):
        only_waited = all(_WAIT.fullmatch(move.action) for move in run)
        timed = only_waited and (not after or after[0].reward > 0)
        yield _waited(run) if looked and not timed else run


def _only_looked(move: Move) -> bool:
    # Points for a reading are not points for the time that it took.
    paid = move.reward > 0 and move.action.startswith("use ")
    return bool(_LOOK.fullmatch(move.action)) and not paid


def _waited(looks: Sequence[Move]) -> list[Move]:
    """As long a wait as so many looks are, if that is shorter, and the last if it shows a thing."""
    end = len(looks) - (not _WAIT.fullmatch(looks[-1].action))
    time = sum(_LONG_WAIT if move.action == "wait" else 1 for move in looks[:end])
    waits = [replace(looks[-1], action="wait", reward=0.0)] * -(-time // _LONG_WAIT)
    shorter = [*waits, *looks[end:]]
    return shorter if len(shorter) < len(looks) else list(looks)


def _answered(moves: Sequence[Move]) -> Iterator[Move]:
    """Yield the moves with a question and its numeric answer as one."""
    question: Move | None = None
    for move in moves:
        if move.answer.startswith("Ambiguous request"):
            question = move
            continue
        if question is not None and move.action.isdigit():
            yield replace(move, action=f"{question.action}\n{move.action}")
        else:
            yield move
        question = None


def _relevant(moves: Iterable[Move]) -> list[Move]:
    """Return the moves that lead to the points, found backwards by the things they share."""
    # Points for something that ripens meanwhile fall on whatever is done at that moment.
    made = [move for move in moves if move.effect != "refused" and is_sensible(move.action)]
    paid = [move for move in made if move.reward > 0] or made[-1:]
    needed = {word for move in paid for word in _words(move.action)}
    moved = (TRANSFER.fullmatch(move.action) for move in made if _shares(move.action, needed))
    # What a needed thing is put into is switched on and off behind that: the sink fills a pot.
    switched = {f"{verb} {each['to']}" for each in moved if each for verb in _SWITCHES}
    kept: list[Move] = []
    for move in reversed(made):
        words = _words(move.action)
        shared = _shares(move.action, needed) or move.action in switched
        measured = move.effect == "looked" and bool(_MEASURING.match(move.action))
        if move.reward > 0 or (shared and move.effect == "done"):
            needed |= words
        elif not (move.place or _opens_or_waits(move) or (shared and measured)):
            continue
        kept.append(move)
    return [move for move in reversed(kept) if not move.action.startswith("open door")]


def _opens_or_waits(move: Move) -> bool:
    opened = move.effect == "done" and _OPENING.match(move.action)
    return bool(opened or move.action.startswith("wait"))


def _shares(action: str, needed: set[str]) -> bool:
    """Return whether an action is about the things that later moves need."""
    moved = TRANSFER.fullmatch(action)
    words = _words(f"move {moved['what']}" if moved else action)
    return 2 * len(words & needed) >= len(words) > 0


def _words(action: str) -> set[str]:
    """Return what an action names: its words without the verb, rooms and small words."""
    named = set(_WORD.findall(action.partition(" ")[2])) - _COMMON
    return named or set(_WORD.findall(action))


def _acts(moves: Sequence[Move]) -> Iterator[_Act]:
    """Yield what is done, each after the rooms that lead there: their names, and how the way has
    them.

    Coming back to a room makes the way since then a detour.
    """
    route: list[tuple[str, str]] = []
    for move in moves:
        if not move.place:
            yield route, move
            route = []
            continue
        entered = [room for room, _ in route]
        if move.place in entered:
            route = route[: entered.index(move.place) + 1]
        else:
            gone = move.action.removeprefix("go to ")
            route = [*route, (move.place, gone if gone != move.action else move.place)]
