"""ALFWorld's effects: a small model of the house, in which steps are taken once more.

The model knows what the episode showed: where each thing was first, which places were closed,
which of them are reached from one standing place. It knows neither sizes nor what fits where, so
it may allow what the simulator would not: of an episode's own steps it says which are needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from deltamem_tui.lab.games.alfworld_goals import STATES, HouseGoal
from deltamem_tui.trajectory.model import Step, Trajectory

Verb = Literal["go", "open", "close", "take", "put", "heat", "cool", "clean", "use"]
_INSTANCE = r"[a-z]+ \d{1,6}"
_THING, _PLACE = rf"(?P<thing>{_INSTANCE})", rf"(?P<place>{_INSTANCE})"
_COMMANDS: tuple[tuple[Verb, re.Pattern[str]], ...] = (
    ("go", re.compile(rf"go to {_PLACE}")),
    ("open", re.compile(rf"open {_PLACE}")),
    ("close", re.compile(rf"close {_PLACE}")),
    ("take", re.compile(rf"take {_THING} from {_PLACE}")),
    ("put", re.compile(rf"(?:put|move) {_THING} (?:in/on|in|on|to) {_PLACE}")),
    ("use", re.compile(rf"(?:use|toggle) {_THING}")),
    ("heat", re.compile(rf"heat {_THING} with {_PLACE}")),
    ("cool", re.compile(rf"cool {_THING} with {_PLACE}")),
    ("clean", re.compile(rf"clean {_THING} with {_PLACE}")),
)
_ARRIVED = re.compile(r"You arrive at (loc \d+)\b")
_LISTED = re.compile(
    rf"(?:(?:On|In) the {_PLACE}|(?:The (?P<open>{_INSTANCE}) is open\. )?(?:On|In) it), "
    r"you see (?P<things>[^.]*)"
)
_NAME = re.compile(rf"\b{_INSTANCE}\b")
_CLOSED = re.compile(rf"The ({_INSTANCE}) is closed")
_REFUSED = "Nothing happens"


@dataclass(frozen=True, slots=True)
class Command:
    """What a step of an ALFWorld episode does.

    Attributes:
        verb: `put` also for `move`, `use` also for `toggle`.
        thing: What it is done to, with its number; empty for going, opening and closing.
        place: Where, or with which appliance; empty for `use`.
    """

    verb: Verb
    thing: str = ""
    place: str = ""


def command_of(action: str) -> Command | None:
    """The command that an action is; None if it changes nothing in the house."""
    for verb, pattern in _COMMANDS:
        if found := pattern.fullmatch(action.strip()):
            part = found.groupdict()
            return Command(verb, part.get("thing", ""), part.get("place", ""))
    return None


def is_refused(step: Step) -> bool:
    """Whether the house would not do what a step asks for."""
    return _REFUSED in step.observation


def commands(steps: Sequence[Step]) -> list[tuple[int, Command]]:
    """The commands that were not refused, each with the number of its step, from 0."""
    known = ((at, command_of(step.action)) for at, step in enumerate(steps))
    return [(at, each) for at, each in known if each and not is_refused(steps[at])]


@dataclass(frozen=True, slots=True)
class House:
    """A house as an episode found it.

    Attributes:
        things: Thing → the place where it was first.
        closed: The places that were closed at first.
        spots: Place → the standing place that it is reached from.
    """

    things: Mapping[str, str] = field(default_factory=dict)
    closed: frozenset[str] = frozenset()
    spots: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def seen_in(cls, trajectory: Trajectory) -> House:
        """The house that an episode's answers show."""
        things: dict[str, str] = {}
        doors: dict[str, bool] = {}  # whether a place was closed when it was first heard of
        spots: dict[str, str] = {}
        for thing, place in whereabouts(trajectory):
            things.setdefault(thing, place)
        for here, step in _placed(trajectory.steps):
            command = command_of(step.action)
            arrived = _ARRIVED.search(step.observation)
            if command and command.verb == "go":
                _share(spots, here, arrived[1] if arrived else here)
            elif command:
                _share(spots, command.place, spots.get(here, here))
                if command.verb == "use" and here:
                    things.setdefault(command.thing, here)
            if command and command.verb in ("open", "close"):
                doors.setdefault(command.place, command.verb == "open")
            for place in _CLOSED.findall(step.observation):
                doors.setdefault(place, True)
        return cls(things, frozenset(place for place in doors if doors[place]), spots)

    def spot(self, place: str) -> str:
        """The standing place of a place: its own, if no answer tells of another."""
        return self.spots.get(place, place)


