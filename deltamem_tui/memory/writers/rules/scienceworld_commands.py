"""ScienceWorld's commands: which are more than noise, and how each room answered them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from deltamem_tui.memory.writers.rules.dialect import Fact
from deltamem_tui.memory.writers.rules.moves import Move
from deltamem_tui.memory.writers.rules.scienceworld_rooms import room_of
from deltamem_tui.memory.writers.rules.scienceworld_words import ROOMS
from deltamem_tui.memory.writers.rules.wording import condense
from deltamem_tui.trajectory.model import Trajectory

TRANSFER = re.compile(
    r"(?:move|pour|pick up|drop|dunk) (?P<what>.+?)(?: (?:in|into|to|on) (?P<to>.+))?"
)
_TERMINAL = re.compile(r"\b(?:terminal|anode|cathode)\b")
_ROOM = re.compile(ROOMS)
_EVERYWHERE = ("open ", "go ", "pick ", "focus ")
_WORKING = 6
_REFUSED = 3
_ANSWER_WORDS = 8


@dataclass(frozen=True, slots=True)
class _Command:
    """A move and the room it was made in.

    Attributes:
        room: The room; empty where no description named it.
        move: The move.
        when: After or before which other command of the room, if that made the difference.
    """

    room: str
    move: Move
    when: str = ""

    @property
    def verb(self) -> str:
        return self.move.action.split(" ")[0]

    @property
    def refusal(self) -> str:
        """The command with the answer that refused it."""
        return f"{self.move.action}{self.when} → {condense(self.move.answer, _ANSWER_WORDS)}"


def is_sensible(action: str) -> bool:
    """Whether an action is more than what the simulator lets one do with anything at all.

    It connects the agent to a door, and pours an orange into a room.
    """
    if action.startswith("connect "):
        ends = action.removeprefix("connect ").split(" to ", 1)
        return len(ends) == 2 and all(_TERMINAL.search(end) for end in ends)
    if action.startswith("disconnect "):
        return "{wire" in action or bool(_TERMINAL.search(action))
    moved = TRANSFER.fullmatch(action)
    return not (moved and moved["to"] and _ROOM.fullmatch(moved["to"]))


def command_facts(trajectory: Trajectory, moves: Sequence[Move]) -> list[Fact]:
    """One example for each kind of command that worked, and for each that was refused.

    What works in one room may be refused in another, or a moment later in the same one: each
    is noted with its room, and a command that was answered both ways with its moment.

    Args:
        trajectory: The episode, for where the agent is.
        moves: Its steps, understood, one each.
    """
    commands = [each for each in _commands(trajectory, moves) if each.verb.isalpha()]
    works: dict[str, _Command] = {}
    refused: dict[tuple[str, str], _Command] = {}
    for each in commands:
        if each.move.effect == "refused":
            refused.setdefault((each.room, each.move.answer), each)
        elif _is_example(each.move):
            works.setdefault(each.verb, each)
    return [
        *_by_room("works", [(each.room, each.move.action) for each in works.values()][:_WORKING]),
        *_by_room("refused", [(each.room, each.refusal) for each in refused.values()][:_REFUSED]),
    ]


def _is_example(move: Move) -> bool:
    """Whether a move shows a command that works; some work in every room and go without saying."""
    plain = move.effect == "done" and not move.place and is_sensible(move.action)
    return plain and not move.action.startswith(_EVERYWHERE)


def _commands(trajectory: Trajectory, moves: Sequence[Move]) -> Iterator[_Command]:
    """The moves with their rooms, and what was answered both ways there with its moment."""
    placed = list(_placed(trajectory, moves))
    working = {(room, move.action) for room, move in placed if _is_example(move)}
    done: list[tuple[str, str]] = []
    for room, move in placed:
        both = move.effect == "refused" and (room, move.action) in working
        yield _Command(room, move, _moment(room, move.action, done) if both else "")
        if move.effect == "done":
            done.append((room, move.action))


def _placed(trajectory: Trajectory, moves: Sequence[Move]) -> Iterator[tuple[str, Move]]:
    room = room_of(trajectory.environment)
    for step, move in zip(trajectory.steps, moves, strict=True):
        yield room, move
        room = move.place or room_of(step.observation) or room


def _moment(room: str, action: str, done: Sequence[tuple[str, str]]) -> str:
    """After what a command was refused that works at another time in the same room."""
    if (room, action) not in done:
        return ", at first"
    thing = action.partition(" ")[2]
    last = next(did for where, did in reversed(done) if where == room and thing in did)
    return f", after `{last}`"


def _by_room(what: str, texts: Iterable[tuple[str, str]]) -> list[Fact]:
    rooms: dict[str, list[str]] = {}
    for room, text in texts:
        rooms.setdefault(room, []).append(text)
    return [
        Fact(f"{what} in {room}" if room else what, tuple(items)) for room, items in rooms.items()
    ]
