"""The player of ScienceWorld: it knows the house, and types commands as they stand."""

from __future__ import annotations

import re
from collections import deque

from deltamem_tui.lab.agent import Playthrough
from deltamem_tui.lab.agents.player import TextPlayer

_VERBS = (
    *("open", "close", "activate", "deactivate", "connect", "disconnect", "use", "look", "examine"),
    *(
        "read",
        "move",
        "pick up",
        "put down",
        "drop",
        "pour",
        "dunk",
        "mix",
        "go to",
        "eat",
        "flush",
    ),
    *("focus on", "wait", "wait1", "inventory", "0", "1", "2", "3"),
)
_DOORS = {
    "hallway": ("art studio", "bedroom", "greenhouse", "kitchen", "living room", "workshop"),
    "kitchen": ("bathroom", "hallway", "outside"),
    "outside": ("foundry", "greenhouse", "kitchen"),
    "greenhouse": ("hallway", "outside"),
}
_ROOM = re.compile(r"(?:This room is called the|called the|You move to the) ([\w ]+?)[.,]")
_CHOICE = re.compile(r"^Only the first \[([\w ]+)\] of these that is there: (.+)$", re.MULTILINE)
_WAY = re.compile(r"go to (?:the )?([\w ]+)")


class ScienceWorldPlayer(TextPlayer):
    """Walks by itself and opens doors on the way."""

    def __init__(self, game: Playthrough) -> None:
        super().__init__(game, _VERBS)
        self.room = self._named(self.start.scene)
        self.choices: dict[str, list[str]] = {}

    def begin(self, text: str) -> None:
        """Read which things are to be tried where the text leaves one open."""
        found = _CHOICE.findall(text)
        self.choices = {slot: names.split(", ") for slot, names in found}

    def carry_out(self, command: str) -> None:
        """Type a command, or walk to where it says."""
        if command.startswith("open door"):
            return  # doors are opened on the way
        if way := _WAY.fullmatch(command):
            self._walk(way[1])
        elif open_place := next((slot for slot in self.choices if f"[{slot}]" in command), ""):
            self._choose(command, open_place)
        elif "[" not in command:
            self.act(command)

    def _choose(self, command: str, slot: str) -> None:
        """Do it with the first of the things that there is, and stay with that."""
        for name in self.choices[slot]:
            if "No known action" not in self.act(command.replace(f"[{slot}]", name)):
                self.choices[slot] = [name]
                return

    def _walk(self, room: str) -> None:
        for step in _route(self.room, room):
            if "not open" in self.act(f"go to {step}"):
                self.act(f"open door to {step}")
                self.act(f"go to {step}")
            self.room = step

    @staticmethod
    def _named(scene: str) -> str:
        if scene.startswith("This outside location"):
            return "outside"
        found = _ROOM.search(scene)
        return found[1] if found else ""


def _neighbours(room: str) -> list[str]:
    back = [other for other, doors in _DOORS.items() if room in doors]
    return list(dict.fromkeys([*_DOORS.get(room, ()), *back]))


def _route(start: str, end: str) -> list[str]:
    """The rooms to walk through, the last one included; none if there is no way."""
    ways: dict[str, list[str]] = {start: []}
    waiting = deque([start])
    while waiting:
        room = waiting.popleft()
        if room == end:
            return ways[room]
        for other in _neighbours(room):
            if other not in ways:
                ways[other] = [*ways[room], other]
                waiting.append(other)
    return []
