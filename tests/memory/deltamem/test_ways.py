"""Of several ways of a kind, the one that carries over to the task's names comes first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.trajectory.model import Step, Trajectory
from tests.memory.writers.rules.episodes import melting


def of_water(trajectory: Trajectory) -> Trajectory:
    """The same in words that water alone is called by."""
    steps = [
        Step(s.action.replace("water", "liquid"), s.observation, reward=s.reward)
        for s in trajectory.steps
    ]
    return replace(trajectory, steps=tuple(steps))


@pytest.mark.parametrize("order", [1, -1])
def test_a_way_that_acts_on_what_the_task_names_is_carried_over(tmp_path: Path, order: int) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", domain="scienceworld")
    for episode in [of_water(melting("water")), melting("lead")][::order]:
        learn(bank, episode)
    for asked, focused in (("soap", "soap"), ("water", "liquid"), ("lead", "lead")):
        text = recall(bank, melting(asked).task).context
        assert re.findall(r"focus on (.+)", text.partition("How:")[2]) == [focused]


def test_of_ways_with_the_same_names_the_one_most_like_the_others_is_carried_over(
    tmp_path: Path,
) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", domain="scienceworld")
    odd = Step("move lead to couch", "You move the lead to the couch.", reward=1.0)
    plain, other = melting("lead"), melting("tin")
    for episode in (melting("lead", odd), plain, other):
        learn(bank, episode)
    assert "couch" not in recall(bank, plain.task).context


def test_a_question_that_is_a_known_kinds_first_sentence_is_of_that_kind(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", domain="scienceworld")
    learn(bank, melting("lead"))
    assert "focus on tin" in recall(bank, "melt some tin").context
    assert recall(bank, "warm some tin").context == ""
