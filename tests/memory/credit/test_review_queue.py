"""The review queue: who comes first, and how often the judge errs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from deltamem_tui.memory.credit.shares import Share, errors_among
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.outcomes import with_verdict
from deltamem_tui.memory.review import review_of
from deltamem_tui.trajectory.model import Outcome
from tests.effort import examples
from tests.memory.support import episode, new_bank

VERDICT = st.sampled_from([None, True, False])
VERDICTS = st.lists(st.tuples(st.sampled_from("ab"), VERDICT, VERDICT, VERDICT), max_size=8)
ORDER = ("disagreement", "unconfirmed")


@examples(20)
@given(VERDICTS)
def test_the_queue_is_in_the_published_order(
    said: list[tuple[str, bool | None, bool | None, bool | None]],
) -> None:
    found = []
    for number, (kind, *verdicts) in enumerate(said):
        each = replace(episode((number, 0, 0), success=None), metadata={"task_kind": kind})
        for source, success in zip(("stated", "judge", "user"), verdicts, strict=True):
            if success is not None:
                each = with_verdict(each, Outcome(success, None, source))  # type: ignore[arg-type]
        found.append(each)
    with TemporaryDirectory() as folder:
        bank = new_bank(Path(folder) / "bank")
        take_in(bank, found)
        review = review_of(bank)
    kinds = Counter(kind for kind, *_ in said)
    wanted = []
    for place, (each, (kind, stated, judge, user)) in enumerate(zip(found, said, strict=True)):
        if user is None and {stated, judge} == {True, False}:
            wanted.append((0, 0, place, each.id))
        elif user is None and judge and stated is None:
            wanted.append((1, -kinds[kind], place, each.id))
    assert [item.episode for item in review.items] == [name for *_, name in sorted(wanted)]
    assert [item.reasons for item in review.items] == [
        (ORDER[reason],) for reason, *_ in sorted(wanted)
    ]
    assert review.errors == errors_among((user, judge) for _, _, judge, user in said)


@given(st.lists(st.tuples(VERDICT, VERDICT)))
def test_errors_of_the_judge(pairs: list[tuple[bool | None, bool | None]]) -> None:
    found = errors_among(pairs)
    for truth, errors in ((False, found.false_accepts), (True, found.false_rejects)):
        known = [judge for user, judge in pairs if user is truth and judge is not None]
        assert errors == Share(len(known), known.count(not truth))
