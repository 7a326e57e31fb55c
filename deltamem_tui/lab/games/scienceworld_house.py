"""ScienceWorld's house: which rooms have a door to which, as far as episodes have shown it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import groupby

_GO = "go to "
_DOOR = "door to "


def from_here(steps: Sequence[str], room: str, facts: Sequence[tuple[str, str]]) -> list[str]:
    """Steps with the shortest way wherever they go on, as far as the doors are known.

    Args:
        steps: Commands; the first says which room they begin in.
        room: Where the agent is; empty if that is not known.
        facts: Rooms, each with what was seen in it, `; ` between.
    """
    doors = _doors(facts)
    opened: set[frozenset[str]] = set()
    lines: list[str] = []
    for going, run in groupby(steps, lambda step: step.startswith((_GO, f"open {_DOOR}"))):
        some = list(run)
        if not (going and some[-1].startswith(_GO)):
            lines += some
            continue
        end = some[-1].removeprefix(_GO)
        way = _way(doors, room, end) if room else None
        for each in way or ():
            lines += [f"open {_DOOR}{each}"] * ({room, each} not in opened) + [_GO + each]
            opened.add(frozenset((room, each)))
            room = each
        lines += some if way is None else ()
        room = end
    return lines


def _doors(facts: Sequence[tuple[str, str]]) -> dict[str, dict[str, None]]:
    """Room → the rooms that it has a door to; a door leads both ways."""
    doors: dict[str, dict[str, None]] = {}
    for room, items in facts:
        for item in items.split("; "):
            if item.startswith(_DOOR):
                other = item.removeprefix(_DOOR)
                doors.setdefault(room, {})[other] = None
                doors.setdefault(other, {})[room] = None
    return doors


def _way(doors: Mapping[str, Mapping[str, None]], start: str, end: str) -> list[str] | None:
    """The rooms to go through, the last one included; None if there is no way."""
    ways: dict[str, list[str]] = {start: []}
    waiting = deque([start])
    while waiting:
        room = waiting.popleft()
        if room == end:
            return ways[room]
        for other in doors.get(room, ()):
            if other not in ways:
                ways[other] = [*ways[room], other]
                waiting.append(other)
    return None
