"""A threshold where a bank's own scores jump, and what a bank amounts to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.hashing import hashing_embedder
from deltamem_tui.embedding.protocol import EmbedderCard
from deltamem_tui.errors import BankExistsError, BankFrozenError, BankNotFoundError
from deltamem_tui.memory.banks import create_bank, open_bank
from deltamem_tui.memory.deltamem.calibrate import LEAST_SCORES, dividing_line, widest_jump
from deltamem_tui.memory.deltamem.definition import Parameters
from deltamem_tui.memory.engine import apply_proposals, calibrate, learn
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.methods import settings_of
from deltamem_tui.memory.views.statistics import bank_statistics
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.bank.support import file_bytes
from tests.memory.support import ChosenEmbedder, episode, new_bank, parameters, teach


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
    assert sum(task.bin_counts) == 15
    assert len(task.bin_edges) == len(task.bin_counts) + 1
    assert (env.questions, env.proposed) == (0, None)  # no episode says where it was
    applied = apply_proposals(bank, [task, env])
    assert settings_of(Bank.open(bank.path)) == applied
    assert applied["task"].tau_base == task.proposed
    last = list(bank.journal.commits())[-1]
    assert (last.event, last.detail["why"]) == ("parameters", "calibrate")
    for trajectory in worded():
        learn(bank, trajectory)
    assert bank_statistics(bank).trees["task"].roots == 3


@pytest.mark.parametrize("known", [0, 1])
def test_too_little_to_tell_is_told_and_nothing_is_applied(tmp_path: Path, known: int) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing")
    take_in(bank, worded()[:known])
    proposals = calibrate(bank)
    assert [proposal.proposed for proposal in proposals] == [None, None]
    assert [proposal.matching_then for proposal in proposals] == [None, None]
    before = bank.manifest.settings
    apply_proposals(bank, proposals)
    assert bank.manifest.settings == before


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


def test_episodes_that_resemble_nothing_do_not_count(tmp_path: Path) -> None:
    """Two alike and many at right angles: nearly all best scores are nought."""
    numbers = (1, 0, 0), (0.9, 0.1, 0), (0, 0, 1), (0, 0, -1)
    strange = [episode(each) for each in numbers]
    bank = new_bank(tmp_path / "bank", parameters(tau_base=0.99))
    for trajectory in strange:
        teach(bank, trajectory)
    proposal = calibrate(bank, embedder=ChosenEmbedder())[0]
    assert (proposal.questions, proposal.scores, proposal.proposed) == (4, 2, None)
    assert proposal.reason.startswith("too few episodes are alike: 2 of 4 resemble another, ")


def test_scores_that_are_all_the_same_have_no_threshold_between_them(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank", parameters(tau_base=0.99))
    for number in range(1, LEAST_SCORES + 1):
        same_direction = episode((number, 0, 0))
        teach(bank, same_direction)
    teach(bank, episode((1, 0, 0), action="other"))
    proposal = calibrate(bank, embedder=ChosenEmbedder())[0]
    assert (proposal.scores, proposal.proposed) == (LEAST_SCORES, None)
    assert proposal.reason == (
        "no threshold separates what is alike from what is not by these scores"
    )


def test_episodes_that_say_next_to_nothing_can_be_asked(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing")
    take_in(bank, [Trajectory(text, text, (Step("?"),)) for text in ("7", "!!", "look")])
    assert [proposal.questions for proposal in calibrate(bank)] == [3, 3]


def test_a_tree_that_is_switched_off_gets_no_proposal(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", parameters=parameters(env=False))
    take_in(bank, worded())
    assert [each.tree for each in calibrate(bank)] == ["task"]


def test_a_frozen_bank_is_calibrated_but_not_changed(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing")
    take_in(bank, worded())
    bank.freeze()
    proposals = calibrate(bank)
    assert proposals[0].proposed is not None
    with pytest.raises(BankFrozenError):
        apply_proposals(bank, proposals)


def test_a_bank_is_counted(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank", parameters(k_cons=1))
    taught = [
        episode((1, 0, 0), (0, 1, 0)),
        episode((1, 0.1, 0), (1, 0, 0), success=False, action="two words"),
        episode((1, 0.1, 0), action="skip"),  # a failure scores lower: the root is the match
        episode((1, 0.1, 0), action="again"),
    ]
    for trajectory in taught:
        teach(bank, trajectory)
    take_in(bank, [episode((0, 0, 1), success=None), episode((0, 1, 1))])
    numbers = bank_statistics(bank)
    assert (numbers.episodes, numbers.learnt, numbers.waiting) == (6, 4, 2)
    assert numbers.without_outcome == 1
    task = numbers.trees["task"]
    assert (task.nodes, task.roots, task.residuals, task.failures) == (3, 1, 2, 1)
    assert dict(task.depths) == {1: 1, 2: 2}
    assert task.max_depth == 2
    assert task.mean_tokens_root == 4.0  # "1 0 0" and "act"
    assert task.mean_tokens_residual == 4.5  # "1 0.1 0" with "two words" and with "again"
    assert task.tokens == 13
    assert task.hits == 2
    assert task.consolidated == 0
    env = numbers.trees["env"]
    assert (env.nodes, env.roots, env.mean_tokens_residual) == (2, 2, None)


def test_an_empty_bank_counts_nothing(tmp_path: Path) -> None:
    numbers = bank_statistics(new_bank(tmp_path / "bank"))
    assert numbers.episodes == 0
    assert numbers.trees["task"].nodes == numbers.trees["task"].max_depth == 0
    assert numbers.trees["task"].mean_tokens_root is None


def test_a_bank_is_made_with_its_domains_preset_and_opened_by_name(tmp_path: Path) -> None:
    made = create_bank(
        tmp_path / "kitchen", embedder=ChosenEmbedder(), domain="webshop", description="buys"
    )
    assert settings_of(made) == Parameters.preset("webshop")
    for opened in (open_bank("kitchen", tmp_path), open_bank(tmp_path / "kitchen")):
        assert (opened.name, opened.manifest.description) == ("kitchen", "buys")
    with pytest.raises(BankExistsError):
        create_bank(tmp_path / "kitchen", embedder=ChosenEmbedder())
    with pytest.raises(BankNotFoundError):
        open_bank("kitchn", tmp_path)


class StoppedError(Exception):
    """What a test ends calibration with."""


@dataclass(frozen=True)
class Noting:
    """The embedder without a model, which notes what it is asked for."""

    card: EmbedderCard = hashing_embedder().card
    asked: list[str] = field(default_factory=list)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append("passages")
        return hashing_embedder().embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append("queries")
        return hashing_embedder().embed_queries(texts)


def test_it_can_be_ended_between_its_steps_and_before_every_question(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing")
    take_in(bank, worded())
    calls = 0

    def count() -> None:
        nonlocal calls
        calls += 1

    task, env = calibrate(bank, between=count)
    questions = task.questions
    assert (questions, env.questions) == (15, 0)
    in_env = 1
    assert calls == 1 + questions + questions + in_env  # triggers are written, then asked
    asked_at_the_end = {0: [], 1: ["queries"], 1 + questions: ["queries", "passages"]}
    for before, expected in asked_at_the_end.items():
        left, embedder = before, Noting()

        def stop() -> None:
            nonlocal left
            if not left:
                raise StoppedError
            left -= 1

        with pytest.raises(StoppedError):
            calibrate(bank, embedder=embedder, between=stop)
        assert embedder.asked == expected


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
