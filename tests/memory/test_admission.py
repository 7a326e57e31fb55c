"""Whose word is good enough: the strict standard is ground truth or a person."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui import create_bank, learn
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.memory.method import change_settings
from deltamem_tui.memory.policies import (
    Policy,
    admitted_by,
)
from deltamem_tui.memory.runs.learning import candidates
from deltamem_tui.memory.settings import assigned
from deltamem_tui.trajectory.model import OUTCOME_SOURCES, Outcome, Step, Trajectory

OUTCOMES = st.builds(
    Outcome,
    success=st.none() | st.booleans(),
    reward=st.none() | st.floats(0, 1),
    source=st.sampled_from(OUTCOME_SOURCES),
)


@pytest.mark.parametrize(
    ("policy", "sources"),
    [
        ("none", set()),
        ("strict", {"stated", "user"}),
        ("stated", {"stated"}),
        ("coarse", {"judge"}),
        ("coarse-then-strict", set(OUTCOME_SOURCES)),
        ("all", set(OUTCOME_SOURCES)),
    ],
)
@pytest.mark.parametrize("success", [True, False])
def test_each_policy_takes_its_sources(policy: Policy, sources: set[str], success: bool) -> None:
    taken = {
        source
        for source in OUTCOME_SOURCES
        if admitted_by(policy, Outcome(success=success, source=source))
    }
    assert taken == sources


@given(OUTCOMES)
def test_an_unknown_end_is_never_admitted(outcome: Outcome) -> None:
    nobody = Outcome(None, outcome.reward, outcome.source)
    assert not any(admitted_by(policy, nobody) for policy in get_args(Policy))


def test_by_coarse_an_episode_is_learnt_as_the_judge_says_and_kept_as_the_log_does(
    tmp_path: Path,
) -> None:
    stated, judged = Outcome(False, None, "stated"), Outcome(True, None, "judge")
    step = Step("take egg", "You pick up the egg.")
    known = Trajectory("take the egg", "", (step,), stated, verdicts=(judged,))
    bank = create_bank(tmp_path / "bank", embedder="hashing")
    take_in(bank, [known, Trajectory("look", "", (Step("look", "A stove."),), stated)])
    change_settings(bank, "test", lambda now: assigned(now, "admission=none"))
    assert candidates(bank).episodes == []
    change_settings(bank, "test", lambda now: assigned(now, "admission=coarse"))
    (found,) = candidates(bank).episodes
    assert (found.id, found.outcome) == (known.id, judged)
    learn(bank, found)
    assert {each.label for each in bank.tree("task")} == {"success"}
    assert {each.origin.outcome_source for each in bank.tree("task")} == {"judge"}
    assert (kept := episode(bank, known.id)) is not None
    assert (kept.outcome, kept.verdicts) == (stated, (judged,))
    assert {each.outcome for each in candidates(bank, "strict").episodes} == {stated}
