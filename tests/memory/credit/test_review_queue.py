"""The review queue: who comes first."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.outcomes import with_verdict
from deltamem_tui.memory.review import review_queue
from deltamem_tui.trajectory.model import Outcome
from tests.effort import examples
from tests.memory.support import episode, new_bank

VERDICT = st.sampled_from([None, True, False])
VERDICTS = st.lists(st.tuples(VERDICT, VERDICT, VERDICT), max_size=8)
ORDER = ("disagreement", "unconfirmed")


@examples(20)
@given(VERDICTS)
def test_the_queue_is_in_the_published_order(
    said: list[tuple[bool | None, bool | None, bool | None]],
) -> None:
    found = []
    for number, verdicts in enumerate(said):
        each = episode((number, 0, 0), success=None)
        for source, success in zip(("stated", "judge", "user"), verdicts, strict=True):
            if success is not None:
                each = with_verdict(each, Outcome(success, None, source))  # type: ignore[arg-type]
        found.append(each)
    with TemporaryDirectory() as folder:
        bank = new_bank(Path(folder) / "bank")
        take_in(bank, found)
        queue = review_queue(bank)
    wanted = []
    for place, (each, (stated, judge, user)) in enumerate(zip(found, said, strict=True)):
        if user is None and {stated, judge} == {True, False}:
            wanted.append((0, place, each.id))
        elif user is None and judge and stated is None:
            wanted.append((1, place, each.id))
    assert [item.episode for item in queue] == [name for *_, name in sorted(wanted)]
    assert [item.reason for item in queue] == [ORDER[reason] for reason, *_ in sorted(wanted)]
