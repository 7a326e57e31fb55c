"""Alignment: the longest common subsequence, and the nodes that mislead."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.memory.replay.alignment import MisalignedReplay, common_length, misaligned
from deltamem_tui.memory.replay.episodes import Truth
from deltamem_tui.memory.replay.measures import Replayed
from deltamem_tui.memory.replay.recording import MemoryRecord, RecalledRecord, Recording

actions = st.lists(st.sampled_from("abcd"), max_size=12)


@given(actions, actions)
def test_the_common_subsequence_is_as_long_as_the_table_says(
    one: list[str], other: list[str]
) -> None:
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for row, left in enumerate(one, 1):
        for column, right in enumerate(other, 1):
            table[row][column] = (
                table[row - 1][column - 1] + 1
                if left == right
                else max(table[row - 1][column], table[row][column - 1])
            )
    assert common_length(one, other) == table[-1][-1]


def test_what_looks_near_and_leads_elsewhere_is_misaligned() -> None:
    """Four nodes are shown to all; d looks as near as c, and no success went its way."""
    scores, nearness = [0.1, 0.2, 0.9, 0.9], [0.8, 0.9, 0.7, 0.1]
    records = tuple(
        MemoryRecord(name, "task", True, (place,), 1, place, 9 if name in "ad" else None)
        for place, name in enumerate("abcd")
    )
    shown = tuple(RecalledRecord(at, at == 0, score) for at, score in enumerate(scores))
    recording = Recording(records, ((),) * 4 + (shown,) * 6, (0,) * 10, (True,) * 10)
    replayed = Replayed(recording, Truth([""] * 10, [True] * 9 + [False]))
    assert misaligned(replayed, lambda source, _: nearness[source]) == MisalignedReplay(4, 1, 1, 1)
    assert misaligned(replayed, lambda *_: 1.0, least_uses=6) == MisalignedReplay()
