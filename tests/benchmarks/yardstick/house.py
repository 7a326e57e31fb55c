"""Two small worlds that speak as the simulators do."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from benchmarks.yardstick.worlds import Answer, Start

_TAKE = re.compile(r"take (.+) from (.+)")
_MOVE = re.compile(r"move (.+) to (.+)")


class House:
    """Receptacles as in ALFWorld: things lie in places, some of which are closed."""

    name = "house"
    limit = 30

    def __init__(
        self,
        task: str,
        places: Mapping[str, tuple[str, ...]],
        goal: Callable[[House], bool],
        *,
        closed: tuple[str, ...] = (),
    ) -> None:
        self.task = task
        self.lies = {thing: place for place, things in places.items() for thing in things}
        self.places = tuple(places)
        self.goal = goal
        self.closed = set(closed)
        self.hot: set[str] = set()
        self.here = ""
        self.did: list[str] = []

    def start(self) -> Start:
        seen = ", ".join(f"a {place}" for place in self.places)
        return Start(self.task, f"Looking quickly around you, you see {seen}.")

    def step(self, action: str) -> Answer:
        self.did.append(action)
        allowed = action in self.commands() or action.removeprefix("go to ") in self.places
        if allowed:
            self._change(action)
        won = self.goal(self)
        text = "Done." if allowed else "Nothing happens."
        return Answer(text, float(won), won, tuple(self.commands()))

    def commands(self) -> list[str]:
        if self.here in self.closed:
            return [f"open {self.here}"]
        held = [thing for thing, at in self.lies.items() if at == "hand"]
        treat = [f"heat {thing} with {self.here}" for thing in held if "microwave" in self.here]
        put = [f"move {thing} to {self.here}" for thing in held]
        lying = [thing for thing, at in self.lies.items() if at == self.here and not held]
        return [*(f"take {thing} from {self.here}" for thing in lying), *put, *treat]

    def _change(self, action: str) -> None:
        if action.startswith("go to "):
            self.here = action.removeprefix("go to ")
        elif action.startswith("open "):
            self.closed.discard(self.here)
        elif took := _TAKE.fullmatch(action):
            self.lies[took[1]] = "hand"
        elif moved := _MOVE.fullmatch(action):
            self.lies[moved[1]] = moved[2]
        elif action.startswith("heat "):
            self.hot.add(action.removeprefix("heat ").partition(" with ")[0])


class Rooms:
    """Rooms as in ScienceWorld: a door is open, or is opened; nothing else is checked."""

    name = "rooms"
    limit = 60

    def __init__(self, task: str, wanted: str, *, closed: tuple[str, ...] = ()) -> None:
        self.task = task
        self.wanted = wanted
        self.closed = set(closed)
        self.did: list[str] = []

    def start(self) -> Start:
        return Start(
            self.task, "This room is called the hallway. In it, you see: a finger painting"
        )

    def step(self, action: str) -> Answer:
        self.did.append(action)
        if action.startswith("open door to "):
            self.closed.discard(action.removeprefix("open door to "))
        shut = action.removeprefix("go to ") in self.closed
        done = action == self.wanted
        return Answer("The door is not open." if shut else "Done.", float(done), done)
