"""Two small worlds that speak as the simulators do, and environments of them.

`house.py:HouseEnvironment` plugs in by its file as one of a user's own does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from deltamem_tui.errors import UsageError
from deltamem_tui.lab.environment import GameInfo, Observation, Start
from deltamem_tui.trajectory.model import Trajectory

_TAKE = re.compile(r"take (.+) from (.+)")
_MOVE = re.compile(r"move (.+) to (.+)")


class House:
    """Receptacles as in ALFWorld: things lie in places, some of which are closed."""

    def __init__(
        self,
        task: str,
        places: Mapping[str, tuple[str, ...]],
        goal: Callable[[House], bool],
        *,
        closed: tuple[str, ...] = (),
    ) -> None:
        self.task = task
        self._places, self._closed = places, closed
        self.places = tuple(places)
        self.goal = goal
        self.did: list[str] = []

    def start(self) -> Start:
        things = self._places.items()
        self.lies = {thing: place for place, lying in things for thing in lying}
        self.closed = set(self._closed)
        self.hot: set[str] = set()
        self.here = ""
        self.did.clear()
        seen = ", ".join(f"a {place}" for place in self.places)
        return Start(self.task, f"Looking quickly around you, you see {seen}.")

    def step(self, action: str) -> Observation:
        self.did.append(action)
        allowed = action in self.commands() or action.removeprefix("go to ") in self.places
        if allowed:
            self._change(action)
        won = self.goal(self)
        text = "Done." if allowed else "Nothing happens."
        return Observation(text, float(won), won, tuple(self.commands()))

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
    """Rooms as in ScienceWorld: a door is open, or is opened; what is absent cannot be used."""

    def __init__(
        self, task: str, wanted: str, *, closed: tuple[str, ...] = (), absent: tuple[str, ...] = ()
    ) -> None:
        self.task = task
        self.wanted = wanted
        self.closed = set(closed)
        self.absent = absent
        self.did: list[str] = []

    def start(self) -> Start:
        return Start(
            self.task, "This room is called the hallway. In it, you see: a finger painting"
        )

    def step(self, action: str) -> Observation:
        self.did.append(action)
        if action.endswith(self.absent):
            return Observation("No known action matches that input.", 0.0, done=False)
        if action.startswith("open door to "):
            self.closed.discard(action.removeprefix("open door to "))
        shut = action.removeprefix("go to ") in self.closed
        done = action == self.wanted
        return Observation("The door is not open." if shut else "Done.", float(done), done)


THINGS = ("mug", "plate", "egg", "pan")


class HouseEnvironment:
    """Games in which a thing is to be brought from one place to another: two splits, four each."""

    name = "house"
    domain = "alfworld"
    limit = 20
    splits = ("dev", "train")

    def games(self, split: str) -> Sequence[GameInfo]:
        if split not in self.splits:
            raise UsageError(f"there is no split {split!r}")
        return [GameInfo(f"{split}/{thing}", split, "put") for thing in THINGS]

    def load(self, game: GameInfo) -> House:
        split, _, thing = game.name.partition("/")
        if thing not in THINGS:
            raise UsageError(f"there is no game {game.name!r}")
        place = "fridge 1" if split == "dev" else "shelf 1"
        places = {"countertop 1": (), "fridge 1": (), "shelf 1": (), "cabinet 1": ()}
        return House(
            f"put a {thing} in cabinet.",
            {**places, place: (f"{thing} 1",)},
            lambda house: house.lies[f"{thing} 1"] == "cabinet 1",
            closed=("fridge 1",),
        )

    def game_of(self, episode: Trajectory) -> str:
        return episode.metadata.get("game", "")
