"""What an ALFWorld episode shows: what lay where when a place was first looked at, and answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from deltamem_tui.lab.games.effects import is_refused
from deltamem_tui.memory.domain import Fact
from deltamem_tui.memory.places import place_fact, thing_fact
from deltamem_tui.memory.wording import distinct
from deltamem_tui.trajectory.model import Trajectory

THING = re.compile(r"\b([a-z]+) (\d+)\b")
VISIT = re.compile(r"go to (?P<place>(?P<kind>[a-z]+) \d+)")
_SEEN = re.compile(r"(?:On|In) (?:the (?P<place>[a-z]+ \d+)|it), you see (?P<things>[^.]*)\.?")
_OPENED = re.compile(r"You open the (?P<place>[a-z]+) \d+")
_CLOSED = re.compile(r"The (?P<place>[a-z]+) \d+ is closed")
_USED = re.compile(r"(?P<what>(?:heat|cool|clean|use|slice)\b.*)")
_OF_ALL_THAT_LIES = ("look", "inventory")


def kinds(text: str) -> str:
    """`text` without instance numbers: `drawer 3` becomes `drawer`."""
    return THING.sub(r"\1", text)


def kinds_in(text: str) -> list[str]:
    """The kinds of things and places that a text names with their numbers, each once."""
    return distinct(kind for kind, _ in THING.findall(text))


def place_facts(trajectory: Trajectory) -> list[Fact]:
    """Per kind of place how many were looked at, and in how many of them each kind of thing lay."""
    seen: dict[str, Counter[str]] = {}
    looked: Counter[str] = Counter()
    for place, things in _first_looks(trajectory):
        kind = kinds(place)
        looked[kind] += 1
        seen.setdefault(kind, Counter()).update(things)
    doors = _doors(trajectory)
    return [place_fact(kind, looked[kind], seen[kind], closes=kind in doors) for kind in seen]


def thing_facts(trajectory: Trajectory, thing: str) -> list[Fact]:
    """Where a thing that the task is about was looked for, and on how many places it lay."""
    found: Counter[str] = Counter()
    looked: Counter[str] = Counter()
    for place, things in _first_looks(trajectory):
        looked[kinds(place)] += 1
        found[kinds(place)] += thing in things
    return [thing_fact(thing, found, looked)] if found.total() else []


def appliances(trajectory: Trajectory) -> list[Fact]:
    """What was heated, cooled, cleaned or used, and with what answer."""
    closed: dict[str, bool] = {}
    facts: dict[str, dict[str, None]] = {}
    for step in trajectory.steps:
        for found in _CLOSED.finditer(step.observation):
            closed[found["place"]] = True
        for found in _OPENED.finditer(step.observation):
            closed[found["place"]] = False
        used = _USED.fullmatch(step.action.strip())
        if used is None:
            continue
        words = used["what"].split(" ")
        device = words[-2] if len(words) > 1 else ""
        verb = words[0]
        if is_refused(step):
            answer = f"{verb} did nothing"
        else:
            door = " with its door closed" if closed.get(device) else ""
            answer = f"{verb} works{door}"
        facts.setdefault(device, {})[answer] = None
    return [Fact(device, tuple(answers)) for device, answers in facts.items() if device]


def _first_looks(trajectory: Trajectory) -> Iterator[tuple[str, list[str]]]:
    """Each place with the kinds of things that lay there at first, before anything was put."""
    here = ""
    known: set[str] = set()
    for step in trajectory.steps:
        visit = VISIT.fullmatch(step.action.strip())
        here = visit["place"] if visit else here
        if step.action.strip() in _OF_ALL_THAT_LIES:
            continue
        for seen in _SEEN.finditer(step.observation):
            place = seen["place"] or here
            if place and place not in known:
                known.add(place)
                yield place, kinds_in(seen["things"])


def _doors(trajectory: Trajectory) -> set[str]:
    return {
        found["place"] for step in trajectory.steps for found in _OPENED.finditer(step.observation)
    }
