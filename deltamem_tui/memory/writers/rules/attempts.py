"""What was tried and did not help: refusals with what worked instead, repeats, and where to look.

All texts have the task's names left open, as the rules write them anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deltamem_tui.memory.domain import Domain, Move, domain_for
from deltamem_tui.memory.wording import key
from deltamem_tui.trajectory.model import Trajectory

_AHEAD = 10  # moves after a refusal in which something may have worked instead
_SMALL = frozenset(("to", "in", "on", "in/on", "into", "from", "with", "and", "the", "a"))


@dataclass(frozen=True, slots=True)
class Attempt:
    """An action that was refused, cost reward, or was repeated with the same answer.

    Attributes:
        action: The action, names left open.
        answer: What came back, shortened, names left open.
        times: How often.
        refused: Whether the environment would not do it, or took reward for it.
    """

    action: str
    answer: str
    times: int
    refused: bool


@dataclass(frozen=True, slots=True)
class Recovery:
    """A refusal and what worked instead.

    Attributes:
        action: What was refused.
        answer: How.
        instead: What worked soon after; two actions if the refused one did after another.
    """

    action: str
    answer: str
    instead: tuple[str, ...]


def moves_of(trajectory: Trajectory) -> tuple[Domain, list[Move]]:
    """An episode's dialect, and its steps understood, the names of its goal left open."""
    dialect = domain_for(trajectory.domain)
    return dialect, dialect.moves(trajectory, dialect.goal(trajectory))


def fruitless(trajectory: Trajectory) -> list[Attempt]:
    """What did not help: the refused first, then what was repeated, most often first."""
    dialect, moves = moves_of(trajectory)
    return [
        Attempt(move.action, move.answer, times, move.failed)
        for move, times in dialect.fruitless(moves)
    ]


def recoveries(trajectory: Trajectory) -> list[Recovery]:
    """The refusals that something like them worked soon after, in order, each once.

    Alike is the very action later, or one with the same verb and a thing in common. Whether it
    worked because of what was done between, the rules cannot tell.
    """
    dialect, moves = moves_of(trajectory)
    found: dict[str, Recovery] = {}
    for at, move in enumerate(moves):
        if move.effect != "refused" or not dialect.is_lesson(move) or key(move.action) in found:
            continue
        instead = _instead(move, moves[at + 1 : at + 1 + _AHEAD])
        if instead:
            found[key(move.action)] = Recovery(move.action, move.answer, instead)
    return list(found.values())


def _instead(refused: Move, later: Sequence[Move]) -> tuple[str, ...]:
    verb, *rest = refused.wording.split() or [""]
    things = set(rest) - _SMALL
    before = ""
    for move in later:
        if move.effect == "refused":
            continue
        words = move.wording.split()
        if words == [verb, *rest]:
            return (before, move.action) if before else ()
        if words[:1] == [verb] and things & set(words[1:]) and move.effect == "done":
            return (move.action,)
        before = move.action if things & set(words[1:]) else before
    return ()


def found_at(trajectory: Trajectory) -> Mapping[str, str]:
    """Where the things that the task names were first: name → kind of place, or room.

    Empty where nothing has a place.
    """
    domain = domain_for(trajectory.domain)
    names = [name for _, name in domain.goal(trajectory).slots]
    found: dict[str, str] = {}
    for thing, place in domain.places_of_things(trajectory):
        if domain.kind_of(thing) in names and place != domain.in_hand:
            found.setdefault(domain.kind_of(thing), domain.kind_of(place))
    return found
