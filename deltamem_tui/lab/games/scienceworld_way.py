"""ScienceWorld's shortest way: what led to the points, without search, repeats and idling."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice, pairwise

from deltamem_tui.lab.games.scienceworld_contents import contents, without_detours
from deltamem_tui.lab.games.scienceworld_facts import (
    FURNITURE,
    TRANSFER,
    is_sensible,
)
from deltamem_tui.lab.games.scienceworld_goals import ROOMS
from deltamem_tui.memory.domain import Move

_MEASURING = re.compile(r"(?:look at|examine|read|wait)")
_LOOK = re.compile(r"(?:look at|examine|use thermometer\b.* on) .+|wait1?")
_WAIT = re.compile(r"wait1?")
_LONG_WAIT = 10  # iterations that a single `wait` takes; any other action takes one
_OPENING = re.compile(r"open (?!door)")
_SPOT = re.compile(r"(?P<focus>focus on .+) in (?P<place>[a-z ]+ \d+)")
_WORD = re.compile(r"\[[^\]]+\]|[a-z]{3,}")
_PATIENCE = 10  # times that one command is worth repeating on end
_SMALL = "and the with into from for inventory containing"
_COMMON = frozenset([*_SMALL.split(" "), *re.split(r"\W", ROOMS)])


def shortest(moves: Sequence[Move]) -> list[Move]:
    """The moves that led to the points, and the way between."""
    way = _without_idling(_in_hand_once(_relevant(_answered(without_detours(moves)))))
    return _anywhere([move for run in _looks_apart(way) for move in run])


def _looks_apart(moves: Iterable[Move]) -> Iterator[list[Move]]:
    """The moves; what only looked while time passed as waiting for as long, and a last look.

    Where nothing was looked at, time counts to the tick if what was paid for came next.
    """
    runs = [(looked, list(run)) for looked, run in groupby(moves, _only_looked)]
    for (looked, run), (_, after) in pairwise([*runs, (False, [])]):
        only_waited = all(_WAIT.fullmatch(move.action) for move in run)
        timed = only_waited and (not after or after[0].reward > 0)
        yield _waited(run) if looked and not timed else run


def _only_looked(move: Move) -> bool:
    # Points for a reading are not points for the time that it took.
    paid = move.reward > 0 and move.action.startswith("use ")
    return bool(_LOOK.fullmatch(move.action)) and not paid


def _waited(looks: Sequence[Move]) -> list[Move]:
    """As long a wait as so many looks are, if that is shorter, and the last if it shows a thing."""
    end = len(looks) - (not _WAIT.fullmatch(looks[-1].action))
    time = sum(_LONG_WAIT if move.action == "wait" else 1 for move in looks[:end])
    waits = [replace(looks[-1], action="wait", reward=0.0)] * -(-time // _LONG_WAIT)
    shorter = [*waits, *looks[end:]]
    return shorter if len(shorter) < len(looks) else list(looks)


def _anywhere(moves: Sequence[Move]) -> list[Move]:
    """The moves with a thing named without the numbered pot that it happened to be in.

    A pot that anything was put into or poured from is meant itself.
    """
    used = " | ".join(move.action for move in moves if not _SPOT.fullmatch(move.action))
    return [
        replace(move, action=spot["focus"])
        if (spot := _SPOT.fullmatch(move.action)) and spot["place"] not in used
        else move
        for move in moves
    ]


def _answered(moves: Sequence[Move]) -> Iterator[Move]:
    """The moves with a question and its numeric answer as one."""
    question: Move | None = None
    for move in moves:
        if move.answer.startswith("Ambiguous request"):
            question = move
            continue
        if question is not None and move.action.isdigit():
            yield replace(move, action=f"{question.action}\n{move.action}")
        else:
            yield move
        question = None


def _relevant(moves: Iterable[Move]) -> list[Move]:
    """The moves that lead to the points, found backwards by the things they share."""
    # Points for something that ripens meanwhile fall on whatever is done at that moment.
    made = [move for move in moves if move.effect != "refused" and is_sensible(move.action)]
    paid = [move for move in made if move.reward > 0] or made[-1:]
    needed = {word for move in paid for word in _words(move.action)}
    kept: list[Move] = []
    for move, inside in reversed(list(zip(made, contents(made), strict=True))):
        words = _words(move.action)
        shared = _shares(move.action, inside, needed)
        measured = move.effect == "looked" and bool(_MEASURING.match(move.action))
        if move.reward > 0 or (shared and move.effect == "done"):
            needed |= words
        elif not (move.place or _opens_or_waits(move) or (shared and measured)):
            continue
        kept.append(move)
    return [move for move in reversed(kept) if not move.action.startswith("open door")]


def _opens_or_waits(move: Move) -> bool:
    opened = move.effect == "done" and _OPENING.match(move.action)
    return bool(opened or move.action.startswith("wait"))


def _shares(action: str, inside: Iterable[str], needed: set[str]) -> bool:
    """Whether an action is about the things that later moves need, or about what holds them."""
    moved = TRANSFER.fullmatch(action)
    if moved and FURNITURE & _words(f"move {moved['to'] or ''}") - needed:
        return False
    about = [f"move {moved['what']}" if moved else action, *(f"move {each}" for each in inside)]
    return any(words and 2 * len(words & needed) >= len(words) for words in map(_words, about))


def _in_hand_once(moves: Iterable[Move]) -> Iterator[Move]:
    """The moves without picking up again what is in the hand already."""
    held: set[str] = set()
    before = ""
    for move in moves:
        moved = TRANSFER.fullmatch(move.action)
        what = moved["what"] if moved else ""
        if what and move.action.startswith("pick up "):
            if what in held and move.reward <= 0 and move.action != before:
                continue
            held.add(what)
        elif what:
            held = {thing for thing in held if thing not in what}
        before = move.action
        yield move


def _without_idling(moves: Iterable[Move]) -> list[Move]:
    """The moves without what was only done again and again while time passed."""
    return [move for _, run in groupby(moves, _unpaid) for move in islice(run, _PATIENCE)]


def _unpaid(move: Move) -> tuple[str, bool]:
    return move.action, move.reward > 0


def _words(action: str) -> set[str]:
    """What an action names: its words without the verb, rooms and small words."""
    named = set(_WORD.findall(action.partition(" ")[2])) - _COMMON
    return named or set(_WORD.findall(action))
