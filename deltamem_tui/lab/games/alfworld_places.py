"""Places of things in ALFWorld, and procedures led to them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from deltamem_tui.lab.games.alfworld_goals import THING, command_of, kinds, kinds_in
from deltamem_tui.memory.domain import Move
from deltamem_tui.memory.places import Chance, Fact, TaskAtHand, chances, place_fact
from deltamem_tui.memory.procedure import Procedure, filled
from deltamem_tui.text import distinct
from deltamem_tui.trajectory.model import Step, Trajectory

_WHERE = re.compile(r" (?:from|in/on|in|on|to|with) (?P<place>[a-z]+ \d+)$")
_SEEN = re.compile(
    r"(?:(?:On|In) the (?P<place>[a-z]+ \d+)|(?:The (?P<open>[a-z]+ \d+) is open\. )?(?:On|In) it)"
    r", you see (?P<things>[^.]*)"
)
OPENED = re.compile(r"You open the (?P<place>[a-z]+) \d+")
_OF_ALL_THAT_LIES = ("look", "inventory")


def acts(moves: Sequence[Move]) -> list[int]:
    """Return which moves brought the goal about, without the ways there; else all that name it."""
    done = [at for at, move in enumerate(moves) if move.effect == "done"]
    needed = [at for at in done if moves[at].is_needed]
    return needed or [at for at in done if "[object]" in moves[at].action] or done


def place_of(moves: Sequence[Move], at: int) -> str:
    """Return the place, with its number, where a move was made: named by it, else last gone to."""
    if found := _WHERE.search(moves[at].wording.strip()):
        return found["place"]
    gone = (command_of(move.wording) for move in reversed(moves[: at + 1]))
    return next((each.place for each in gone if each and each.verb == "go"), "")


def place_in(act: Move, place: str) -> str:
    """Return a place as the act itself calls it: `[receptacle]` where the goal names it, else its
    kind.
    """
    kind = kinds(place)
    return "[receptacle]" if _WHERE.search(act.wording.strip()) and kind not in act.action else kind


# What lies where


def shown(step: Step, here: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each place that an answer shows, and the things there."""
    for found in _SEEN.finditer(step.observation):
        if place := found["place"] or found["open"] or here:
            yield place, [thing[0] for thing in THING.finditer(found["things"])]


def _first_looks(trajectory: Trajectory) -> Iterator[tuple[str, list[str]]]:
    """Yield each place with the kinds of things that lay there at first, before anything was
    put.
    """
    here = ""
    known: set[str] = set()
    for step in trajectory.steps:
        command = command_of(step.action)
        here = command.place if command and command.verb == "go" else here
        if step.action.strip() in _OF_ALL_THAT_LIES:
            continue
        for place, things in shown(step, here):
            if place not in known:
                known.add(place)
                yield place, distinct(map(kinds, things))


def place_facts(trajectory: Trajectory) -> list[Fact]:
    """Per kind of place how many were looked at, and in how many of them each kind of thing lay."""
    seen: dict[str, Counter[str]] = {}
    looked: Counter[str] = Counter()
    for place, things in _first_looks(trajectory):
        looked[kinds(place)] += 1
        seen.setdefault(kinds(place), Counter()).update(things)
    doors = {kind for step in trajectory.steps for kind in OPENED.findall(step.observation)}
    return [place_fact(kind, looked[kind], seen[kind], closes=kind in doors) for kind in seen]


# A procedure for the places at hand


GO, OPEN, TAKE = "go to ", "open ", "take [object] from "
_MOVED = ("take ", "put ", "move ")
_SOUGHT = re.compile(r"take (?P<object>\[object\]) from .+|use (?P<tool>\[tool\])")


def likely_places(task: TaskAtHand, known: Iterable[Procedure]) -> dict[str, list[Chance]]:
    """Return per open place of a procedure the kinds of places for what the task names there.

    Where nothing is known of a thing's places there are none: the procedure's own is better.
    What is only moved is not looked for where it is to be.
    """
    among = kinds_in(task.scene)
    goal = task.names.get("receptacle") if any(map(only_moves, known)) else None
    likely = {
        slot: [each for each in chances(task.facts, thing, among) if each.place != goal]
        for slot, thing in task.names.items()
        if thing not in among
    }
    return {slot: some for slot, some in likely.items() if some and some[0].chance > 0}


def located(
    procedure: Procedure,
    places: Mapping[str, Sequence[Chance]],
    names: Mapping[str, str],
    closes: Mapping[str, bool],
) -> Procedure:
    """Return the procedure with each thing taken or used where it is likeliest to be.

    Args:
        procedure: Commands with the names of the task left open.
        places: Per slot (`object`) the kinds of places for what stands there, the likeliest
            first.
        names: What stands at each open place.
        closes: The kinds of places that are known, and whether they are to be opened before
            anything is put in or taken out. Others are where the procedure opens them.
    """
    if not any(_SOUGHT.fullmatch(step) for step in procedure.steps):
        return procedure
    closed = {place for place, is_closed in closes.items() if is_closed}
    for place in (step.removeprefix(OPEN) for step in procedure.steps if step.startswith(OPEN)):
        here = filled(place, names)
        closed.add(filled(place, procedure.names) if here in closes else here)
    steps = _opening(_led(ended(procedure.steps, names), places), names, closed)
    return replace(procedure, steps=tuple(steps))


def only_moves(procedure: Procedure) -> bool:
    """Return whether the object is only brought to its place: what lies there stays."""
    about = [step for step in procedure.steps if "[object]" in step]
    return bool(about) and all(step.startswith(_MOVED) for step in about)


def ended(steps: Sequence[str], names: Mapping[str, str]) -> Sequence[str]:
    """Return the steps with the goal's last act: a game may be won before it, by what lay there."""
    if "receptacle" not in names or any(step.startswith(("put ", "move ")) for step in steps):
        return steps
    return (*steps, f"{GO}[receptacle]", "put [object] in/on [receptacle]")


def _led(steps: Sequence[str], likely: Mapping[str, Sequence[Chance]]) -> list[str]:
    """Return the steps without doors, each way to a thing replaced by the way to where it likely
    is.
    """
    led: list[str] = []
    for step in steps:
        sought = _SOUGHT.fullmatch(step)
        slot = (sought.lastgroup or "") if sought else ""
        if some := likely.get(slot):
            place = some[0].place
            while led and led[-1].startswith(GO):
                led.pop()
            led += [f"{GO}{place}", f"{TAKE}{place}" if slot == "object" else step]
        elif not step.startswith(OPEN):
            led.append(step)
    return led


def _opening(
    steps: Iterable[str], names: Mapping[str, str], closed: Collection[str]
) -> Iterator[str]:
    """Yield the steps with each closed place opened once, before anything goes in or out."""
    here = ""
    opened = set()
    for step in steps:
        if here and step.startswith(GO) and filled(step, names) == f"{GO}{filled(here, names)}":
            continue  # an appliance may be the goal's
        if step.startswith(GO):
            here = step.removeprefix(GO)
        kind = filled(here, names)
        if step.startswith(_MOVED) and kind in closed and kind not in opened:
            opened.add(kind)
            yield f"{OPEN}{here}"
        yield step
