"""Scores that tracing tools keep beside a trace: which of them says that the task was solved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from deltamem_tui.trajectory.model import Outcome, OutcomeSource
from deltamem_tui.trajectory.outcomes import ROUNDING, stated

# A trace is scored for many things. Only a score of one of these names is about the task;
# `toxicity` or `latency` of 1 says nothing about success.
_ABOUT_THE_TASK = frozenset(
    {"accuracy", "correct", "correctness", "goal_completion", "goal_success", "is_correct"}
    | {"outcome", "pass", "passed", "resolved", "reward", "score", "solved", "success"}
    | {"successful", "task_completion", "task_reward", "task_success", "task_succeeded"}
)


@dataclass(frozen=True, slots=True)
class Score:
    """One score of a trace.

    Attributes:
        name: What it is called.
        value: What it says: a flag, a number or a word.
        source: `judge` if a model gave it, else `stated`.
        reason: The comment that came with it.
    """

    name: str
    value: object
    source: OutcomeSource = "stated"
    reason: str = ""


def verdict(scores: Iterable[Score], *, any_name: bool = False) -> Outcome:
    """The outcome that scores state together.

    Args:
        scores: All that the log has.
        any_name: Whether every score is about the task, whatever its name.

    Returns:
        What all of them say, a verdict and a reward together. A model's judgement counts
        only where there is no other. Of unknown outcome if none is about the task, or if
        they disagree; then the reason says so.
    """
    found: list[tuple[Score, Outcome]] = []
    for score in scores:
        if any_name or is_about_task(score.name):
            outcome = stated(score.value, reason=score.reason)
            if outcome.source != "unknown":
                found.append((score, replace(outcome, source=score.source)))
    found = [pair for pair in found if pair[0].source != "judge"] or found
    if not found:
        return Outcome()
    together = _together([outcome for _, outcome in found])
    if together is None:
        told = ", ".join(f"{score.name} {score.value}" for score, _ in found)
        return Outcome(reason=f"its scores disagree: {told}")
    return together


def _together(outcomes: Sequence[Outcome]) -> Outcome | None:
    """Several outcomes as one; None if they disagree. That all was paid says that it was solved."""
    flags = {outcome.success for outcome in outcomes if outcome.success is not None}
    rewards = [outcome.reward for outcome in outcomes if outcome.reward is not None]
    if rewards and max(rewards) - min(rewards) > ROUNDING:
        return None
    reward = rewards[0] if rewards else None
    if flags and reward is not None:
        flags |= {reward >= 1.0 - ROUNDING}
    if len(flags) > 1:
        return None
    reason = next((outcome.reason for outcome in outcomes if outcome.reason), "")
    return Outcome(next(iter(flags), None), reward, outcomes[0].source, reason)


def is_about_task(name: str) -> bool:
    """Whether a score of this name says how well the task was solved."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_") in _ABOUT_THE_TASK
