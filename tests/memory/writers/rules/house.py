"""A slow house of its own to try ALFWorld's effect model against: strict, and it sees all."""

from __future__ import annotations

from copy import deepcopy
from random import Random

from deltamem_tui.trajectory.model import Step

PLACES = ["shelf 1", "shelf 2", "cabinet 1", "fridge 1", "sinkbasin 1", "microwave 1", "desk 1"]
DEVICES = {"clean": "sinkbasin 1", "heat": "microwave 1", "cool": "fridge 1"}
MADE = {"clean": "clean", "heat": "hot", "cool": "cool"}


class RealHouse:
    """Three things in seven places, three of them closed; the lamp stands on the desk."""

    def __init__(self, random: Random) -> None:
        self.here = ""
        self.hand = ""
        self.shut = {"cabinet 1", "fridge 1", "microwave 1"}
        self.holds: dict[str, list[str]] = {place: [] for place in PLACES}
        for thing in ("mug 1", "mug 2", "plate 1"):
            self.holds[random.choice(PLACES)].append(thing)
        self.holds["desk 1"].append("desklamp 1")
        self.made: dict[str, set[str]] = {}
        self.lit = False

    def possible(self) -> list[str]:
        here, hand = self.here, self.hand
        moves = [f"go to {place}" for place in PLACES if place != here]
        if here in self.shut:
            moves += [f"open {here}"] * 3
        elif here in ("cabinet 1", "fridge 1", "microwave 1"):
            moves.append(f"close {here}")
        if hand:
            moves += [f"{verb} {hand} with {at}" for verb, at in DEVICES.items() if at == here] * 4
        if here and here not in self.shut:
            things = [thing for thing in self.holds[here] if thing != "desklamp 1"]
            moves += [f"take {thing} from {here}" for thing in things if not hand] * 3
            moves += [f"put {hand} in/on {here}"] * 2 if hand else []
        return moves + ["use desklamp 1"] * (here == "desk 1")

    def do(self, action: str) -> Step:
        if action not in self.possible():
            return Step(action, "Nothing happens.")
        verb, rest = action.split(" ", 1)
        thing = " ".join(rest.split(" ")[:2])
        if verb == "go":
            self.here = rest.removeprefix("to ")
            return Step(action, f"You arrive at loc {PLACES.index(self.here)}. {self._sight()}")
        if verb in ("open", "close"):
            self.shut ^= {self.here}
            return Step(action, self._sight())
        if verb == "take":
            self.holds[self.here].remove(thing)
            self.hand = thing
        elif verb == "put":
            self.holds[self.here].append(thing)
            self.hand = ""
        elif verb == "use":
            self.lit = True
        else:
            had = self.made.setdefault(thing, set())
            had -= {"hot", "cool"} if verb != "clean" else set()
            had.add(MADE[verb])
        return Step(action, f"You {action}.")

    def _sight(self) -> str:
        if self.here in self.shut:
            return f"The {self.here} is closed."
        things = ", ".join(f"a {thing}" for thing in self.holds[self.here]) or "nothing"
        return f"On the {self.here}, you see {things}."

    def goals(self) -> set[str]:
        """All tasks that are solved as things are."""
        kinds = [
            (thing.split(" ")[0], place.split(" ")[0], state)
            for place, things in self.holds.items()
            for thing in things
            for state in ("", *self.made.get(thing, ()))
            if thing != "desklamp 1"
        ]
        tasks = {f"put a {f'{made} ' if made else ''}{what} in {at}." for what, at, made in kinds}
        tasks |= {
            f"put two {what} in {at}."
            for what, at, made in kinds
            if kinds.count((what, at, "")) > 1
        }
        if self.hand and self.lit and self.here == "desk 1":
            tasks.add(f"look at {self.hand.split(' ')[0]} under the desklamp.")
        return tasks

    def solves(self, actions: list[str], task: str) -> bool:
        """Whether actions, carried out from here in a copy, solve a task on the way."""
        house = deepcopy(self)
        return any((house.do(action), task in house.goals())[1] for action in actions)
