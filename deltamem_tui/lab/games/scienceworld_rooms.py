"""Rooms of ScienceWorld: what is in them, and which commands were answered there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from deltamem_tui.memory.domain import Move
from deltamem_tui.memory.places import Fact
from deltamem_tui.text import distinct, listed, one_line
from deltamem_tui.trajectory.model import Trajectory

_MORE = re.compile(r" and \d+ more$")


_ROOM_HEAD = re.compile(r"(?:room|outside location) is called the ([\w ]+?)\.")
_DOOR = re.compile(r"[Aa] door to the ([\w ]+?) \(")
_EVERYWHERE_SEEN = ("the agent", "a substance called air")
_BRACKETED = re.compile(r"\(([^()]*)\)")
_HOLDS = re.compile(r"[IO]n the [\w ]+? (?:is|are): ([^.]*)\.?")
_STATE = re.compile(r",? which (?:is|are) [\w ]+|, currently reading .*| door is (?:open|closed)")
_ARTICLE = re.compile(r"^(?:an?|the) ", re.IGNORECASE)
_SUBSTANCE = re.compile(r"\b(?:a )?substance called ")
_GROWING = re.compile(r"\. On the [^,]*")  # flowers, which wither by the minute
_ANY_BOX = re.compile(r"\w+ box")  # where a task wants things brought: drawn anew for each
_MOST_THINGS = 24
TRANSFER = re.compile(
    r"(?:move|pour|pick up|drop|dunk) (?P<what>.+?)(?: (?:in|into|to|on) (?P<to>.+))?"
)
_TERMINAL = re.compile(r"\b(?:terminal|anode|cathode)\b")
_UNHEARD = re.compile(
    r"No known action|Unknown action|Ambiguous request|You can't move something into itself"
)
_EVERYWHERE = ("open", "go", "pick", "focus")
_WORKING = 6


def room_of(text: str) -> str:
    """Return the room that a description is of; empty if it is not a room's."""
    found = _ROOM_HEAD.search(text)
    return found[1] if found else ""


def doors_of(text: str) -> list[str]:
    """Return the rooms that a description names doors to."""
    return distinct(_DOOR.findall(text))


def scene_of(text: str) -> str:
    """Return a room in the description's own words: its things and its doors, not their states."""
    things = distinct(name for name, _ in _listed_things(text))
    head = (
        f"This room is called the {room_of(text)}. In it, you see: {listed(things, _MOST_THINGS)}."
    )
    doors = doors_of(text)
    return f"{head} A door to the {', to the '.join(doors)}." if doors else head


def room_facts(trajectory: Trajectory) -> list[Fact]:
    """Return each room that was described: its doors, its things and the most that was seen in
    them.
    """
    rooms: dict[str, list[str]] = {}
    for text in [trajectory.environment, *(step.observation for step in trajectory.steps)]:
        if room := room_of(text):
            things = [_with_contents(name, inside) for name, inside in _listed_things(text)]
            doors = [f"door to {other}" for other in doors_of(text)]
            rooms.setdefault(room, []).extend([*doors, *things])
    return [Fact(room, tuple(_richest(items))) for room, items in rooms.items()]


def _listed_things(room: str) -> list[tuple[str, str]]:
    """Return the things a room description lists, each with what is in or on it."""
    body = room.partition("see:")[2].partition("You also see:")[0]
    lines = body.split("\n") if "\n" in body.strip() else re.split(r"\s{2,}|\t", body)
    things = []
    for line in (line.strip() for line in lines):
        if not line or line.casefold() in _EVERYWHERE_SEEN:
            continue
        held = _HOLDS.search(line) or _BRACKETED.search(line)
        inside = _GROWING.sub("", one_line(held[1])) if held else ""
        name = _STATE.sub("", re.split(r"\. |\(", line)[0]).strip(" .")
        name = _ARTICLE.sub("", _SUBSTANCE.sub("", name))
        inside = _SUBSTANCE.sub("", re.sub(r"\bcontaining ", "", inside))
        if name and not _ANY_BOX.fullmatch(name):
            things.append((name, "" if inside == "nothing" else _BRACKETED.sub("", inside)))
    return things


def _with_contents(name: str, inside: str) -> str:
    if not inside:
        return name
    parts = distinct(_ARTICLE.sub("", _STATE.sub("", part).strip()) for part in inside.split(","))
    return f"{name} [{listed(parts, 6)}]"


def _richest(items: Sequence[str]) -> list[str]:
    """Items, each thing once and with the most that was seen in it."""
    best: dict[str, str] = {}
    for item in items:
        name = item.partition(" [")[0]
        if len(item) > len(best.get(name, "")):
            best[name] = item
    return list(best.values())


def is_sensible(action: str) -> bool:
    """Return whether an action connects parts of a circuit: the simulator connects anything."""
    if action.startswith("connect "):
        ends = action.removeprefix("connect ").split(" to ", 1)
        return len(ends) == 2 and all(_TERMINAL.search(end) for end in ends)
    if action.startswith("disconnect "):
        return "wire" in action or bool(_TERMINAL.search(action))
    return True


def is_lesson(move: Move) -> bool:
    """Return whether a refusal says something of the world: of a sensible command that there is."""
    return is_sensible(move.action) and not _UNHEARD.match(move.answer)


def command_facts(moves: Sequence[Move]) -> list[Fact]:
    """Return one example for each kind of command that worked, by the room where it did."""
    works: dict[str, tuple[str, str]] = {}
    for move in moves:
        verb = move.action.split(" ")[0]
        plain = move.effect == "done" and not move.place and is_sensible(move.action)
        if plain and verb.isalpha() and verb not in _EVERYWHERE:
            works.setdefault(verb, (move.room, move.action))
    rooms: dict[str, list[str]] = {}
    for room, action in [*works.values()][:_WORKING]:
        rooms.setdefault(room, []).append(action)
    return [Fact(f"works in {room}", tuple(actions)) for room, actions in rooms.items() if room]


def in_rooms(trajectory: Trajectory) -> Iterator[tuple[str, str]]:
    """Things by room, those in another one with it, as each description lists them in turn."""
    for text in [trajectory.environment, *(step.observation for step in trajectory.steps)]:
        for room in room_facts(Trajectory("", text)):
            for item in room.items:
                thing, _, inside = item.rstrip("]").partition(" [")
                if not thing.startswith("door to "):
                    yield thing, room.subject
                for part in _MORE.sub("", inside).split(", ") if inside else ():
                    yield part, f"{thing} in {room.subject}"
