"""Whose word counts when several records speak of one episode."""

from __future__ import annotations

import pytest

from deltamem_tui.memory.episodes.outcomes import Answer, known_outcome
from deltamem_tui.trajectory.model import Outcome, OutcomeSource

UNSAID = Outcome()


def said(source: OutcomeSource, *, success: bool) -> Outcome:
    return Outcome(success=success, source=source)


@pytest.mark.parametrize(
    ("held", "word", "waiting", "confirmed", "learnt"),
    [
        ("unknown", "judge", "updated", "updated", "duplicate"),
        ("unknown", "stated", "updated", "updated", "too late"),
        ("judge", "judge", "duplicate", "duplicate", "duplicate"),
        ("judge", "stated", "updated", "updated", "too late"),
        ("judge", "user", "updated", "updated", "too late"),
        ("stated", "judge", "duplicate", "duplicate", "duplicate"),
        ("stated", "stated", "contradiction", "contradiction", "too late"),
        ("stated", "user", "updated", "contradiction", "too late"),
        ("user", "judge", "duplicate", "duplicate", "duplicate"),
        ("user", "stated", "duplicate", "contradiction", "duplicate"),
        ("user", "user", "updated", "contradiction", "too late"),
    ],
)
def test_the_opposite_is_said(
    held: OutcomeSource, word: OutcomeSource, waiting: Answer, confirmed: Answer, learnt: Answer
) -> None:
    """Of an episode that waits, of one that this import spoke of already, and of one learnt."""
    before = UNSAID if held == "unknown" else said(held, success=True)
    news = said(word, success=False)
    assert known_outcome(before).answer(news) == waiting
    assert known_outcome(before, confirmed=True).answer(news) == confirmed
    assert known_outcome(before, learnt=True).answer(news) == learnt


@pytest.mark.parametrize("source", ["judge", "stated", "user"])
@pytest.mark.parametrize("learnt", [True, False])
def test_silence_and_agreement_change_nothing(source: OutcomeSource, learnt: bool) -> None:
    word = said(source, success=True)
    stands = known_outcome(word, learnt=learnt)
    assert stands.answer(UNSAID) == stands.answer(word) == "duplicate"
    assert stands.after(UNSAID, "duplicate") is stands


def test_who_agrees_in_this_import_cannot_be_corrected_in_it() -> None:
    first, second = said("user", success=True), said("user", success=False)
    assert known_outcome(first).answer(second) == "updated"
    assert known_outcome(first).after(first, "duplicate").answer(second) == "contradiction"


def test_a_correction_stands() -> None:
    stands = known_outcome(said("user", success=True)).after(said("user", success=False), "updated")
    assert stands.outcome == said("user", success=False)
    assert stands.confirmed
