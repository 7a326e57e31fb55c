"""The review queue: who comes first, and how often the judge errs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.memory.credit.shares import Share, errors_among
from deltamem_tui.memory.review import (
    REASONS,
    EpisodeFacts,
    Suspect,
    queue,
)

WORD = st.sampled_from([None, True, False])
FACTS = st.lists(
    st.builds(
        EpisodeFacts,
        st.integers(0, 300).map(lambda n: f"{n:016x}"),
        st.sampled_from("ab"),
        WORD,
        WORD,
        WORD,
        st.booleans(),
        st.booleans(),
    ),
    max_size=20,
    unique_by=lambda each: each.id,
)
SUSPECTS = st.lists(
    st.builds(
        Suspect,
        st.sampled_from(REASONS[2:5]),
        st.sampled_from([("task", "x"), ("env", "y")]),
        st.lists(st.integers(0, 300).map(lambda n: f"{n:016x}"), max_size=3),
    ),
    max_size=4,
)


@given(FACTS, SUSPECTS)
def test_the_queue_is_in_the_published_order(
    facts: list[EpisodeFacts], suspects: list[Suspect]
) -> None:
    def reasons(each: EpisodeFacts) -> list[tuple[int, int]]:
        """A reason's place among all, and the episode's among those that have it."""
        found = []
        if {each.stated, each.judge} == {True, False}:
            found.append((0, 0))
        if each.judge is True and each.stated is None and not each.learnt:
            found.append((1, -sum(other.kind == each.kind for other in facts)))
        for place, suspect in enumerate(suspects):
            if each.id in suspect.episodes:
                found.append((REASONS.index(suspect.reason), place))
        return found

    asked = {each.id: reasons(each) for each in facts if not each.reviewed}
    wanted = sorted((name for name in asked if asked[name]), key=lambda name: min(asked[name]))
    items = queue(facts, suspects)
    assert [each.episode for each in items] == wanted
    for item in items:
        numbers = sorted({number for number, _ in asked[item.episode]})
        assert [REASONS.index(each) for each in item.reasons] == numbers


@given(FACTS)
def test_errors_of_the_judge(facts: list[EpisodeFacts]) -> None:
    found = errors_among((each.user, each.judge) for each in facts)
    for truth, errors in ((False, found.false_accepts), (True, found.false_rejects)):
        known = [each.judge for each in facts if each.user is truth and each.judge is not None]
        assert errors == Share(len(known), known.count(not truth))
