"""Findings of any method in an episode, read through its domain.

The steps that had an effect; the way that is known, with blanks, so that two episodes can be
compared; why a failure failed. All texts have the task's names left open, as the rules write them
anywhere.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal, NamedTuple

from deltamem_tui.memory.domain import Domain, Move, domain_for, is_thought, with_blanks
from deltamem_tui.memory.procedure import filled
from deltamem_tui.text import condense, counted, one_line
from deltamem_tui.trajectory.model import Trajectory

_WORDS = 25
_LATE = 10  # of so many last steps most are refused in a failure of operation


def moves_of(trajectory: Trajectory) -> tuple[Domain, list[Move]]:
    """Return an episode's domain, and its steps understood, the names of its goal left open."""
    domain = domain_for(trajectory.domain)
    return domain, domain.moves(trajectory, domain.goal(trajectory))


def effective_steps(trajectory: Trajectory) -> list[int]:
    """Return the numbers, from 0, of the steps that are known to have brought the goal about.

    Where that is not known, they are those that had an effect or were paid for: no thought, no
    look, nothing refused.
    """
    _, moves = moves_of(trajectory)
    did = [
        at
        for at, move in enumerate(moves)
        if (move.effect == "done" or move.reward > 0)
        and one_line(move.wording)
        and not is_thought(move.wording)
    ]
    return [at for at, move in enumerate(moves) if move.is_needed] or did


def way_of(trajectory: Trajectory) -> list[str]:
    """Return the shortest way known, a command a line; of a failure, what it did.

    Names of the task stand open (`[object]`, `[substance]`); where the goal is not understood, so
    do addresses, ids and numbers, which may differ between episodes.
    """
    domain, moves = moves_of(trajectory)
    goal, lines = domain.goal(trajectory), domain.procedure(moves)
    if not goal.understood:
        lines = list(map(with_blanks, lines))
    names = dict(goal.slots) if trajectory.outcome.success else {}
    return list(domain.source_left_open((condense(each, _WORDS) for each in lines), names))


class Diagnosis(NamedTuple):
    """Why an episode failed, as far as its log tells.

    Attributes:
        kind: `planning`: a step of the goal is missing. `operation`: an action did not fit the
            state.
        reflection: What went wrong, in one sentence, with the names of the episode's own task: it
            tells of that one alone.
        plan: What to try next time, in one sentence, the names left open.
        action: The action that was refused; empty if there is none.
    """

    kind: Literal["planning", "operation"]
    reflection: str
    plan: str
    action: str = ""


def failure_of(trajectory: Trajectory) -> Diagnosis:
    """Return why a failed episode failed: of operation if most of the late steps were refused."""
    kind: Literal["planning", "operation"]
    domain, moves = moves_of(trajectory)
    late = moves[-_LATE:]
    refused = [move for move in late if move.effect == "refused"]
    if 2 * len(refused) <= len(late):
        last = f", and ended with `{moves[-1].action}`" if moves else ""
        kind, action = "planning", ""
        said = f"No step was refused often{last}; a step that the task needs is missing or late."
        plan = "List what the task asks for, and check each part before ending."
    else:
        kind = "operation"
        lessons = list(filter(domain.is_lesson, refused)) or refused
        counts = Counter((move.action, move.answer) for move in lessons)
        (action, answer), times = counts.most_common(1)[0]
        said = (
            f"{len(refused)} of the last {len(late)} steps were refused; `{action}` "
            f"({counted(times, 'time')}) was answered: {answer.rstrip('.')}."
        )
        plan = f"After one refusal of `{action}`, change what it needs or use another action."
    said = filled(said, dict(domain.goal(trajectory).slots))
    return Diagnosis(kind, said, plan, action)
