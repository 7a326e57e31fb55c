"""Reasons for unknown outcomes are counted, the first of them by name."""

from __future__ import annotations

from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.trajectory.outcomes import LISTED_REASONS, ReasonTally


def test_only_what_is_unknown_for_a_reason_counts() -> None:
    tally = ReasonTally()
    for outcome in (
        Outcome(reason="`score` says 85%"),
        Outcome(),
        Outcome(reason="`score` says 85%"),
        Outcome(False, None, "stated", "step limit"),
    ):
        tally.add(outcome)
    assert tally.listed == {"`score` says 85%": 2}
    assert (tally.total, tally.unlisted) == (2, 0)


def test_it_does_not_grow_with_the_log() -> None:
    tally = ReasonTally()
    for number in range(LISTED_REASONS + 7):
        tally.add(Outcome(reason=f"`score` says {number}"))
    tally.add(Outcome(reason="`score` says 0"))
    assert len(tally.listed) == LISTED_REASONS
    assert (tally.listed["`score` says 0"], tally.unlisted) == (2, 7)
    assert tally.total == LISTED_REASONS + 8
