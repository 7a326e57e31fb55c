"""Contestants: named by flags, admitted and forgetting as their names say."""

from __future__ import annotations

import pytest

from deltamem_tui.errors import UsageError
from deltamem_tui.memory.replay.contestants import Contestant, contestants, never_forgetting
from deltamem_tui.trajectory.model import Outcome, Trajectory


def test_every_combination_stands_once_in_the_order_given() -> None:
    found = contestants(["memp", "awm"], ["strict", "unjudged"], ["none", "capacity=9", "none"])
    assert len(found) == 8
    assert found[1] == Contestant("memp", "strict", "capacity=9")
    assert never_forgetting(found[1], found) == found[0]
    assert never_forgetting(found[0], found) is None
    assert never_forgetting(Contestant("memp", "all", "iot"), found) is None


@pytest.mark.parametrize(
    ("forgetting", "expected"),
    [
        ("none", ("none", 300, 1, 5, 0.5, None, 1)),
        ("ehr", ("combined", 200, 0, 5, 0.7, None, 1)),
        ("driving", ("periodical", 300, 1, 5, 0.5, None, 1)),
        ("capacity=40,every=10", ("none", 300, 1, 5, 0.5, 40, 10)),
        ("history,judged=3,utility=.2", ("history", 300, 1, 3, 0.2, None, 1)),
    ],
)
def test_forgetting_is_a_rule_and_numbers(forgetting: str, expected: tuple[object, ...]) -> None:
    found = Contestant("synapse", forgetting=forgetting).settings("alfworld")
    numbers = (found.forgetting, found.forget_period, found.forget_recalls, found.forget_judged)
    assert (*numbers, found.forget_utility, found.capacity, found.forget_every) == expected


@pytest.mark.parametrize(
    "wrong",
    [
        (["nonsense"], ["strict"], ["none"]),
        (["memp"], ["nonsense"], ["none"]),
        (["memp"], ["strict"], ["nonsense"]),
        (["memp"], ["strict"], ["none,nonsense=1"]),
        (["memp"], ["strict"], ["capacity=0"]),
    ],
)
def test_what_is_none_is_refused(wrong: tuple[list[str], list[str], list[str]]) -> None:
    with pytest.raises(UsageError):
        contestants(*wrong)


def test_unjudged_learns_a_failure_as_a_success_and_keeps_what_others_say() -> None:
    stated = Outcome(False, source="stated")
    judged = Outcome(False, source="judge")
    episode = Trajectory("heat an egg", outcome=stated, verdicts=(judged,))
    assert Contestant("memp", "none").admitted(episode) is None
    assert Contestant("memp", "strict").admitted(episode) == episode
    learnt = Contestant("memp", "unjudged").admitted(episode)
    assert learnt is not None
    assert learnt.outcome.success
    assert learnt.verdicts == (stated,)
