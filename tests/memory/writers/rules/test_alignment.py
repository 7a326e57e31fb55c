"""The longest common subsequence, against all subsequences of the first sequence."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.memory.writers.rules.alignment import alignment
from deltamem_tui.memory.writers.rules.patterns import occurs

SEQUENCE = st.lists(st.sampled_from("abc"), max_size=8)


@given(SEQUENCE, SEQUENCE)
def test_alignment_is_the_share_in_common(first: list[str], second: list[str]) -> None:
    common = max(
        length
        for length in range(len(first) + 1)
        if any(occurs(part, second) for part in combinations(first, length))
    )
    longer = max(len(first), len(second))
    assert alignment(first, second) == (common / longer if longer else 1.0)
    assert alignment(first, second) == alignment(second, first)
