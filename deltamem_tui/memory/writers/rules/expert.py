"""An episode as an expert notes it: where things are, what devices do, what was done (CDMem)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from deltamem_tui.memory.writers.rules.alfworld_facts import appliances
from deltamem_tui.memory.writers.rules.dialect import Fact
from deltamem_tui.memory.writers.rules.dialects import dialect_of
from deltamem_tui.memory.writers.rules.effects import command_of, whereabouts
from deltamem_tui.memory.writers.rules.scienceworld_facts import room_facts
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.domains import key
from deltamem_tui.trajectory.model import Trajectory

IN_HAND = "in hand"
"""Where a thing is that was taken and not put down."""

_THOUGHT = re.compile(r"think(?::|\[| :)", re.IGNORECASE)
_MORE = re.compile(r" and \d+ more$")


@dataclass(frozen=True, slots=True)
class Expert:
    """What an episode shows beside its outcome.

    Attributes:
        locations: Thing → where it was last seen or put. ALFWorld has instances (`mug 1` →
            `shelf 2`), ScienceWorld rooms (`glass jar` → `kitchen`, `apple` → `bowl in kitchen`);
            elsewhere nothing has a place, and this is empty.
        functions: What devices and commands did. ALFWorld: appliance and lamp, that they worked or
            `did nothing`; ScienceWorld: commands that worked, by room; WebShop: the options that
            items of a search come in; elsewhere: how each tool answered and failed.
        actions: The commands that had an effect, as the log has them.
    """

    locations: Mapping[str, str]
    functions: tuple[Fact, ...]
    actions: tuple[str, ...]


def expert(trajectory: Trajectory) -> Expert:
    """What an expert notes of an episode, whatever its outcome."""
    domain = key(trajectory.domain)
    functions = _FUNCTIONS.get(domain)
    return Expert(
        dict(places_of_things(trajectory)),
        tuple(functions(trajectory) if functions else dialect_of(domain).facts(trajectory)),
        effective_actions(trajectory),
    )


def places_of_things(trajectory: Trajectory) -> Iterator[tuple[str, str]]:
    """Each thing and its place whenever a step shows or changes it; none where things have none."""
    places = _LOCATIONS.get(key(trajectory.domain))
    return places(trajectory) if places else iter(())


def effective_actions(trajectory: Trajectory) -> tuple[str, ...]:
    """The commands that had an effect, as the log has them; see `effective_steps`."""
    return tuple(one_line(trajectory.steps[at].action) for at in effective_steps(trajectory))


def effective_steps(trajectory: Trajectory) -> tuple[int, ...]:
    """The numbers, from 0, of the steps that had an effect: no thought, no look, nothing refused.

    Going, opening and closing are among them; in ScienceWorld what was paid for is, too.
    """
    dialect = dialect_of(trajectory.domain)
    moves = dialect.moves(trajectory, dialect.goal(trajectory))
    in_house = key(trajectory.domain) == "alfworld"
    kept = []
    for at, move in enumerate(moves):
        moved = in_house and move.effect == "looked" and command_of(move.wording)
        has_effect = move.effect == "done" or move.reward > 0 or moved
        if has_effect and one_line(move.wording) and not is_thought(move.wording):
            kept.append(at)
    return tuple(kept)


def is_thought(action: str) -> bool:
    """Whether an action only says what the agent thinks (`think: …`, `think[…]`)."""
    return bool(_THOUGHT.match(action.strip()))


def in_ranges(actions: Sequence[str]) -> list[str]:
    """ALFWorld's actions with visits to places of one kind in a row as one.

    Places that were opened on the way are named: `go to cabinet 1–4, open 2`. Actions of other
    domains come back as they are.
    """
    lines: list[str] = []
    for kind, run in groupby(actions, _visited):
        texts = list(run)
        found = [command for text in texts if (command := command_of(text))]
        visits = [_number(each.place) for each in found if each.verb == "go"]
        opened = [_number(each.place) for each in found if each.verb == "open"]
        if not kind or len(visits) < 2:
            lines += texts
            continue
        aside = f", open {_ranges(opened)}" if opened else ""
        lines.append(f"go to {kind} {_ranges(visits)}{aside}")
    return lines


def _visited(action: str) -> str:
    """The kind of place that an action goes to, opens or closes; empty if it does another thing."""
    command = command_of(action)
    return command.place.split(" ")[0] if command and not command.thing else ""


def _number(instance: str) -> int:
    return int(instance.split(" ")[1])


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers in their order, those that follow on each other as ranges: `3, 1–2`."""
    starts = [0, *(at for at, (one, two) in enumerate(pairwise(numbers), 1) if two != one + 1)]
    parts = [numbers[start:end] for start, end in pairwise([*starts, len(numbers)])]
    return ", ".join(f"{part[0]}–{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)


def _in_the_house(trajectory: Trajectory) -> Iterator[tuple[str, str]]:
    for thing, place in whereabouts(trajectory):
        yield thing, place or IN_HAND


def _in_rooms(trajectory: Trajectory) -> Iterator[tuple[str, str]]:
    """Things by room, those in another one with it, as each description lists them in turn."""
    for text in [trajectory.environment, *(step.observation for step in trajectory.steps)]:
        for room in room_facts(Trajectory("", text)):
            for item in room.items:
                thing, _, inside = item.rstrip("]").partition(" [")
                if not thing.startswith("door to "):
                    yield thing, room.subject
                for part in _MORE.sub("", inside).split(", ") if inside else ():
                    yield part, f"{thing} in {room.subject}"


def _that_worked(trajectory: Trajectory) -> list[Fact]:
    facts = dialect_of(trajectory.domain).facts(trajectory)
    return [fact for fact in facts if fact.subject.startswith("works in ")]


def _options(trajectory: Trajectory) -> list[Fact]:
    facts = dialect_of(trajectory.domain).facts(trajectory)
    return [fact for fact in facts if fact.subject.startswith("option ")]


_LOCATIONS: Mapping[str, Callable[[Trajectory], Iterator[tuple[str, str]]]] = {
    "alfworld": _in_the_house,
    "scienceworld": _in_rooms,
}
_FUNCTIONS: Mapping[str, Callable[[Trajectory], list[Fact]]] = {
    "alfworld": appliances,
    "scienceworld": _that_worked,
    "webshop": _options,
}
