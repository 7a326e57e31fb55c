"""ScienceWorld's containers: what stands in or on a thing, as far as the steps say it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from deltamem_tui.memory.domain import Move

_HANDLED = re.compile(r"(?:move|pour|dunk|pick up|drop|activate|deactivate) (.+)")
_PUT = (
    re.compile(r"(?:move|pour|dunk) (.+) (?:to|into) (.+)"),
    re.compile(r"(?:move|pour|dunk) (.+) (?:in|on) (.+)"),
)
_TAKEN = re.compile(r"(?:pick up|drop) (.+)")
_WHEREABOUTS = re.compile(r" (?:in|on|containing) .*")


def contents(moves: Sequence[Move]) -> Iterator[tuple[str, ...]]:
    """For each move what stands in or on the thing that it handles, whatever is inside another."""
    places: dict[str, str] = {}
    for move in moves:
        handled = _handled(move.action)
        yield _inside(handled, places) if handled else ()
        if move.effect == "refused":
            continue
        what, place = _put(move.action)
        if place:
            places[what] = place
        elif taken := _TAKEN.fullmatch(move.action):
            places.pop(_name(taken[1]), None)


def without_detours(moves: Sequence[Move]) -> list[Move]:
    """The moves without carrying a thing to one that would not work, and away again."""
    idle: set[int] = set()
    for at, move in enumerate(moves):
        what, place = _put(move.action)
        carried = move.action.startswith("move ") and move.effect == "done"
        if place and carried and move.reward <= 0:
            idle |= _away_again(moves, at, what, place)
    return [move for at, move in enumerate(moves) if at not in idle]


def _away_again(moves: Sequence[Move], at: int, what: str, place: str) -> set[int]:
    """Where a thing is put down at a place that refuses and is taken up again; empty if not so."""
    refused = False
    for later, move in enumerate(moves[at + 1 :], at + 1):
        handled = _handled(move.action)
        if handled == place and move.effect == "refused":
            refused = True
        elif handled == place and move.effect == "done":
            break
        elif handled == what and move.effect == "done":
            taken = move.action == f"pick up {what}" and move.reward <= 0
            was_held = any(each.action == move.action for each in moves[:at])
            return {at, *([later] if taken and was_held else ())} if refused else set()
    return set()


def _handled(action: str) -> str:
    what, _ = _put(action)
    found = _HANDLED.fullmatch(action)
    return what or (_name(found[1]) if found else "")


def _put(action: str) -> tuple[str, str]:
    """What an action puts, and where; empty if it puts nothing."""
    found = next((put for each in _PUT if (put := each.fullmatch(action))), None)
    return (_name(found[1]), _name(found[2])) if found else ("", "")


def _name(thing: str) -> str:
    """A thing without where it is and what it holds."""
    return _WHEREABOUTS.sub("", thing)


def _inside(place: str, places: Mapping[str, str]) -> tuple[str, ...]:
    found = [place]
    for each in found:  # it grows meanwhile
        found += [what for what, where in places.items() if where == each and what not in found]
    return tuple(found[1:])
