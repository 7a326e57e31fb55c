"""Chains that are due become roots, once, whoever else is writing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec import structs
from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.verify import verify
from deltamem_tui.memory.engine import due
from deltamem_tui.memory.method import change_settings
from deltamem_tui.memory.plan import MaintenanceResult
from deltamem_tui.memory.runs.learning import LearningRun
from deltamem_tui.memory.settings import replaced
from deltamem_tui.memory.writers.extraction import Extraction
from tests.memory.support import ChosenEmbedder, EchoExtractor, episode, new_bank, parameters, teach


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    """A root, a residual hit three times, another hit once; K_cons lowered to 2 afterwards."""
    made = new_bank(tmp_path / "bank", parameters(tau_base=0.9))
    for y in (0, 0.3, 0.3, 0.3, 0.3, -0.3, -0.3):
        number = len(made.episodes)
        skip = "skip" if number in (2, 3, 4, 6) else f"act {number}"
        trajectory = replace(episode((1, y, 0), action=skip), domain=str(number))
        steps = (*trajectory.steps, replace(trajectory.steps[0], observation=str(number)))
        teach(made, replace(trajectory, steps=steps))
    set_k_cons(made, 2)
    return made


def set_k_cons(bank: Bank, k_cons: int | None) -> None:
    numbers = replaced(parameters(tau_base=0.9), "task.k_cons", k_cons)
    change_settings(bank, "test", lambda _: numbers)


def fuse(bank: Bank, extractor: EchoExtractor | None = None) -> list[MaintenanceResult]:
    with LearningRun(bank, extractor or EchoExtractor(), embedder=ChosenEmbedder()) as run:
        return list(run.consolidate())


def due_nodes(bank: Bank) -> list[tuple[str, Node]]:
    return [(each.collection, each.nodes[-1]) for each in due(bank)]


def test_only_what_was_hit_often_enough_is_due(bank: Bank) -> None:
    root, often, seldom = bank.tree("task")
    assert [bank.tree("task").counts(each.id).hits for each in (root, often, seldom)] == [2, 3, 1]
    assert due_nodes(bank) == [("task", often)]  # a root never is, however often it was hit
    set_k_cons(bank, 1)
    assert due_nodes(bank) == [("task", often), ("task", seldom)]
    set_k_cons(bank, None)
    assert due(bank) == []
    set_k_cons(bank, 4)
    assert due(bank) == []


def test_a_chain_that_is_due_becomes_a_root_once_and_nothing_is_deleted(bank: Bank) -> None:
    before = list(bank.tree("task"))
    (fusion,) = fuse(bank)
    assert fusion.root is not None
    assert [each.id for each in fusion.chain] == [before[0].id, before[1].id]
    after = list(bank.tree("task"))
    assert after == [
        before[0],
        structs.replace(before[1], consolidated=True, revision=1),
        before[2],
        fusion.root,
    ]
    assert fusion.root.origin.nodes == (before[0].id, before[1].id)
    assert (fusion.root.kind, fusion.root.label) == ("root", "success")
    assert fuse(bank) == []
    assert verify(bank) == []
    assert list(bank.journal.commits())[-1].detail["root"] == fusion.root.id


def test_a_fusion_has_the_same_id_while_learning_and_later(tmp_path: Path) -> None:
    roots = []
    for name, k_cons in (("while", 1), ("later", None)):
        made = new_bank(tmp_path / name, parameters(tau_base=0.9, k_cons=k_cons))
        for y in (0, 0.3, 0.31):
            teach(made, episode((1, y, 0)))
        if k_cons is None:
            set_k_cons(made, 1)
            fuse(made)
        roots.append([node for node in made.tree("task") if node.kind == "root"][1:])
    assert roots[0] == roots[1]
    assert len(roots[0]) == 1


@dataclass
class InterruptedFuser(EchoExtractor):
    """Lets another writer in while it thinks, once."""

    other: Bank | None = None
    delete: bool = False

    def fuse(self, tree: str, chain: Sequence[Node]) -> Extraction:
        other, self.other = self.other, None
        if other is not None and self.delete:
            with other.writing() as batch:
                batch.revise_node(tree, structs.replace(chain[-1], deleted=True))
                batch.log("delete")
        elif other is not None:
            fuse(other)
        return super().fuse(tree, chain)


@pytest.mark.parametrize("delete", [False, True])
def test_what_another_writer_fused_or_deleted_meanwhile_is_not_fused_again(
    bank: Bank, delete: bool
) -> None:
    fuser = InterruptedFuser(other=Bank.open(bank.path), delete=delete)
    assert fuse(bank, fuser) == []
    roots = [node for node in bank.tree("task") if node.kind == "root"]
    assert len(roots) == (1 if delete else 2)
    assert verify(bank) == []
