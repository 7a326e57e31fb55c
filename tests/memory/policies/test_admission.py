"""Whose word is good enough: the strict standard is ground truth or a person."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.errors import UsageError
from deltamem_tui.memory.policies.admission import (
    DEFAULT_POLICY,
    POLICIES,
    Policy,
    admitted_by,
    policy_named,
)
from deltamem_tui.trajectory.model import OUTCOME_SOURCES, Outcome

OUTCOMES = st.builds(
    Outcome,
    success=st.none() | st.booleans(),
    reward=st.none() | st.floats(0, 1),
    source=st.sampled_from(OUTCOME_SOURCES),
)


@pytest.mark.parametrize(
    ("policy", "sources"),
    [("strict", {"stated", "user"}), ("stated", {"stated"}), ("all", set(OUTCOME_SOURCES))],
)
@pytest.mark.parametrize("success", [True, False])
def test_each_policy_takes_its_sources(policy: Policy, sources: set[str], success: bool) -> None:
    taken = {
        source
        for source in OUTCOME_SOURCES
        if admitted_by(policy, Outcome(success=success, source=source))
    }
    assert taken == sources


def test_a_judge_is_not_believed_unless_asked_for() -> None:
    assert DEFAULT_POLICY == "strict"
    judged = Outcome(success=True, source="judge")
    assert [policy for policy in POLICIES if admitted_by(policy, judged)] == ["all"]


@given(OUTCOMES)
def test_an_unknown_end_is_never_admitted(outcome: Outcome) -> None:
    nobody = Outcome(None, outcome.reward, outcome.source)
    assert not any(admitted_by(policy, nobody) for policy in POLICIES)


@given(OUTCOMES)
def test_what_a_stricter_policy_takes_a_laxer_one_takes_too(outcome: Outcome) -> None:
    stated, strict, everything = (
        admitted_by("stated", outcome),
        admitted_by("strict", outcome),
        admitted_by("all", outcome),
    )
    assert stated <= strict <= everything


def test_a_policy_goes_by_its_name() -> None:
    assert [policy_named(name) for name in POLICIES] == list(POLICIES)
    assert policy_named(None) == "strict"
    with pytest.raises(UsageError, match=r"'judge' \(one of all, stated, strict\)"):
        policy_named("judge")
