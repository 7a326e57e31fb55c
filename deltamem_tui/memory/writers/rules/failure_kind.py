"""Why an episode failed, by rules: planning, search or operation (CDMem), and what to try next.

Only what the log shows is judged. Where the domain knows no more, only refusals are understood:
there the kind is `operation` or `planning`, and never `search`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from deltamem_tui.memory.domain import Diagnosis, Move, domain_for
from deltamem_tui.memory.procedure import filled
from deltamem_tui.memory.wording import listed
from deltamem_tui.memory.writers.rules.attempts import moves_of, recoveries
from deltamem_tui.text import counted
from deltamem_tui.trajectory.model import Trajectory

_LATE = 10  # of so many last steps most are refused in a failure of operation
_SHOWN = 6


def failure_of(trajectory: Trajectory) -> Diagnosis:
    """Why a failed episode failed, as far as its log tells."""
    domain = domain_for(trajectory.domain)
    found = domain.diagnosis(trajectory) or _by_refusals(trajectory)
    return replace(found, reflection=filled(found.reflection, dict(domain.goal(trajectory).slots)))


def _by_refusals(trajectory: Trajectory) -> Diagnosis:
    """What any log shows: whether it got stuck, and what was offered and never tried."""
    _, moves = moves_of(trajectory)
    if found := stuck(trajectory, moves):
        return found
    untried = unexplored(trajectory)
    last = f", and ended with `{moves[-1].action}`" if moves else ""
    return Diagnosis(
        "planning",
        f"No step was refused often{last}; a step that the task needs is missing or came too late.",
        f"Try what was not tried: {listed(untried, _SHOWN)}."
        if untried
        else "List what the task asks for, and check each part before ending.",
        missing=untried[0] if untried else "",
    )


def stuck(trajectory: Trajectory, moves: Sequence[Move]) -> Diagnosis | None:
    """A failure of operation, if most of the late steps were refused."""
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


def unexplored(trajectory: Trajectory) -> list[str]:
    """What the observations offered and was not tried."""
    dialect = domain_for(trajectory.domain)
    return dialect.unexplored(trajectory, dialect.goal(trajectory))