def _share(spots: dict[str, str], place: str, spot: str) -> None:
    """Take note that a place is reached from a spot: what was its own before is the same one."""
    if not place or not spot:
        return
    before = spots.setdefault(place, spot)
    if before != spot:
        spots.update({name: spot for name, other in spots.items() if other == before})


def _placed(steps: Sequence[Step]) -> Iterator[tuple[str, Step]]:
    """The steps that were not refused, each with the place last gone to, itself included."""
    here = ""
    for step in steps:
        if is_refused(step):
            continue
        command = command_of(step.action)
        here = command.place if command and command.verb == "go" else here
        yield here, step


def whereabouts(trajectory: Trajectory) -> Iterator[tuple[str, str]]:
    """Each thing and where it is, whenever a step shows or changes it; `` is in hand.

    The first place of a thing is where the episode found it, the last where it left it.
    """
    for here, step in _placed(trajectory.steps):
        command = command_of(step.action)
        if command and command.verb == "take":
            yield command.thing, command.place
            yield command.thing, ""
        elif command and command.verb == "put":
            yield command.thing, command.place
        yield from _shown(step, here)


def _shown(step: Step, here: str) -> Iterator[tuple[str, str]]:
    """Each thing that an answer lists at a place, and the place."""
    for found in _LISTED.finditer(step.observation):
        place = found["place"] or found["open"] or here
        for thing in _NAME.findall(found["things"]) if place else ():
            yield thing, place


class _State:
    """A house while commands are carried out in it."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.places = dict(house.things)
        self.closed = set(house.closed)
        self.spot = ""
        self.held = ""
        self.states: dict[str, str] = {}
        self.cleaned: set[str] = set()
        self.lit: set[str] = set()

    def carry_out(self, command: Command) -> None:
        """Change what a command changes; one that the house refuses changes nothing."""
        verb, thing, place = command.verb, command.thing, command.place
        if verb == "go":
            self.spot = self.house.spot(place)
        elif self.spot != self.house.spot(place or self.places.get(thing, "")):
            return
        elif verb == "use":
            self.lit.add(thing)  # the goal asks whether a lamp was turned on, not whether it is on
        elif verb in ("open", "close"):
            (self.closed.add if verb == "close" else self.closed.discard)(place)
        elif verb in ("take", "put"):
            if place not in self.closed:
                self._move(verb == "take", thing, place)
        elif thing == self.held:
            self._treat(STATES[verb], thing)

    def _move(self, is_take: bool, thing: str, place: str) -> None:
        if is_take and not self.held and self.places.get(thing) == place:
            del self.places[thing]
            self.held = thing
        elif not is_take and thing == self.held:
            self.places[thing], self.held = place, ""

    def _treat(self, state: str, thing: str) -> None:
        """A thing is hot or cool, not both, and clean beside that."""
        if state == "clean":
            self.cleaned.add(thing)
        else:
            self.states[thing] = state

    def reaches(self, goal: HouseGoal) -> bool:
        """Whether a goal is reached as things are."""
        if goal.tool:
            lamps = [lamp for lamp in self.lit if _kind(lamp) == goal.tool]
            spots = [self.house.spot(self.places.get(lamp, "")) for lamp in lamps]
            return _kind(self.held) == goal.object and self.spot in spots
        there = [
            thing
            for thing, place in self.places.items()
            if _kind(thing) == goal.object and _kind(place) == goal.receptacle
        ]
        return sum(self._is_as_asked(thing, goal.state) for thing in there) >= goal.count

    def _is_as_asked(self, thing: str, state: str) -> bool:
        if state == "clean":
            return thing in self.cleaned
        return not state or self.states.get(thing) == state


def _kind(instance: str) -> str:
    return instance.partition(" ")[0]


def reaches(house: House, goal: HouseGoal, carried_out: Iterable[Command]) -> bool:
    """Whether commands reach a goal at any moment: the simulator ends an episode there."""
    state = _State(house)
    for command in carried_out:
        state.carry_out(command)
        # A placing is the last thing that a goal of placing waits for.
        if (goal.tool or command.verb == "put") and state.reaches(goal):
            return True
    return False
