"""What an episode's outcome is worth when another record speaks of the same episode.

A judge's word fills a gap, the log's own word overrules a judge, and a person's overrules
everybody's, their own earlier one too, while the episode waits. (A person's file is not asked
where the record at hand states its outcome itself: see `UserOutcomes.apply`.) What
was learnt from stays as it was learnt. Two records of one import that contradict each other are
a mistake in the logs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from deltamem_tui.memory.episodes.import_report import Reception
from deltamem_tui.trajectory.model import Outcome, OutcomeSource

Answer = Reception | Literal["contradiction", "too late"]
"""What becomes of a record; the last two are refusals."""

_NOBODY, _JUDGE, _FINAL = range(3)


@dataclass(frozen=True, slots=True)
class Standing:
    """How it is said so far that an episode ended. Made by `standing`, so that few exist.

    Attributes:
        outcome: Whether it was a success, and who says so; no more of it is kept.
        learnt: Whether it was learnt from.
        confirmed: Whether a record of this import says so, not only the bank.
    """

    outcome: Outcome
    learnt: bool = False
    confirmed: bool = False

    def answer(self, said: Outcome) -> Answer:
        """What becomes of another record of the episode, by the outcome that it states."""
        held = self.outcome
        if self._is_superseded_by(said):
            return "updated"
        disagrees = _weight(said) == _FINAL and said.success != held.success
        if not disagrees or (held.source == "user" and said.source != "user"):
            # A person who overruled a log is not bothered with it again, unless they do now.
            return "contradiction" if disagrees and self.confirmed else "duplicate"
        return "too late" if self.learnt else "contradiction"

    def _is_superseded_by(self, said: Outcome) -> bool:
        if self.learnt:
            return False
        if _weight(self.outcome) < _FINAL:
            return _weight(said) > _weight(self.outcome)
        return said.source == "user" and said.success != self.outcome.success and not self.confirmed

    def after(self, said: Outcome, answer: Answer) -> Standing:
        """How it stands once a record was answered so."""
        if answer == "updated":
            return standing(said, confirmed=True)
        agrees = _weight(said) == _FINAL and said.success == self.outcome.success
        if agrees and not self.confirmed:
            return standing(self.outcome, learnt=self.learnt, confirmed=True)
        return self


def standing(outcome: Outcome, *, learnt: bool = False, confirmed: bool = False) -> Standing:
    """The standing of an episode whose outcome is known to be this."""
    return _standing(outcome.success, outcome.source, learnt, confirmed)


@cache
def _standing(
    success: bool | None,
    source: OutcomeSource,
    learnt: bool,
    confirmed: bool,
) -> Standing:
    return Standing(Outcome(success, None, source), learnt, confirmed)


def _weight(outcome: Outcome) -> int:
    """How much a word on an outcome weighs: nobody's, a judge's, or one that is final."""
    if not outcome.known:
        return _NOBODY
    return _JUDGE if outcome.source == "judge" else _FINAL
