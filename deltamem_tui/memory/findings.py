"""Findings of any method in an episode, read through its domain.

Which steps had an effect, and the same with blanks, so that two episodes can be compared; the
shortest way that is known; what was tried and did not help; why a failure failed. All texts have
the task's names left open, as the rules write them anywhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from deltamem_tui.memory.domain import Diagnosis, Domain, Move, Shortcut, domain_for
from deltamem_tui.memory.procedure import filled
from deltamem_tui.text import condense, counted, key, one_line
from deltamem_tui.trajectory.model import Trajectory

_THOUGHT = re.compile(r"think(?::|\[| :)", re.IGNORECASE)
_WORDS = 25
_AHEAD = 10  # moves after a refusal in which something may have worked instead
_SMALL = frozenset(("to", "in", "on", "in/on", "into", "from", "with", "and", "the", "a"))
_LATE = 10  # of so many last steps most are refused in a failure of operation
_SHOWN = 6


def effective_actions(trajectory: Trajectory) -> tuple[str, ...]:
    """Return the commands that had an effect, as the log has them; see `effective_steps`."""
    return tuple(one_line(trajectory.steps[at].action) for at in effective_steps(trajectory))


def effective_steps(trajectory: Trajectory) -> tuple[int, ...]:
    """Return the numbers, from 0, of the steps that had an effect: no thought, no look, nothing
    refused.

    What was paid for is among them.
    """
    domain = domain_for(trajectory.domain)
    return tuple(
        at
        for at, move in enumerate(domain.moves(trajectory, domain.goal(trajectory)))
        if domain.is_effective(move) and one_line(move.wording) and not is_thought(move.wording)
    )


def is_thought(action: str) -> bool:
    """Return whether an action only says what the agent thinks (`think: …`, `think[…]`)."""
    return bool(_THOUGHT.match(action.strip()))


def blanked(trajectory: Trajectory, actions: Iterable[str]) -> tuple[str, ...]:
    """Actions of an episode with blanks, one for one.

    Names of the task stand open (`[object]`, `[substance]`); what else differs between episodes
    has the blanks of the domain.
    """
    domain = domain_for(trajectory.domain)
    goal = domain.goal(trajectory)
    return tuple(condense(domain.blanked(goal.generalise(each)), _WORDS) for each in actions)


def shortcut(trajectory: Trajectory) -> Shortcut:
    """Return the shortest way known; of a failure, what it did."""
    return domain_for(trajectory.domain).shortcut(trajectory) or of_actions(
        trajectory, effective_actions(trajectory)
    )


def of_actions(trajectory: Trajectory, actions: tuple[str, ...]) -> Shortcut:
    """Actions of an episode as its shortcut."""
    domain = domain_for(trajectory.domain)
    plan = domain.source_left_open(blanked(trajectory, actions))
    return Shortcut(actions, plan)


@dataclass(frozen=True, slots=True)
class Attempt:
    """An action that was refused, cost reward, or was repeated with the same answer."""

    action: str
    answer: str
    times: int
    refused: bool


@dataclass(frozen=True, slots=True)
class Recovery:
    """A refusal, and what worked instead: two actions if the same one did after another."""

    action: str
    answer: str
    instead: tuple[str, ...]


def moves_of(trajectory: Trajectory) -> tuple[Domain, list[Move]]:
    """Return an episode's domain, and its steps understood, the names of its goal left open."""
    domain = domain_for(trajectory.domain)
    return domain, domain.moves(trajectory, domain.goal(trajectory))


def fruitless(trajectory: Trajectory) -> list[Attempt]:
    """Return what did not help: the refused first, then what was repeated, most often first."""
    domain, moves = moves_of(trajectory)
    return [
        Attempt(move.action, move.answer, times, move.failed)
        for move, times in domain.fruitless(moves)
    ]


def recoveries(trajectory: Trajectory) -> list[Recovery]:
    """Return the refusals that something like them worked soon after, in order, each once.

    Alike is the very action later, or one with the same verb and a thing in common. Whether it
    worked because of what was done between, the rules cannot tell.
    """
    domain, moves = moves_of(trajectory)
    found: dict[str, Recovery] = {}
    for at, move in enumerate(moves):
        if move.effect != "refused" or not domain.is_lesson(move) or key(move.action) in found:
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


def failure_of(trajectory: Trajectory) -> Diagnosis:
    """Return why a failed episode failed, as far as its log tells."""
    domain = domain_for(trajectory.domain)
    found = domain.diagnosis(trajectory) or _by_refusals(trajectory)
    return replace(found, reflection=filled(found.reflection, dict(domain.goal(trajectory).slots)))


def _by_refusals(trajectory: Trajectory) -> Diagnosis:
    """Return what any log shows: whether it got stuck."""
    _, moves = moves_of(trajectory)
    if found := stuck(trajectory, moves):
        return found
    last = f", and ended with `{moves[-1].action}`" if moves else ""
    return Diagnosis(
        "planning",
        f"No step was refused often{last}; a step that the task needs is missing or came too late.",
        "List what the task asks for, and check each part before ending.",
    )


def stuck(trajectory: Trajectory, moves: Sequence[Move]) -> Diagnosis | None:
    """Return a failure of operation, if most of the late steps were refused."""
    late = moves[-_LATE:]
    refused = [move for move in late if move.effect == "refused"]
    if 2 * len(refused) <= len(late):
        return None
    lessons = list(filter(domain_for(trajectory.domain).is_lesson, refused)) or refused
    counts = Counter((move.action, move.answer) for move in lessons)
    (action, answer), times = counts.most_common(1)[0]
    found = next((each for each in recoveries(trajectory) if each.action == action), None)
    return Diagnosis(
        "operation",
        f"{len(refused)} of the last {len(late)} steps were refused; `{action}` "
        f"({counted(times, 'time')}) was answered: {answer.rstrip('.')}.",
        f"Do `{'`, then `'.join(found.instead)}`, which worked in its place."
        if found
        else f"After one refusal of `{action}`, change what it needs or use another action.",
        action,
        answer,
    )
