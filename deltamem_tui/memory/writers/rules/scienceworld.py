"""ScienceWorld: the rooms are fixed, so facts are exact; tasks differ in their substances."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice

from deltamem_tui.memory.writers.rules.dialect import Dialect, Effect, Fact, Goal, Move
from deltamem_tui.memory.writers.rules.scienceworld_facts import (
    FURNITURE,
    TRANSFER,
    command_facts,
    doors_of,
    is_lesson,
    is_sensible,
    room_facts,
    room_of,
    scene_of,
)
from deltamem_tui.memory.writers.rules.scienceworld_goals import ROOMS, goal_of
from deltamem_tui.memory.writers.rules.wording import distinct
from deltamem_tui.trajectory.model import Step, Trajectory

_REFUSED = re.compile(
    r"No known action|Unknown action|not open|not clear how|can't move something into itself"
    r"|not sure how|appears broken|does not appear to produce|so there are no items"
)
_NEEDLESS = re.compile(r"is already|already connected")
_LOOKING = re.compile(r"(?:look|inventory|task|objects|help|examine|read|wait)")
_MEASURING = re.compile(r"(?:look at|examine|read|wait)")
_ENTERED = re.compile(r"You move to the ([\w ]+)\.")
_CHOSEN = re.compile(r"focus on [^\[]+$")
_WORD = re.compile(r"\[[^\]]+\]|[a-z]{3,}")
_ANYWHERE = re.compile(r"\b(?:around|in|near) the (?:house|building)\b")
_OPENING = re.compile(r"(?:open (?!door)|wait)")
_PATIENCE = 10  # times that one command is worth repeating on end
_SMALL = "and the with into from for inventory containing"
_COMMON = frozenset([*_SMALL.split(" "), *re.split(r"\W", ROOMS)])


class ScienceWorldDialect(Dialect):
    """Ten rooms, exact commands, points for sub-goals."""

    answer_words = 14

    def goal(self, trajectory: Trajectory) -> Goal:
        """The task's own sentences with substances, colours, rooms and degrees left open."""
        return goal_of(trajectory)

    def move(self, step: Step, goal: Goal) -> Move:
        """One step, with the room it led to."""
        entered = _ENTERED.match(step.observation)
        return replace(super().move(step, goal), place=entered[1] if entered else "")

    def effect(self, step: Step) -> Effect:
        """Looking, reading and waiting change nothing by themselves."""
        if _REFUSED.search(step.observation[:300]) or step.observation.startswith("Ambiguous"):
            return "refused"
        needless = _NEEDLESS.search(step.observation[:300])
        return "looked" if needless or _LOOKING.match(step.action.strip()) else "done"

    def is_lesson(self, move: Move) -> bool:
        """What the simulator has no command for, or lets one do with anything, teaches nothing."""
        return is_lesson(move)

    def procedure(self, moves: Sequence[Move]) -> list[str]:
        """What led to the points: the last use of each thing backwards, and the way between."""
        doors = {move.action for move in moves if move.action.startswith("open door")}
        moves = list(_without_idling(_in_hand_once(_relevant(_answered(moves)))))
        chosen = next((at for at, move in enumerate(moves) if _CHOSEN.match(move.action)), -1)
        lines: list[str] = []
        route: list[str] = []
        names: dict[str, str] = {}  # of the rooms, open where the task names one
        for at, move in enumerate(moves):
            if move.place:
                gone = re.fullmatch(r"go to (.+)", move.action)
                names[move.place] = gone[1] if gone else move.place
                # Coming back to a room makes the way since then a detour.
                if move.place in route:
                    del route[route.index(move.place) + 1 :]
                else:
                    route.append(move.place)
                continue
            for room in route:
                name = names[room]
                opened = f"open door to {name}" in doors
                # The task means the room where something is done, and not where a thing was
                # found that it leaves to be chosen.
                if room != route[-1] or at <= chosen:
                    name = room
                lines += [f"open door to {name}"] * opened + [f"go to {name}"]
            route = []
            lines += move.action.split("\n")
        return lines

    def unexplored(self, trajectory: Trajectory, goal: Goal) -> list[str]:
        """What the task asks to focus on, and the rooms it names that were not entered."""
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
        """The room, its things and its doors, without what changes between episodes."""
        if room_of(trajectory.environment):
            return scene_of(trajectory.environment)
        return super().scene(trajectory)

    def facts(self, trajectory: Trajectory) -> list[Fact]:
        """Each room's things and doors, then the commands that were answered."""
        moves = self.moves(trajectory, self.goal(trajectory))
        return [*room_facts(trajectory), *command_facts(trajectory, moves)]


def _answered(moves: Sequence[Move]) -> Iterator[Move]:
    """The moves with a question and its numeric answer as one."""
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
    """The moves that lead to the points, found backwards by the things they share."""
    # Points for something that ripens meanwhile fall on whatever is done at that moment.
    made = [move for move in moves if move.effect != "refused" and is_sensible(move.action)]
    paid = [move for move in made if move.reward > 0] or made[-1:]
    needed = {word for move in paid for word in _words(move.action)}
    kept: list[Move] = []
    for move in reversed(made):
        words = _words(move.action)
        shared = _shares(move.action, needed)
        measured = move.effect == "looked" and bool(_MEASURING.match(move.action))
        if move.reward > 0 or (shared and move.effect == "done"):
            needed |= words
        elif not (move.place or _OPENING.match(move.action) or (shared and measured)):
            continue
        kept.append(move)
    return [move for move in reversed(kept) if not move.action.startswith("open door")]


def _shares(action: str, needed: set[str]) -> bool:
    """Whether an action is about the things that later moves need."""
    moved = TRANSFER.fullmatch(action)
    words = _words(f"move {moved['what']}") if moved else _words(action)
    if moved and FURNITURE & _words(f"move {moved['to'] or ''}") - needed:
        return False
    return bool(words) and 2 * len(words & needed) >= len(words)


def _in_hand_once(moves: Iterable[Move]) -> Iterator[Move]:
    """The moves without picking up again what is in the hand already."""
    held: set[str] = set()
    before = ""
    for move in moves:
        moved = TRANSFER.fullmatch(move.action)
        what = moved["what"] if moved else ""
        if what and move.action.startswith("pick up "):
            if what in held and move.reward <= 0 and move.action != before:
                continue
            held.add(what)
        elif what:
            held = {thing for thing in held if thing not in what}
        before = move.action
        yield move


def _without_idling(moves: Iterable[Move]) -> list[Move]:
    """The moves without what was only done again and again while time passed."""
    return [move for _, run in groupby(moves, _unpaid) for move in islice(run, _PATIENCE)]


def _unpaid(move: Move) -> tuple[str, bool]:
    return move.action, move.reward > 0


def _words(action: str) -> set[str]:
    """What an action names: its words without the verb, rooms and small words."""
    named = set(_WORD.findall(action.partition(" ")[2])) - _COMMON
    return named or set(_WORD.findall(action))
