"""A threshold where a bank's own scores jump, and what a bank amounts to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.deltamem.write import LEAST_SCORES, dividing_line, widest_jump
from deltamem_tui.memory.engine import apply_proposals, calibrate, learn
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.method import settings_of
from deltamem_tui.memory.statistics import bank_statistics
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.bank.support import file_bytes


def worded() -> list[Trajectory]:
    """Three kinds of tasks in words, five of each with another object."""
    kinds = (
        "heat the {} in the microwave and put it on the table",
        "find out whether {} conducts electricity with a battery",
        "buy one cheap {} from this shop",
    )
    things = ("apple", "spoon", "cup", "towel", "lamp")
    return [
        Trajectory(
            kind.format(thing),
            steps=(Step(f"take {thing}", f"you have the {thing}"),),
            outcome=Outcome(success=True, source="stated"),
        )
        for kind in kinds
        for thing in things
    ]


@pytest.mark.parametrize("known", [True, False])
def test_waiting_episodes_are_enough_to_tell_the_kinds_apart(tmp_path: Path, known: bool) -> None:
    """Whether or not somebody said how they ended."""
    bank = create_bank(tmp_path / "bank", embedder="hashing")
    take_in(bank, [each if known else each.with_outcome(Outcome()) for each in worded()])
    before = file_bytes(bank.path)
    task, env = calibrate(bank)
    assert file_bytes(bank.path) == before
    assert (task.questions, task.matching_then) == (15, 1.0)
    assert (env.questions, env.proposed) == (0, None)  # no episode says where it was
    applied = apply_proposals(bank, [task, env])
    assert settings_of(Bank.open(bank.path)) == applied
    assert applied["task"].tau_base == task.proposed
    last = list(bank.journal.commits())[-1]
    assert (last.event, last.detail["why"]) == ("parameters", "calibrate")
    for trajectory in worded():
        learn(bank, trajectory)
    assert bank_statistics(bank).trees["task"].roots == 3


def test_from_too_few_scores_no_threshold_is_proposed(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing")
    mixed = [worded()[5 * kind + thing] for thing in range(5) for kind in range(3)]
    take_in(bank, mixed[:LEAST_SCORES])
    enough = calibrate(bank)[0]
    assert (enough.scores, enough.reason) == (LEAST_SCORES, "")
    assert enough.proposed is not None
    fewer = create_bank(tmp_path / "fewer", embedder="hashing")
    take_in(fewer, mixed[: LEAST_SCORES - 1])
    proposal = calibrate(fewer)[0]
    assert (proposal.questions, proposal.proposed) == (LEAST_SCORES - 1, None)
    assert proposal.reason == (
        "too few episodes are alike: 9 of 9 resemble another, and 10 are needed"
    )


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], None),
        ([0.9], None),
        ([0.9, 0.5], 0.7),
        ([0.9, 0.9], None),
        ([0.9, 0.9, 0.9, 0.1], None),  # the drop lies in the worse half
        ([0.9, 0.4, 0.3, 0.2], 0.65),
        ([0.95, 0.94, 0.93, 0.6, 0.5, 0.1, 0.0, -0.5], 0.765),
        ([0.9, 0.7, 0.5, 0.3, 0.1, 0.0], 0.8),  # equal jumps: the first
    ],
)
def test_the_widest_jump_of_the_better_half(scores: list[float], expected: float | None) -> None:
    found = widest_jump(np.array(scores, dtype=np.float32))
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-6))


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([], None),
        ([(0.9, 0.9)], None),
        ([(0.2, 0.9)], None),  # another kind scores higher: no line is better than none
        ([(0.9, 0.5), (0.8, 0.6)], 0.7),
        ([(0.9, 0.1), (0.8, 0.3), (0.2, 0.4)], 0.6),  # the last question is given up
    ],
)
def test_the_line_that_most_reach_with_their_kind_and_fewest_with_another(
    pairs: list[tuple[float, float]], expected: float | None
) -> None:
    found = dividing_line(pairs)
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-6))
