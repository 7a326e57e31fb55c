"""Which outcome counts when another record states one for the same episode.

A judge fills a gap, the log overrules a judge, and a person overrules everyone, themselves
included, while the episode waits. (A person's file is not used where the record states its
outcome itself: see `UserOutcomes.apply`.) An episode that was learnt keeps its outcome. Two
records of one import that contradict each other are an error in the logs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from deltamem_tui.memory.episodes.import_report import Reception
from deltamem_tui.trajectory.model import Outcome, OutcomeSource

Answer = Reception | Literal["contradiction", "too late"]
"""What becomes of a record; the last two are refusals."""

_UNKNOWN, _JUDGE, _FINAL = range(3)


@dataclass(frozen=True, slots=True)
class KnownOutcome:
    """The outcome that counts so far for an episode; `known_outcome` shares equal ones.

    Attributes:
        outcome: The outcome and its source, without reward and reason.
        learnt: Whether the episode was learnt.
        confirmed: Whether a record of this import states it, not only the bank.
    """

    outcome: Outcome
    learnt: bool = False
    confirmed: bool = False

    def answer(self, stated: Outcome) -> Answer:
        """What becomes of another record of the episode."""
        known = self.outcome
        if self._is_superseded_by(stated):
            return "updated"
        disagrees = _weight(stated) == _FINAL and stated.success != known.success
        if not disagrees or (known.source == "user" and stated.source != "user"):
            # Who overruled a log before is not asked again, unless this import states it, too.
            return "contradiction" if disagrees and self.confirmed else "duplicate"
        return "too late" if self.learnt else "contradiction"

    def _is_superseded_by(self, stated: Outcome) -> bool:
        if self.learnt:
            return False
        if _weight(self.outcome) < _FINAL:
            return _weight(stated) > _weight(self.outcome)
        return (
            stated.source == "user"
            and stated.success != self.outcome.success
            and not self.confirmed
        )

    def after(self, stated: Outcome, answer: Answer) -> KnownOutcome:
        """What is known once a record got this answer."""
        if answer == "updated":
            return known_outcome(stated, confirmed=True)
        agrees = _weight(stated) == _FINAL and stated.success == self.outcome.success
        if agrees and not self.confirmed:
            return known_outcome(self.outcome, learnt=self.learnt, confirmed=True)
        return self


def known_outcome(
    outcome: Outcome, *, learnt: bool = False, confirmed: bool = False
) -> KnownOutcome:
    """What is known of an episode with this outcome."""
    return _known_outcome(outcome.success, outcome.source, learnt, confirmed)


@cache
def _known_outcome(
    success: bool | None,
    source: OutcomeSource,
    learnt: bool,
    confirmed: bool,
) -> KnownOutcome:
    return KnownOutcome(Outcome(success, None, source), learnt, confirmed)


def _weight(outcome: Outcome) -> int:
    """The weight of an outcome: unknown, a judge's, or final."""
    if not outcome.known:
        return _UNKNOWN
    return _JUDGE if outcome.source == "judge" else _FINAL
