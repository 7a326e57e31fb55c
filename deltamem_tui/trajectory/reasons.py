"""Why outcomes are unknown, counted: one value that nobody can read is in every record of a log."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from deltamem_tui.trajectory.model import Outcome

LISTED_REASONS = 100
"""How many reasons are counted apart: the first. A log may have another for every episode."""


@dataclass(slots=True)
class ReasonTally:
    """Why the outcomes of some episodes are unknown, as far as their logs give a reason.

    Attributes:
        listed: How many are unknown for each reason: the first `LISTED_REASONS`.
        unlisted: How many are unknown for another reason than these.
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
