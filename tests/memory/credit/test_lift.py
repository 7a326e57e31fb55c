"""Lift agrees with going through the episodes one by one, and claims nothing of few."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory import lift
from deltamem_tui.memory.lift import BankLift, Difference, Share, bank_lift, difference
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.receipt import ShownNode, made

EPISODES = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from([None, False, True]),
        st.sets(st.integers(0, 3)) | st.none(),
    ),
    max_size=12,
)
"""Kind, end, and the nodes that it was shown; None if it has no receipt."""


@dataclass
class _NoBank:
    """A bank in which every node lives."""

    manifest: SimpleNamespace


def lifted(given_: list[tuple[str, bool | None, set[int] | None]]) -> BankLift:
    """The lift of a bank with these episodes."""
    found = []
    for number, (kind, success, nodes) in enumerate(given_):
        outcome = Outcome(success, None, "stated" if success is not None else "unknown")
        shown = [ShownNode("task", f"{each:016x}") for each in sorted(nodes or ())]
        receipts = () if nodes is None else (made("0" * 16, 1, shown, f"{number}", ""),)
        metadata = {"task_kind": kind}
        steps = (Step("look"),)
        each = Trajectory(f"{number}", "", steps, outcome, metadata=metadata, receipts=receipts)
        found.append(each)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lift, "episodes", lambda _bank: found)
        bank: Bank = _NoBank(SimpleNamespace(domain="generic"))  # type: ignore[assignment]
        return bank_lift(bank)


def share(ends: list[bool]) -> Share:
    return Share(len(ends), sum(ends))


@given(EPISODES)
def test_it_agrees_with_the_episodes(
    given_: list[tuple[str, bool | None, set[int] | None]],
) -> None:
    found = lifted(given_)
    known = [(k, e, s) for k, e, s in given_ if s is not None and e is not None]
    assert found.kinds == {
        kind: tuple(
            share([e for k, e, s in known if k == kind and bool(s) == side])
            for side in (True, False)
        )
        for kind in {k for k, _, _ in known}
    }
    missing = sum(s is None for _, _, s in given_)
    assert (found.episodes, found.without_receipt) == (len(given_), missing)
    assert found.without_verdict == len(given_) - missing - len(known)


@given(st.integers(1, 200), st.data())
def test_the_interval_solves_its_equation(judged: int, data: st.DataObject) -> None:
    found = Share(judged, data.draw(st.integers(0, judged)))
    # Wilson: the bounds are where the score test just does not reject, |p̂ − p| = z √(p(1−p)/n).
    for bound in found.interval:
        width = 1.959963984540054 * sqrt(bound * (1 - bound) / judged)
        assert abs(found.successes / judged - bound) == pytest.approx(width, abs=1e-9)


def test_differences_as_published() -> None:
    # Newcombe 1998, table II: 56/70 against 48/80, method 10.
    found = difference([(Share(70, 56), Share(80, 48))])
    assert isinstance(found, Difference)
    assert (round(found.low, 4), round(found.high, 4)) == (0.0524, 0.3339)
    assert difference([(Share(), Share(80, 48))]) is None
