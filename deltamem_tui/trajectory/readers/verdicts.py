"""Scores that tracing tools keep beside a trace: which of them says that the task was solved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from deltamem_tui.trajectory.model import Outcome, OutcomeSource
from deltamem_tui.trajectory.outcome_keys import explained, is_tally
from deltamem_tui.trajectory.outcomes import ROUNDING, are_contradictory, stated, verdict_of
from deltamem_tui.trajectory.secrets.redaction import quoted

# A trace is scored for many things. Only a score of one of these names is about the task;
# `toxicity` or `latency` of 1 says nothing about success.
_VERDICTS = frozenset(
    {"correct", "goal_success", "is_correct", "pass", "passed", "resolved", "solved", "success"}
    | {"successful", "task_success", "task_succeeded"}
)
_ABOUT_THE_TASK = _VERDICTS | frozenset(
    {"accuracy", "correctness", "goal_completion", "outcome", "reward", "score"}
    | {"task_completion", "task_reward"}
)


@dataclass(frozen=True, slots=True)
class Score:
    """One score of a trace: a flag, a number or a word, and the comment that came with it."""

    name: str
    value: object
    source: OutcomeSource = "stated"
    reason: str = ""


def verdict(scores: Iterable[Score], *, any_name: bool = False) -> Outcome:
    """The outcome that scores state together.

    Returns:
        What all of them say, a verdict and a reward together. A model's judgement counts
        only where there is no other. Of unknown outcome if none is about the task, or if
        they disagree, or if none says how the task ended; then the reason says so.
    """
    given = list(scores)
    record = {_plain(score.name): score.value for score in given}
    asked = [score for score in given if any_name or _is_about_task(score.name)]
    found: list[tuple[Score, Outcome]] = []
    for score in asked:
        outcome = _outcome_of(score, record)
        if outcome.source != "unknown":
            attributed = replace(outcome, source=score.source, reason=score.reason)
            found.append((score, attributed))
    found = [pair for pair in found if pair[0].source != "judge"] or found
    if not found:
        own = {score.name: score.value for score in asked}
        return explained(Outcome(), record | own, own)
    together = _together([outcome for _, outcome in found])
    if together is None:
        shown = ", ".join(f"{score.name} {score.value}" for score, _ in found)
        return Outcome(reason=f"its scores disagree: {shown}")
    return together


def verdict_of_whole(scores: Iterable[Score], of_parts: Iterable[Score]) -> Outcome:
    """The outcome that the scores of a whole trace state together."""
    outcome = verdict(scores)
    if outcome.source != "unknown" or outcome.reason:
        return outcome
    names = (quoted(score.name, 60) for score in of_parts if _is_about_task(score.name))
    return next(
        (Outcome(reason=f"`{name}` is a score of a part of the trace") for name in names), outcome
    )


def _outcome_of(score: Score, record: Mapping[str, object]) -> Outcome:
    """What one score says, beside all of its trace: one of several counts says nothing."""
    if _plain(score.name) not in _VERDICTS:
        return stated(score.value)
    return Outcome() if is_tally(record, _plain(score.name)) else verdict_of(score.value)


def _together(outcomes: Sequence[Outcome]) -> Outcome | None:
    """Several outcomes as one; None if they disagree."""
    paid = [outcome for outcome in outcomes if outcome.success is None] or outcomes
    rewards = [outcome.reward for outcome in paid if outcome.reward is not None]
    if are_contradictory(outcomes) or (rewards and max(rewards) - min(rewards) > ROUNDING):
        return None
    flag = next((outcome.success for outcome in outcomes if outcome.success is not None), None)
    reason = next((outcome.reason for outcome in outcomes if outcome.reason), "")
    return Outcome(flag, next(iter(rewards), None), outcomes[0].source, reason)


def _is_about_task(name: str) -> bool:
    """Whether a score of this name says how well the task was solved."""
    return _plain(name) in _ABOUT_THE_TASK


def _plain(name: str) -> str:
    """A name in small letters, its words with `_` between them."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_")
