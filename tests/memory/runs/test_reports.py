"""What a run came to, as data and text."""

from __future__ import annotations

import pytest

from deltamem_tui.errors import ExtractionError, StorageError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.plan import LearnResult
from deltamem_tui.memory.runs.learning import LearningReport, view_learning

LESSONS = [
    LearnResult("a", new=True, trees={}),
    LearnResult("b", new=True, trees={}),
    LearnResult("c", new=False, trees={}),
]


def test_lessons_are_counted_by_what_they_came_to() -> None:
    view = view_learning(LearningReport(LESSONS), episodes=3, waiting=0)
    counts = [view.record[key] for key in ("learned", "skipped", "learned_elsewhere")]
    assert counts == [2, 2, 1]
    assert view.facts["episodes learnt"] == 2


def test_what_went_wrong_and_what_it_cost_is_in_the_summary() -> None:
    found = LearningReport(
        LESSONS[:1],
        [ExtractionError("no bread", source="b")],
        StorageError("full"),
        Usage(calls=4, cached=1, prompt_tokens=1000, cost=0.5),
        in_flight=2,
    )
    view = view_learning(found, episodes=3, waiting=7)
    assert view.summary == (
        "learnt 1 episode for $0.5000 (4 calls, 1 cached): 0 nodes; 7 waiting; "
        "2 in flight, which may be paid for; 1 could not be learnt, first: b: no bread; "
        "then it ended: full"
    )
    assert view.facts["cost"] == "$0.5000"
    assert view.record["usage"]["calls"] == 4
    assert view.record["on_their_way"] == 2


@pytest.mark.parametrize(
    ("usage", "note"), [(Usage(), "nothing was written"), (Usage(calls=2), "nothing was sent")]
)
def test_a_dry_run_is_an_estimate(usage: Usage, note: str) -> None:
    found = LearningReport(usage=usage)
    view = view_learning(found, episodes=2, waiting=2, dry_run=True)
    assert view.record["would_learn"] == view.facts["would learn"] == 2
    assert view.notes[-1].text.startswith(note)
