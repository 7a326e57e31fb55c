"""ScienceWorld's rooms: what a room's description lists, without what changes by the minute."""

from __future__ import annotations

import re
from collections.abc import Sequence

from deltamem_tui.memory.writers.rules.dialect import Fact
from deltamem_tui.memory.writers.rules.wording import distinct, listed
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

_ROOM_HEAD = re.compile(r"(?:room|outside location) is called the ([\w ]+?)\.")
_DOOR = re.compile(r"[Aa] door to the ([\w ]+?) \(")
_SCENERY = ("the agent", "a substance called air")
_BRACKETED = re.compile(r"\(([^()]*)\)")
_HOLDS = re.compile(r"[IO]n the [\w ]+? (?:is|are): ([^.]*)\.?")
_STATE = re.compile(r",? which (?:is|are) [\w ]+|, currently reading .*| door is (?:open|closed)")
_ARTICLE = re.compile(r"^(?:an?|the) ", re.IGNORECASE)
_SUBSTANCE = re.compile(r"\b(?:a )?substance called ")
_GROWING = re.compile(r"\. On the [^,]*")  # flowers, which wither by the minute
_BOX = re.compile(r"\w+ box")  # where a task wants things brought: drawn anew for each
_SHOWN = 24


def room_of(text: str) -> str:
    """The room that a description is of; empty if it is not a room's."""
    found = _ROOM_HEAD.search(text)
    return found[1] if found else ""


def doors_of(text: str) -> list[str]:
    """The rooms that a description names doors to."""
    return distinct(_DOOR.findall(text))


def scene_of(text: str) -> str:
    """A room in the description's own words: its things and its doors, not their states."""
    things = distinct(name for name, _ in _things(text))
    head = f"This room is called the {room_of(text)}. In it, you see: {listed(things, _SHOWN)}."
    doors = doors_of(text)
    return f"{head} A door to the {', to the '.join(doors)}." if doors else head


def room_facts(trajectory: Trajectory) -> list[Fact]:
    """Each room that was described: its doors, its things and the most that was seen in them."""
    rooms: dict[str, list[str]] = {}
    for text in [trajectory.environment, *(step.observation for step in trajectory.steps)]:
        if room := room_of(text):
            things = [_with_contents(name, inside) for name, inside in _things(text)]
            doors = [f"door to {other}" for other in doors_of(text)]
            rooms.setdefault(room, []).extend([*doors, *things])
    return [Fact(room, tuple(_richest(items))) for room, items in rooms.items()]


def _things(room: str) -> list[tuple[str, str]]:
    """The things a room description lists, each with what is in or on it."""
    body = room.partition("see:")[2].partition("You also see:")[0]
    lines = body.split("\n") if "\n" in body.strip() else re.split(r"\s{2,}|\t", body)
    things = []
    for line in (line.strip() for line in lines):
        if not line or line.casefold() in _SCENERY:
            continue
        held = _HOLDS.search(line) or _BRACKETED.search(line)
        inside = _GROWING.sub("", one_line(held[1])) if held else ""
        name = _STATE.sub("", re.split(r"\. |\(", line)[0]).strip(" .")
        name = _ARTICLE.sub("", _SUBSTANCE.sub("", name))
        inside = _SUBSTANCE.sub("", re.sub(r"\bcontaining ", "", inside))
        if name and not _BOX.fullmatch(name):
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
