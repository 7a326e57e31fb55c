"""Which rule recalls what: the question's kind of goal, or the threshold; and what it may write."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.deltamem.definition import Parameters, TreeParameters
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.procedure import Procedure
from deltamem_tui.memory.recall_result import CollectionRecall
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.tui.models.recall_lab import match_lines
from tests.memory.support import EchoExtractor

HEAT_EGG = "heat some egg and put it in diningtable."
HEAT_MUG = "heat some mug and put it in diningtable."
CLEAN_MUG = "clean some mug and put it in diningtable."
PUT_MUG = "put some mug on diningtable."


def bank_of(
    path: Path,
    *tasks: tuple[str, bool],
    tau: float = 0.1,
    rule: str = "kind",
    embedder: str = "hashing",
    k_cons: int | None = None,
    domain: str = "alfworld",
) -> Bank:
    """What the rules make of episodes of ALFWorld; each is a task and whether it succeeded."""
    numbers = TreeParameters(tau, k_cons=k_cons, recall="paper" if rule == "paper" else "kind")
    parameters = Parameters(numbers, numbers)
    bank = create_bank(path, embedder=embedder, domain=domain, parameters=parameters)
    for task, success in tasks:
        learn(bank, episode(task, success=success))
    return bank


def episode(task: str, *, success: bool = True) -> Trajectory:
    verb, thing = task.split(maxsplit=1)[0], task.split()[2]
    device = "microwave" if verb == "heat" else "sinkbasin"
    steps = (
        Step(f"take {thing} 1 from countertop 1", f"You pick up the {thing} 1."),
        Step(f"{verb} {thing} 1 with {device} 1", f"You {verb} the {thing} 1." if success else ""),
        Step(f"go to {'diningtable' if success else 'shelf'} 1", "You see nothing."),
    )
    return Trajectory(
        task, steps=steps, domain="alfworld", outcome=Outcome(success=success, source="stated")
    )


def asked(bank: Bank, task: str, count: int = 1) -> CollectionRecall:
    found = recall(bank, task, candidates=count).collections["task"]
    assert found is not None
    return found


def test_of_the_questions_kind_comes_what_is_nearest_by_its_names(tmp_path: Path) -> None:
    bank = bank_of(tmp_path / "bank", (CLEAN_MUG, True), (HEAT_EGG, True), (HEAT_MUG, True))
    found = asked(bank, HEAT_MUG, 9)
    assert (found.rule, found.new_kind) == ("kind", False)
    assert [each.rule for each in found.candidates if found.matches(each)] == ["kind"]
    assert found.match is found.candidates[0]
    others = found.candidates[1:]
    assert {each.rule for each in others} == {"threshold"}
    lines = match_lines(bank, found)
    assert [line.kind for line in lines[:2]] == ["match", "rule"]
    assert "threshold" not in [line.kind for line in lines]
    paper = asked(bank_of(tmp_path / "paper", (HEAT_EGG, True), rule="paper"), HEAT_EGG)
    assert (paper.rule, paper.new_kind) == ("threshold", False)
    assert {line.kind for line in match_lines(bank, paper)} == {"match", "threshold"}


@pytest.mark.parametrize("embedder", ["hashing", "minilm"])
@pytest.mark.parametrize("tau", [0.1, 1.0])
def test_a_kind_is_found_by_its_trigger_alone_whatever_the_threshold(
    tmp_path: Path, embedder: str, tau: float
) -> None:
    """Both wordings of one goal are one kind; an unknown name does not keep its kind from it."""
    tasks = (CLEAN_MUG, True), (HEAT_EGG, True), (HEAT_MUG, True), (HEAT_MUG, False)
    bank = bank_of(tmp_path / "bank", *tasks, tau=tau, embedder=embedder)
    clean, egg, mug, failed = bank.tree("task")
    assert (clean.kind, egg.kind, mug.parent) == ("root", "root", egg.id)
    nearest = {
        "put a hot mug in diningtable.": [mug, failed],
        "put a clean mug in diningtable.": [clean],
        "heat some gyroscope and put it in fridge.": [egg, failed],
    }
    for task, nodes in nearest.items():
        found = asked(bank, task)
        assert found.rule == "kind"
        assert {chain[0].id for chain in found.chains} == {nodes[0].parent or nodes[0].id}
        assert [chain[-1].label for chain in found.chains] == [node.label for node in nodes]
        if "gyroscope" not in task:
            assert [chain[-1] for chain in found.chains] == nodes
    assert asked(bank, "examine the pen with the desklamp.").rule == "threshold"


def test_a_fused_root_is_found_by_its_kind_and_says_what_its_chain_says(tmp_path: Path) -> None:
    bank = bank_of(tmp_path / "bank", (HEAT_EGG, True), (HEAT_MUG, True), k_cons=1)
    again = structs.replace(episode(HEAT_MUG), environment="Another room.")
    assert learn(bank, again).trees["task"].consolidated is not None
    egg, mug, fused = bank.tree("task")
    assert (fused.kind, fused.origin.nodes) == ("root", (egg.id, mug.id))
    assert asked(bank, HEAT_MUG).chain == (fused,)
    assert asked(bank, HEAT_EGG).chain == (egg,)
    assert Procedure.of([fused]) == Procedure.of([egg, mug])


@pytest.mark.parametrize(
    ("tau", "rule", "helped"), [(0.1, "kind", True), (0.99, "kind", False), (0.1, "paper", False)]
)
def test_where_all_of_a_kind_failed_the_best_success_above_the_threshold_comes_too(
    tmp_path: Path, tau: float, rule: str, helped: bool
) -> None:
    bank = bank_of(tmp_path / "bank", (PUT_MUG, True), (HEAT_EGG, False), tau=tau, rule=rule)
    success, failure = bank.tree("task")
    found = asked(bank, HEAT_EGG)
    assert (success.label, failure.label) == ("success", "failure")
    assert [chain[-1].id for chain in found.chains] == [failure.id, *[success.id] * helped]
    recalled = [each.rule for each in found.candidates if found.matches(each)]
    assert recalled == [found.rule, *["threshold"] * helped]


def test_a_new_kind_is_a_root_by_the_rules_and_a_residual_by_a_model(tmp_path: Path) -> None:
    bank = bank_of(tmp_path / "bank", (PUT_MUG, True))
    (put,) = bank.tree("task")
    found = asked(bank, HEAT_MUG)
    assert (found.rule, found.new_kind) == ("threshold", True)
    assert found.chain == (put,)  # above the threshold: shown to an agent all the same
    result = learn(bank, episode(HEAT_MUG)).trees["task"]
    assert (result.decision, result.match) == ("root", None)
    again = asked(bank, HEAT_EGG)
    assert (again.rule, again.new_kind) == ("kind", False)
    result = learn(bank, episode(HEAT_EGG)).trees["task"]
    assert result.match == again.chain[-1].id

    other = bank_of(tmp_path / "other", (CLEAN_MUG, True))
    result = learn(other, episode(HEAT_MUG), EchoExtractor(name="model")).trees["task"]
    assert (result.decision, result.match) == ("residual", next(iter(other.tree("task"))).id)
    assert result.node is not None
    assert result.node.depth == 2
