"""A procedure led to the places at hand: where its things are likely to lie, opened if need be."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from deltamem_tui.lab.games.alfworld_facts import kinds_in
from deltamem_tui.memory.chances import Chance, TaskAtHand, chances
from deltamem_tui.memory.procedure import Procedure, filled

_TAKE = "take [object] from "
_SOUGHT = re.compile(r"take (?P<object>\[object\]) from .+|use (?P<tool>\[tool\])")
_GO, _OPEN = "go to ", "open "
_PUT = ("put ", "move ")
_MOVED = ("take ", *_PUT)


def likely_places(task: TaskAtHand, known: Iterable[Procedure]) -> dict[str, list[Chance]]:
    """Per open place of a procedure the kinds of places for what the task names there.

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


def at_hand(procedure: Procedure, task: TaskAtHand) -> Procedure:
    """A procedure led to where a task's things are likely to lie."""
    closes = {fact.place: False for fact in task.facts if not fact.sought}
    closes |= {fact.place: True for fact in task.facts if fact.closes}
    return located(procedure, likely_places(task, [procedure]), task.names, closes)


def located(
    procedure: Procedure,
    places: Mapping[str, Sequence[Chance]],
    names: Mapping[str, str],
    closes: Mapping[str, bool] = MappingProxyType({}),
) -> Procedure:
    """The procedure with each thing taken or used where it is likeliest to be.

    Args:
        procedure: Commands with the names of the task left open.
        places: Per slot (`object`) the kinds of places for what stands there, the likeliest
            first.
        names: What stands at each open place.
        closes: The kinds of places that are known, and whether they are to be opened before
            anything is put in or taken out.
    """
    if not any(_SOUGHT.fullmatch(step) for step in procedure.steps):
        return procedure
    closed = {place for place, is_closed in closes.items() if is_closed}
    for step in procedure.steps:
        if step.startswith(_OPEN):
            place = step.removeprefix(_OPEN)
            here = filled(place, names)
            closed.add(filled(place, procedure.names) if here in closes else here)
    steps = _opening(_led(_ended(procedure.steps, names), places), names, closed)
    return replace(procedure, steps=tuple(steps))


def only_moves(procedure: Procedure) -> bool:
    """Whether the object is only brought to its place: what lies there need not be taken."""
    about = [step for step in procedure.steps if "[object]" in step]
    return bool(about) and all(step.startswith(_MOVED) for step in about)


def _ended(steps: Sequence[str], names: Mapping[str, str]) -> Sequence[str]:
    """The steps with the goal's last act: a game may be won before it, by what lay there."""
    if "receptacle" not in names or any(step.startswith(_PUT) for step in steps):
        return steps
    return (*steps, f"{_GO}[receptacle]", "put [object] in/on [receptacle]")


def _led(steps: Sequence[str], likely: Mapping[str, Sequence[Chance]]) -> list[str]:
    """The steps without doors, each way to a thing replaced by the way to where it likely is."""
    led: list[str] = []
    for step in steps:
        sought = _SOUGHT.fullmatch(step)
        slot = (sought.lastgroup or "") if sought else ""
        if some := likely.get(slot):
            place = some[0].place
            while led and led[-1].startswith(_GO):
                led.pop()
            led += [f"{_GO}{place}", f"{_TAKE}{place}" if slot == "object" else step]
        elif not step.startswith(_OPEN):
            led.append(step)
    return led


def _opening(
    steps: Iterable[str], names: Mapping[str, str], closed: Collection[str]
) -> Iterator[str]:
    """The steps with each closed place opened once, before anything goes in or out.

    A way to the kind of place where one is already is left out: an appliance may be the goal's.
    """
    here = ""
    opened = set()
    for step in steps:
        if here and step.startswith(_GO) and filled(step, names) == f"{_GO}{filled(here, names)}":
            continue
        if step.startswith(_GO):
            here = step.removeprefix(_GO)
        kind = filled(here, names)
        if step.startswith(_MOVED) and kind in closed and kind not in opened:
            opened.add(kind)
            yield f"{_OPEN}{here}"
        yield step
