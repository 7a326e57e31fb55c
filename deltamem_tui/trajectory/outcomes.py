"""How logs say that an episode went well: many spellings in, one `Outcome` out.

Only values are read here, never prose. A flag or a word gives `success`; a number gives
`reward`, and `decided` says from which reward on that is a success. Where a verdict is
expected, a nought or a one is a flag too. What contradicts itself outright is not an outcome.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from deltamem_tui.trajectory.model import Outcome

_SUCCESS_WORDS = frozenset(
    {"true", "yes", "ok", "c", "correct", "pass", "passed", "success", "successful", "succeeded"}
    | {"resolved", "solved", "won", "win"}
)
_FAILURE_WORDS = frozenset(
    {"false", "no", "i", "n", "incorrect", "fail", "failed", "failure"}
    | {"unresolved", "unsolved", "lost", "loss"}
)
# Inspect's letter for a partly correct answer.
_HALF_WORDS = frozenset({"p", "partial"})
# Rewards come from divisions and sums of floats: 0.9999999999 is a one.
ROUNDING = 1e-6
"""How far apart two rewards may be that are the same."""


def number(value: object) -> float | None:
    """Return a finite number, also if it is written as text.

    None for anything else, flags included.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        parsed = float(value)
    except (ValueError, OverflowError):
        return None
    return parsed if math.isfinite(parsed) else None


def unit_reward(value: object, best: float = 1.0) -> float | None:
    """Return a log's score as a reward in [0, 1]; None if it is not a number, or above `best`."""
    score = number(value)
    if score is None or best <= 0:
        return None
    share = score / best
    if share > 1 + ROUNDING:
        return None
    return min(max(share, 0.0), 1.0)


def stated(value: object, *, best: float = 1.0, reason: str = "") -> Outcome:
    """Return what a log itself says about how an episode ended: a flag (True, "C", …) or a number.

    Returns:
        With `success` for a flag; with only `reward` for a number (see `decided`); of
        unknown outcome if the value means neither.
    """
    if isinstance(value, bool):
        return Outcome(success=value, source="stated", reason=reason)
    word = value.strip().lower() if isinstance(value, str) else ""
    if word in _SUCCESS_WORDS or word in _FAILURE_WORDS:
        return Outcome(success=word in _SUCCESS_WORDS, source="stated", reason=reason)
    reward = 0.5 if word in _HALF_WORDS else unit_reward(value, best)
    if reward is None:
        return Outcome()
    return Outcome(reward=reward, source="stated", reason=reason)


def verdict_of(value: object, *, best: float = 1.0) -> Outcome:
    """Return what a log says in the place where it tells whether the task was solved.

    A nought or a one is a flag there, also as text: with `success` and `reward`. Else as `stated`.
    """
    flag = number(value)
    if flag not in (0.0, 1.0):
        return stated(value, best=best)
    return Outcome(flag == 1.0, abs(flag), "stated")


def together(outcomes: Mapping[str, Outcome]) -> Outcome:
    """Return what several places of one record say of the same episode.

    Returns:
        The first verdict and the first reward together. Of unknown outcome if nothing is said,
        or if two of them contradict each other outright; then the reason says so.
    """
    known = {name: each for name, each in outcomes.items() if each.source != "unknown"}
    if are_contradictory(known.values()):
        shown = ", ".join(f"{name} {_shown(each)}" for name, each in known.items())
        return Outcome(reason=f"the log contradicts itself: {shown}")
    verdict = next((each for each in known.values() if each.success is not None), None)
    paid = (each for each in (*_rewards(known.values()), verdict) if each is not None)
    reward = next((each.reward for each in paid), None)
    if verdict is None and reward is None:
        return Outcome()
    return Outcome(verdict.success if verdict else None, reward, "stated")


def undisputed(outcome: Outcome) -> Outcome:
    """Return the outcome, of unknown success if its reward contradicts its verdict outright."""
    if outcome.success is None or outcome.reward is None:
        return outcome
    parts = {"success": replace(outcome, reward=None), "reward": replace(outcome, success=None)}
    if not are_contradictory(parts.values()):
        return outcome
    shown = f"success {_shown(parts['success'])}, reward {_shown(parts['reward'])}"
    return Outcome(reason=f"the log contradicts itself: {shown}")


def attributed(outcome: Outcome) -> Outcome:
    """Return the outcome, stated by the log if it is known and its source is not."""
    if outcome.source != "unknown" or (outcome.success is None and outcome.reward is None):
        return outcome
    return replace(outcome, source="stated")


def are_contradictory(outcomes: Collection[Outcome]) -> bool:
    """Return True if two of the outcomes cannot both be true, from whatever reward on is a success.

    So a verdict and a reward contradict each other only if nothing was paid for a success, or
    all of it for a failure.
    """
    ends = {each.success for each in outcomes if each.success is not None}
    for each in _rewards(outcomes):
        if each.reward is not None and not ROUNDING < each.reward < 1.0 - ROUNDING:
            ends.add(each.reward > ROUNDING)
    return len(ends) > 1


def _rewards(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return those that are not verdicts. The reward of a flag in numbers is only the flag once
    more.
    """
    return [each for each in outcomes if each.success is None]


def _shown(outcome: Outcome) -> str:
    if outcome.success is None:
        return f"{outcome.reward:g}"
    return "true" if outcome.success else "false"


def decided(outcome: Outcome, success_at: float = 1.0) -> Outcome:
    """Return the outcome with its success drawn from its reward, where it has only that."""
    if outcome.success is not None or outcome.reward is None:
        return outcome
    return replace(outcome, success=outcome.reward >= success_at - ROUNDING)


LISTED_REASONS = 100
"""How many reasons are counted apart: the first. A log may have another for every episode."""


@dataclass(slots=True)
class ReasonTally:
    """Why the outcomes of some episodes are unknown, as far as their logs give a reason.

    The first `LISTED_REASONS` reasons are counted apart, and all others together.
    """

    listed: Counter[str] = field(default_factory=Counter)
    unlisted: int = 0

    def add(self, outcome: Outcome) -> None:
        """Count one more episode, if its outcome is unknown and it is known why."""
        reason = outcome.reason
        if outcome.success is not None or not reason:
            return
        if reason in self.listed or len(self.listed) < LISTED_REASONS:
            self.listed[reason] += 1
        else:
            self.unlisted += 1

    @property
    def total(self) -> int:
        """How many are unknown for a reason that is known."""
        return self.listed.total() + self.unlisted
