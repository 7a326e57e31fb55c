"""How logs say that an episode went well: many spellings in, one `Outcome` out.

Only values are read here, never prose. A flag or a word gives `success`; a number gives
`reward`, and `decided` says from which reward on that is a success. What contradicts itself
outright is not an outcome.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from deltamem_tui.trajectory.model import Outcome

_WORDS = {
    **dict.fromkeys(("true", "yes", "ok", "c", "correct", "pass", "passed", "won", "win"), True),
    **dict.fromkeys(("success", "successful", "succeeded", "resolved", "solved"), True),
    **dict.fromkeys(("false", "no", "i", "n", "incorrect", "fail", "failed", "failure"), False),
    **dict.fromkeys(("unresolved", "unsolved", "lost", "loss"), False),
}
_HALF_WORDS = frozenset({"p", "partial"})  # Inspect's letter for a partly correct answer
ROUNDING = 1e-6
"""How far apart two rewards may be that are the same: they are sums and quotients of floats."""


def number(value: object) -> float | None:
    """Return a finite number, also one written as text; None for anything else, as for flags."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        parsed = float(value)
    except (ValueError, OverflowError):
        return None
    return parsed if math.isfinite(parsed) else None


def stated(value: object, *, best: float = 1.0, reason: str = "") -> Outcome:
    """Return what a log itself says about how an episode ended.

    Returns:
        With `success` for a flag or a word; with only `reward` for a number (see `decided`); of
        unknown outcome if the value means neither.
    """
    word = value.strip().lower() if isinstance(value, str) else ""
    success = value if isinstance(value, bool) else _WORDS.get(word)
    score = 0.5 * best if word in _HALF_WORDS else number(value)
    fits = score is not None and best > 0 and score / best <= 1 + ROUNDING
    reward = min(max(score / best, 0.0), 1.0) if score is not None and fits else None
    if success is None and reward is None:
        return Outcome()
    return Outcome(success, None if success is not None else reward, "stated", reason)


def verdict_of(value: object, *, best: float = 1.0) -> Outcome:
    """Return what a log says where it tells whether the task was solved: 0 and 1 are flags too."""
    flag = number(value)
    if flag in (0.0, 1.0):
        return Outcome(flag == 1.0, abs(flag), "stated")
    return stated(value, best=best)


def together(outcomes: Mapping[str, Outcome]) -> Outcome:
    """Return what several places of one record say of the same episode, the first one first.

    Returns:
        The first verdict and the first reward. Of unknown outcome if nothing is said, or if two
        places contradict each other outright; then the reason says so.
    """
    known = {name: each for name, each in outcomes.items() if each.source != "unknown"}
    if are_contradictory(known.values()):
        shown = ", ".join(f"{name} {_shown(each)}" for name, each in known.items())
        return Outcome(reason=f"the log contradicts itself: {shown}")
    verdict = next((each for each in known.values() if each.success is not None), Outcome())
    rewards = (each.reward for each in known.values() if each.success is None)
    reward = next(rewards, verdict.reward)  # that of a flag in numbers is the flag once more
    return attributed(Outcome(verdict.success, reward))


def undisputed(outcome: Outcome) -> Outcome:
    """Return the outcome, of unknown success if its reward contradicts its verdict outright."""
    if outcome.success is None or outcome.reward is None:
        return outcome
    parts = {
        "success": Outcome(success=outcome.success, source="stated"),
        "reward": Outcome(reward=outcome.reward, source="stated"),
    }
    found = together(parts)
    return found if found.reason else outcome


def attributed(outcome: Outcome) -> Outcome:
    """Return the outcome, stated by the log if it is known and its source is not."""
    if outcome.source != "unknown" or (outcome.success is None and outcome.reward is None):
        return outcome
    return replace(outcome, source="stated")


def are_contradictory(outcomes: Collection[Outcome]) -> bool:
    """Return True if two of the outcomes cannot both be true, from whatever reward on is a success.

    A verdict and a reward contradict each other only if nothing was paid for a success, or all
    of it for a failure.
    """
    ends = {each.success for each in outcomes if each.success is not None}
    rewards = (each.reward for each in outcomes if each.success is None)
    paid = [each for each in rewards if each is not None]
    ends |= {each > ROUNDING for each in paid if not ROUNDING < each < 1.0 - ROUNDING}
    return len(ends) > 1


def _shown(outcome: Outcome) -> str:
    return f"{outcome.reward:g}" if outcome.success is None else str(outcome.success).lower()


def decided(outcome: Outcome, success_at: float = 1.0) -> Outcome:
    """Return the outcome with its success drawn from its reward, where it has only that."""
    if outcome.success is not None or outcome.reward is None:
        return outcome
    return replace(outcome, success=outcome.reward >= success_at - ROUNDING)


LISTED_REASONS = 100
"""How many reasons are counted apart: the first. A log may have another for every episode."""


@dataclass(slots=True)
class ReasonTally:
    """Why outcomes are unknown: the first reasons counted apart, and all others together."""

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
