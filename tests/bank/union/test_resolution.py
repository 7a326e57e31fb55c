"""What holds of claims that clash, against walking every way up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltamem_tui.bank.join import CLAIM, Claims, resolution
from deltamem_tui.errors import BankCorruptError, BankError


@st.composite
def claimed(draw: st.DrawFn) -> tuple[list[int], list[int | None], list[bool]]:
    ids = draw(st.lists(st.integers(0, 1000), min_size=1, max_size=25, unique=True))
    parents = [draw(st.one_of(st.none(), st.sampled_from(ids))) for _ in ids]
    return ids, parents, [draw(st.integers(0, 5)) == 0 for _ in ids]


def _claims(ids: list[int], parents: list[int] | list[int | None], deleted: list[bool]) -> Claims:
    claims = np.zeros(len(ids), dtype=CLAIM)
    claims["id"], claims["deleted"] = ids, deleted
    claims["parent"] = [parent or 0 for parent in parents]
    claims["root"] = [parent is None for parent in parents]
    return claims


@given(claimed())
@settings(deadline=None)
def test_what_holds_is_what_the_ways_up_say(
    claims: tuple[list[int], list[int | None], list[bool]],
) -> None:
    ids, parents, deleted = claims
    up = dict(zip(ids, parents, strict=True))
    dead = dict(zip(ids, deleted, strict=True))

    def way(start: int, above: dict[int, int | None]) -> list[int]:
        steps, step = [start], above[start]
        while step is not None and step not in steps:
            steps.append(step)
            step = above[step]
        return steps

    alive = [not any(dead[each] for each in way(start, up)) for start in ids]
    circles = [{*way(each, up)} for each in ids if up[way(each, up)[-1]] == each]
    loose = {max(circle) for circle in circles}
    broken = {each: None if each in loose else above for each, above in up.items()}
    found = resolution(_claims(ids, parents, deleted))
    assert found.living.tolist() == alive
    assert {ids[place] for place in np.flatnonzero(found.loosened)} == loose
    assert found.depth.tolist() == [len(way(each, broken)) for each in ids]
    tops = [ids[place] if place < len(ids) else None for place in found.above.tolist()]
    assert tops == list(broken.values())


def test_a_parent_that_is_nowhere_is_told() -> None:
    with pytest.raises(BankCorruptError, match="parent does not exist"):
        resolution(_claims([1], [2], [False]))


def test_a_chain_as_long_as_a_hostile_bank_is_refused_soon() -> None:
    ids = list(range(200_000))
    with pytest.raises(BankError, match="deeper than"):
        resolution(_claims(ids, [None, *ids[:-1]], [False] * len(ids)))
